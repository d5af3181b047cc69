package player

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Comparison says how the replies to one command are compared.
type Comparison uint8

// The comparisons.
const (
	// Exact: every byte.
	Exact Comparison = iota
	// Unordered: an array whose elements come in any order.
	Unordered
	// NearSeconds and NearMillis: integers that depend on when the command ran.
	NearSeconds
	NearMillis
	// CodeOnly: errors need to have the same code only, as texts are our own.
	CodeOnly
	// HelloMap: errors exactly, else both are the same type with as many fields.
	HelloMap
	// SameKind: both replies are null or neither is, and of the same type.
	SameKind
	// StricterError: ours may be an error where the other is a number.
	StricterError
	// Ignored: replies that can't be the same.
	Ignored
)

// Rules lists the commands whose replies are not compared exactly, in lower
// case. Every row has its reason.
var Rules = map[string]Comparison{
	"keys":        Unordered,   // the order of a hash table
	"ttl":         NearSeconds, // time passes between the two
	"pttl":        NearMillis,
	"expiretime":  NearSeconds, // of a relative expiry
	"pexpiretime": NearMillis,
	"time":        Ignored,
	"scan":        Ignored, // cursors differ; whole walks are compared elsewhere
	"info":        Ignored,
	"hello":       HelloMap, // version and id differ
	"randomkey":   SameKind,
	// Since 7.2 wrong arguments are refused for a missing key too.
	"bitcount": StricterError,
	"bitpos":   StricterError,
}

// nearMillis is how much later one server may run a command than the other.
const nearMillis = 5000

// Same compares two raw replies.
func (c Comparison) Same(want, got []byte) bool {
	switch c {
	case Ignored:
		return true
	case NearSeconds:
		return near(want, got, nearMillis/1000)
	case NearMillis:
		return near(want, got, nearMillis)
	case Unordered:
		return slices.Equal(sortedLines(want), sortedLines(got))
	case HelloMap:
		if want[0] != '-' && got[0] != '-' {
			return bytes.Equal(firstLine(want), firstLine(got))
		}
	case SameKind:
		return want[0] == got[0] && bytes.HasPrefix(want, []byte("$-1")) == bytes.HasPrefix(got, []byte("$-1"))
	case StricterError:
		if want[0] == ':' && got[0] == '-' {
			return true
		}
	case CodeOnly:
		if want[0] == '-' && got[0] == '-' {
			return code(want) == code(got)
		}
	}
	return bytes.Equal(want, got)
}

func near(want, got []byte, distance int64) bool {
	if bytes.Equal(want, got) {
		return true
	}
	a, errA := integer(want)
	b, errB := integer(got)
	return errA == nil && errB == nil && a >= 0 && b >= 0 && a-b <= distance && b-a <= distance
}

func integer(reply []byte) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(string(reply), ":")), 10, 64)
}

func sortedLines(reply []byte) []string {
	lines := strings.Split(string(reply), "\r\n")
	slices.Sort(lines)
	return lines
}

func firstLine(reply []byte) []byte {
	first, _, _ := bytes.Cut(reply, []byte("\r\n"))
	return first
}

func code(reply []byte) string {
	first, _, _ := strings.Cut(string(reply), " ")
	return first
}
