package bitmaps

import (
	"crypto/subtle"
	"encoding/binary"
)

// The functions below change dst, word by word. src may be shorter, where it
// stands for zeros, but not longer.

func invert(dst []byte) {
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.NativeEndian.PutUint64(dst, ^binary.NativeEndian.Uint64(dst))
	}
	for i := range dst {
		dst[i] = ^dst[i]
	}
}

func and(dst, src []byte) {
	clear(dst[len(src):])
	dst = dst[:len(src)]
	for ; len(src) >= 8; dst, src = dst[8:], src[8:] {
		binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)&binary.NativeEndian.Uint64(src))
	}
	for i, x := range src {
		dst[i] &= x
	}
}

func or(dst, src []byte) {
	dst = dst[:len(src)]
	for ; len(src) >= 8; dst, src = dst[8:], src[8:] {
		binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)|binary.NativeEndian.Uint64(src))
	}
	for i, x := range src {
		dst[i] |= x
	}
}

func xor(dst, src []byte) { subtle.XORBytes(dst, dst[:len(src)], src) }

func andNot(dst, src []byte) {
	dst = dst[:len(src)]
	for ; len(src) >= 8; dst, src = dst[8:], src[8:] {
		binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)&^binary.NativeEndian.Uint64(src))
	}
	for i, x := range src {
		dst[i] &^= x
	}
}

// orAnd sets in dst what both a and b have; b may be the shorter one.
func orAnd(dst, a, b []byte) {
	dst, a = dst[:len(b)], a[:len(b)]
	for ; len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)|binary.NativeEndian.Uint64(a)&binary.NativeEndian.Uint64(b))
	}
	for i, x := range b {
		dst[i] |= a[i] & x
	}
}
