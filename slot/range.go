package slot

import (
	"fmt"
	"strconv"
	"strings"
)

// Range is a run of slots from First to Last, both included. A valid range has
// First <= Last < Count; the zero value is the single slot 0.
type Range struct{ First, Last ID }

// Len returns the number of slots in a valid range, 1 to Count.
func (r Range) Len() int { return int(r.Last) - int(r.First) + 1 }

// Has reports whether id is in the range.
func (r Range) Has(id ID) bool { return r.First <= id && id <= r.Last }

// Valid reports whether First <= Last < Count.
func (r Range) Valid() bool { return r.First <= r.Last && r.Last < Count }

// String returns "5" for a single slot, else "5-9".
func (r Range) String() string { return string(r.append(nil)) }

func (r Range) append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(r.First), 10)
	if r.Last != r.First {
		dst = append(dst, '-')
		dst = strconv.AppendUint(dst, uint64(r.Last), 10)
	}
	return dst
}

// Parse reads the number of a slot: one to five decimal digits, no sign and no
// space. The error names what is wrong with s.
func Parse(s string) (ID, error) {
	n, ok := parseDecimal(s)
	if !ok {
		return 0, fmt.Errorf("slot %q is not a number", clip(s))
	}
	if n >= Count {
		return 0, fmt.Errorf("slot %s is not in 0-%d", s, Count-1)
	}
	return ID(n), nil
}

// parseDecimal reads one to five digits, so the result is below 100000.
func parseDecimal(s string) (n int, ok bool) {
	if len(s) == 0 || len(s) > 5 {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// clip keeps error texts short when the input is not.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// ParseRange reads "5" or "5-9". It refuses a range that runs backwards.
func ParseRange(s string) (Range, error) {
	from, to, found := strings.Cut(s, "-")
	first, err := Parse(from)
	if err != nil {
		return Range{}, err
	}
	if !found {
		return Range{first, first}, nil
	}
	last, err := Parse(to)
	if err != nil {
		return Range{}, err
	}
	if last < first {
		return Range{}, fmt.Errorf("slot range %s runs backwards", s)
	}
	return Range{first, last}, nil
}
