package loadgen

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is the length of values, in bytes: any between Min and Max, both included, and all
// equally often.
type Size struct{ Min, Max int }

// sizeMax is the largest value, in bytes: what a server takes by default.
const sizeMax = 512 << 20

// ParseSize reads "100", or "10-1000".
func ParseSize(text string) (Size, error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	from, err := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	if err != nil || err2 != nil || from < 0 || to < from || to > sizeMax {
		return Size{}, fmt.Errorf("size %q: a number of bytes up to %d, or two with '-' between, are needed", text, sizeMax)
	}
	return Size{from, to}, nil
}

// String returns the form that [ParseSize] reads.
func (s Size) String() string {
	if s.Min == s.Max {
		return strconv.Itoa(s.Min)
	}
	return fmt.Sprintf("%d-%d", s.Min, s.Max)
}
