package bitmaps

import "math"

// integer is a type of BITFIELD: i1..i64 or u1..u63. Its values are carried in
// 64 bits, signed ones in two's complement.
type integer struct {
	width  int64
	signed bool
}

// overflow says what becomes of a number that does not fit.
type overflow uint8

const (
	wrap overflow = iota // the lowest bits stay
	saturate
	fail
)

// windowBytes is what an integer of any width touches at most.
const windowBytes = 9

// read takes the integer out of the window of bytes that begins with the byte of
// its first bit; shift is the number of that bit in there, 0..7.
func (t integer) read(window *[windowBytes]byte, shift int64) int64 {
	var n uint64
	for at := shift; at < shift+t.width; {
		// As many bits as the byte has, or as are wanted.
		take := min(8-at%8, shift+t.width-at)
		part := uint64(window[at/8]) >> (8 - at%8 - take) & (1<<take - 1)
		n = n<<take | part
		at += take
	}
	return t.trim(n)
}

// write puts the integer into the window; see read.
func (t integer) write(window *[windowBytes]byte, shift, n int64) {
	left := t.width
	for at := shift; at < shift+t.width; {
		take := min(8-at%8, left)
		low := 8 - at%8 - take
		mask := byte((1<<take - 1) << low)
		part := byte(uint64(n) >> (left - take) << low)
		window[at/8] = window[at/8]&^mask | part&mask
		at += take
		left -= take
	}
}

// trim keeps the bits that the type has, and spreads the sign.
func (t integer) trim(n uint64) int64 {
	n <<= 64 - t.width
	if t.signed {
		return int64(n) >> (64 - t.width)
	}
	return int64(n >> (64 - t.width))
}

// bounds are the least and the greatest value.
func (t integer) bounds() (low, high int64) {
	if !t.signed {
		return 0, int64(uint64(1)<<t.width - 1)
	}
	high = math.MaxInt64 >> (64 - t.width)
	return -high - 1, high
}

// add gives old + delta, brought into the type when it does not fit; fits says
// that it does. old must be a value of the type.
func (t integer) add(old, delta int64, o overflow) (n int64, fits bool) {
	low, high := t.bounds()
	// Distances are unsigned, as those of 64 bits do not fit otherwise.
	switch {
	case delta > 0 && uint64(delta) > uint64(high)-uint64(old):
		return t.bring(uint64(old)+uint64(delta), high, o), false
	case delta < 0 && -uint64(delta) > uint64(old)-uint64(low):
		return t.bring(uint64(old)+uint64(delta), low, o), false
	}
	return old + delta, true
}

// fit brings any number into the type. To an unsigned type a negative number is
// one that is too large; so is, as in Redis, one that is so far below a signed
// type that the distance from its greatest value does not fit in 64 bits.
func (t integer) fit(given int64, o overflow) (n int64, fits bool) {
	low, high := t.bounds()
	switch {
	case given > high, !t.signed && given < 0, t.width < 64 && given < high-math.MaxInt64:
		return t.bring(uint64(given), high, o), false
	case given < low:
		return t.bring(uint64(given), low, o), false
	}
	return given, true
}

// bring gives what is stored for a number that does not fit; bound is the value of
// the type that is nearest.
func (t integer) bring(n uint64, bound int64, o overflow) int64 {
	if o == saturate {
		return bound
	}
	return t.trim(n)
}
