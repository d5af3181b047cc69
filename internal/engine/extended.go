package engine

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
)

// Redis adds in the 80-bit format of x87, whose fraction has 64 bits, and
// prints 17 digits after the point without trailing zeros. A big.Float of that
// precision gives the same digits on every machine.
const (
	extendedBits = 64
	// extendedExponent is the first power of two that the format can't hold.
	extendedExponent = 16384
	floatDigits      = 17
)

// floatTextMax is the longest number that is accepted, in bytes.
const floatTextMax = 5 << 10

// ParseExtended reads a number of that format: what C's strtold reads, but for spaces and NaN.
func ParseExtended(b []byte) (*big.Float, bool) {
	if len(b) == 0 || len(b) >= floatTextMax || bytes.IndexByte(b, '_') >= 0 {
		return nil, false
	}
	s := string(b)
	base := 10
	if digits := strings.TrimLeft(s, "+-"); len(digits) > 1 && (digits[:2] == "0x" || digits[:2] == "0X") {
		base = 0
		if !strings.ContainsAny(s, "pP") {
			s += "p0"
		}
	}
	// ParseFloat judges the syntax; a value out of its range may fit here.
	f64, err := strconv.ParseFloat(s, 64)
	if err != nil && err.(*strconv.NumError).Err != strconv.ErrRange || f64 != f64 {
		return nil, false
	}
	if strings.ContainsAny(s, "iI") { // infinity
		return new(big.Float).SetInf(f64 < 0), true
	}
	f, _, err := big.ParseFloat(s, base, extendedBits, big.ToNearestEven)
	if err != nil || f.MantExp(nil) > extendedExponent {
		return nil, false
	}
	return f, true
}

// AddExtended adds b to a, which may change; false when the sum is infinite, or one
// of them.
func AddExtended(a, b *big.Float) (sum *big.Float, ok bool) {
	if a.IsInf() || b.IsInf() {
		return nil, false
	}
	sum = a.SetPrec(extendedBits).Add(a, b)
	return sum, sum.MantExp(nil) <= extendedExponent
}

// AppendExtended appends a number of that format as Redis prints it.
func AppendExtended(dst []byte, f *big.Float) []byte {
	start := len(dst)
	dst = f.Append(dst, 'f', floatDigits)
	if bytes.IndexByte(dst[start:], '.') >= 0 {
		dst = bytes.TrimRight(dst, "0")
		dst = bytes.TrimSuffix(dst, []byte("."))
	}
	if string(dst[start:]) == "-0" {
		dst = append(dst[:start], '0')
	}
	return dst
}
