package rdb

import (
	"encoding/binary"
	"math"

	"github.com/bowline-kv/bowline/resp"
)

// AppendLen appends a length.
func AppendLen(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, 1<<6|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, 0x80), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0x81), n)
}

// The encodings of strings that are not their bytes.
const (
	encoded    = 3 << 6
	encInt8    = 0
	encInt16   = 1
	encInt32   = 2
	encLZF     = 3
	intTextMax = 11 // digits of the longest number that is encoded
	lzfMin     = 21 // bytes from which on compressing is tried
)

// AppendString appends a string: a small number as such, a long one compressed if
// that is asked for and saves anything.
func AppendString(dst, s []byte, compress bool) []byte {
	if len(s) <= intTextMax {
		if n, ok := resp.ParseInt(s); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
			return appendInt(dst, n)
		}
	}
	if compress && len(s) >= lzfMin {
		at := len(dst)
		// The lengths come first and are known last.
		if out, ok := appendLZF(dst, s); ok {
			packed := append([]byte(nil), out[at:]...)
			dst = append(out[:at], encoded|encLZF)
			dst = AppendLen(dst, uint64(len(packed)))
			dst = AppendLen(dst, uint64(len(s)))
			return append(dst, packed...)
		}
	}
	return append(AppendLen(dst, uint64(len(s))), s...)
}

func appendInt(dst []byte, n int64) []byte {
	switch {
	case n >= math.MinInt8 && n <= math.MaxInt8:
		return append(dst, encoded|encInt8, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		return binary.LittleEndian.AppendUint16(append(dst, encoded|encInt16), uint16(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, encoded|encInt32), uint32(n))
}

// AppendScore appends the score of a member, of [TypeZSet2].
func AppendScore(dst []byte, score float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(score))
}

// AppendMillis appends a time.
func AppendMillis(dst []byte, at int64) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(at))
}

// The containers of a node of [TypeListQuicklist2].
const (
	NodePlain  = 1 // one element, as it is
	NodePacked = 2 // a listpack
)

// AppendNode appends a node of a list: a string that holds what container says.
func AppendNode(dst []byte, container uint64, node []byte, compress bool) []byte {
	return AppendString(AppendLen(dst, container), node, compress)
}

// footerBytes are the version and the checksum behind a dumped value.
const footerBytes = 2 + 8

// AppendFooter ends the payload of DUMP that begins at dst[start] with its type.
func AppendFooter(dst []byte, start int, version uint16) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, version)
	return binary.LittleEndian.AppendUint64(dst, Checksum(0, dst[start:]))
}
