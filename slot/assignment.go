package slot

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxShard is the highest number of a shard that an [Assignment] may name:
// no node can have more shards than there are slots.
const MaxShard = Count - 1

// Assignment says which shard of a node keeps a run of slots.
type Assignment struct {
	Range
	Shard int // 0 to MaxShard
}

// String returns the text form, the range and the shard: "100-199@0".
func (a Assignment) String() string { return string(a.append(nil)) }

func (a Assignment) append(dst []byte) []byte {
	dst = a.Range.append(dst)
	dst = append(dst, '@')
	return strconv.AppendInt(dst, int64(a.Shard), 10)
}

// ParseAssignment reads "100-199@2", "7@0", or a range alone, which means
// shard 0.
func ParseAssignment(s string) (Assignment, error) {
	slots, shard, found := strings.Cut(s, "@")
	r, err := ParseRange(slots)
	if err != nil {
		return Assignment{}, err
	}
	if !found {
		return Assignment{Range: r}, nil
	}
	n, ok := parseDecimal(shard)
	if !ok || n > MaxShard {
		return Assignment{}, fmt.Errorf("shard %q of slots %s is not in 0-%d", clip(shard), slots, MaxShard)
	}
	return Assignment{Range: r, Shard: n}, nil
}

// ParseAssignments reads a list such as "0-100@0,200@1" and keeps its order;
// an empty text is an empty list. It refuses a slot that is named twice.
func ParseAssignments(s string) ([]Assignment, error) {
	if s == "" {
		return nil, nil
	}
	var list []Assignment
	var seen Set
	for part := range strings.SplitSeq(s, ",") {
		a, err := ParseAssignment(part)
		if err != nil {
			return nil, err
		}
		if id, taken := seen.firstIn(a.Range); taken {
			return nil, fmt.Errorf("slot %d is assigned twice", id)
		}
		seen.AddRange(a.Range)
		list = append(list, a)
	}
	return list, nil
}

// FormatAssignments returns the text that [ParseAssignments] reads back to the
// same list.
func FormatAssignments(list []Assignment) string {
	var dst []byte
	for i, a := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.append(dst)
	}
	return string(dst)
}
