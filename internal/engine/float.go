package engine

import (
	"bytes"
	"math"
	"strconv"
)

// floatMax is above any number that a client writes; C's strtod has no such limit.
const floatMax = 512

// ParseFloat reads a number as C's strtod does when it must use all of it:
// decimal or hexadecimal, with "inf" and "infinity" in any case; false for
// anything else: NaN, surrounding spaces, and numbers beyond what a double can
// hold, very small ones included.
func ParseFloat(arg []byte) (f float64, ok bool) {
	if len(arg) == 0 || len(arg) > floatMax || bytes.IndexByte(arg, '_') >= 0 {
		return 0, false
	}
	if f, ok := smallInteger(arg); ok {
		return f, true
	}
	s := string(arg)
	if bytes.ContainsAny(arg, "xX") && !bytes.ContainsAny(arg, "pP") {
		s += "p0" // which Go wants to see, and C does not
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f == 0 && !isZero(arg) {
		return 0, false
	}
	return f, true
}

// smallInteger is the way of most numbers.
func smallInteger(arg []byte) (float64, bool) {
	const exact = 15 // digits that a double holds
	digits := arg
	if arg[0] == '-' {
		digits = arg[1:]
	}
	if len(digits) == 0 || len(digits) > exact {
		return 0, false
	}
	n := 0.0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + float64(c-'0')
	}
	if arg[0] == '-' {
		n = -n
	}
	return n, true
}

// isZero says of a number that it is written as zero.
func isZero(arg []byte) bool {
	if len(arg) > 1 && arg[0] != '.' {
		arg = bytes.TrimLeft(arg, "+-")
	}
	if bytes.HasPrefix(arg, []byte("0x")) || bytes.HasPrefix(arg, []byte("0X")) {
		return !bytes.ContainsAny(bytes.Split(bytes.ToLower(arg[2:]), []byte("p"))[0], "123456789abcdef")
	}
	return !bytes.ContainsAny(bytes.Split(bytes.ToLower(arg), []byte("e"))[0], "123456789")
}
