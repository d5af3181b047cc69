package resp

// digitPairs holds "00" to "99", so that two digits cost one division.
const digitPairs = "" +
	"0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// intDigitsMax is the length of the longest decimal int64, "-9223372036854775808".
const intDigitsMax = 20

// AppendInt appends n in decimal to dst and returns the extended slice. Nothing
// but the digits and, for a negative number, the sign is written.
func AppendInt(dst []byte, n int64) []byte {
	if uint64(n) < 10 {
		return append(dst, byte('0'+n))
	}
	if uint64(n) < 100 {
		return append(dst, digitPairs[2*n], digitPairs[2*n+1])
	}
	return appendLongInt(dst, n)
}

func appendLongInt(dst []byte, n int64) []byte {
	// Negating in unsigned arithmetic is right for the smallest int64 as well.
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	var tmp [intDigitsMax]byte
	i := len(tmp)
	for u >= 100 {
		q := u / 100
		pair := 2 * (u - q*100)
		i -= 2
		tmp[i], tmp[i+1] = digitPairs[pair], digitPairs[pair+1]
		u = q
	}
	i -= 2
	tmp[i], tmp[i+1] = digitPairs[2*u], digitPairs[2*u+1]
	if u < 10 {
		i++
	}
	if n < 0 {
		i--
		tmp[i] = '-'
	}
	return append(dst, tmp[i:]...)
}

// ParseInt reads a decimal int64 as strictly as Redis does for values and lengths:
// the whole of b must be the one canonical spelling of the number. A plus sign, a
// leading zero, a space, "-0", the empty string and anything outside 64 bits are
// refused with false.
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > intDigitsMax {
		return 0, false
	}
	digits, negative := b, false
	if b[0] == '-' {
		digits, negative = b[1:], true
		if len(digits) == 0 || digits[0] == '0' {
			return 0, false
		}
	}
	if len(digits) > 19 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	// Nineteen digits stay below 10^19, which an unsigned word holds.
	var u uint64
	for _, c := range digits {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		u = u*10 + uint64(d)
	}
	if negative {
		return int64(-u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}
