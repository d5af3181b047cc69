package intset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// rdbHeadBytes is the head of an RDB intset: width and length, 4 bytes each.
const rdbHeadBytes = 8

// ErrCorrupt says that bytes from outside are no intset.
var ErrCorrupt = errors.New("corrupt intset")

// AppendIntset appends the Set in the form of RDB files.
func (s Set) AppendIntset(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.width()))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Len()))
	return append(dst, s[headBytes:]...)
}

// FromIntset makes a Set of an RDB intset from outside, which is checked. The
// result is a view of b, which is changed. Errors wrap [ErrCorrupt].
func FromIntset(b []byte) (Set, error) {
	if len(b) < rdbHeadBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(b))
	}
	width, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if width != 2 && width != 4 && width != 8 {
		return nil, fmt.Errorf("%w: width %d", ErrCorrupt, width)
	}
	if int64(len(b)-rdbHeadBytes) != int64(width)*int64(n) {
		return nil, fmt.Errorf("%w: %d bytes for %d values of %d", ErrCorrupt, len(b), n, width)
	}
	s := Set(b[rdbHeadBytes-headBytes : len(b) : len(b)])
	s[0] = byte(width)
	if !s.Valid() {
		return nil, fmt.Errorf("%w: values not ascending", ErrCorrupt)
	}
	return s, nil
}

// Valid says whether the bytes are a Set: a width, whole values, strictly
// ascending. It never panics.
func (s Set) Valid() bool {
	if len(s) < headBytes || s[0] != 2 && s[0] != 4 && s[0] != 8 || (len(s)-headBytes)%s.width() != 0 {
		return false
	}
	for i := 1; i < s.Len(); i++ {
		if s.At(i-1) >= s.At(i) {
			return false
		}
	}
	return true
}
