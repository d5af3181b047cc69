package resp

import (
	"math"
	"strconv"
)

// doubleIntMax bounds the whole numbers that are exact in a float64 and that are written
// without an exponent: 2^53.
const doubleIntMax = 1 << 53

// Double writes a floating point number; in RESP2, a bulk string of the same digits,
// see [AppendDouble].
func (w *Writer) Double(f float64) {
	if w.resp3() {
		b := AppendDouble(append(w.B, ','), f)
		w.B = append(b, '\r', '\n')
		return
	}
	var tmp [32]byte
	w.Bulk(AppendDouble(tmp[:0], f))
}

// AppendDouble appends f as Redis 7.0 writes a double in a reply: 17 significant
// digits, which read back as the same float64, without trailing zeros; an exponent
// below 1e-4 and from 1e17 on; "inf", "-inf" and "nan".
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	if -doubleIntMax < f && f < doubleIntMax && (f != 0 || !math.Signbit(f)) {
		if n := int64(f); float64(n) == f {
			return AppendInt(dst, n)
		}
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}
