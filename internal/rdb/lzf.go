package rdb

// LZF is a byte code of runs and references back:
//
//	000LLLLL                   a run of L+1 bytes follows
//	LLLooooo oooooooo          L+2 bytes from o+1 before, L in 1..6
//	111ooooo LLLLLLLL oooooooo L+9 bytes
const (
	lzfRunMax    = 32
	lzfRefMax    = 264
	lzfOffsetMax = 1 << 13
	lzfHashBits  = 13
)

// lzfSaves is how many bytes compressing must save: it costs as many in front.
const lzfSaves = 4

// appendLZF appends src compressed; false when that would not be worth it, and
// dst is as it was.
func appendLZF(dst, src []byte) (out []byte, ok bool) {
	start := len(dst)
	limit := start + len(src) - lzfSaves + 1
	var seen [1 << lzfHashBits]int32 // position + 1 of the newest three bytes of a hash
	run := 0                         // where the bytes that are not written yet begin
	for i := 0; i+2 < len(src); {
		h := (uint32(src[i])<<16 | uint32(src[i+1])<<8 | uint32(src[i+2])) * 2654435761 >> (32 - lzfHashBits)
		ref := int(seen[h]) - 1
		seen[h] = int32(i) + 1
		if ref < 0 || i-ref > lzfOffsetMax || src[ref] != src[i] || src[ref+1] != src[i+1] || src[ref+2] != src[i+2] {
			i++
			continue
		}
		n := 3
		for n < lzfRefMax && i+n < len(src) && src[ref+n] == src[i+n] {
			n++
		}
		dst = appendRun(dst, src[run:i])
		back, length := i-ref-1, n-2
		if length < 7 {
			dst = append(dst, byte(length<<5|back>>8), byte(back))
		} else {
			dst = append(dst, byte(7<<5|back>>8), byte(length-7), byte(back))
		}
		i += n
		run = i
		if len(dst) >= limit {
			return dst[:start], false
		}
	}
	if dst = appendRun(dst, src[run:]); len(dst) >= limit {
		return dst[:start], false
	}
	return dst, true
}

func appendRun(dst, run []byte) []byte {
	for len(run) > 0 {
		n := min(len(run), lzfRunMax)
		dst = append(append(dst, byte(n-1)), run[:n]...)
		run = run[n:]
	}
	return dst
}

// unpackLZF appends what src stands for, which must be size bytes.
func unpackLZF(dst, src []byte, size int) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(src); {
		c := int(src[i])
		i++
		if c < lzfRunMax {
			if i+c+1 > len(src) {
				return nil, corrupt("compressed string ends in a run")
			}
			dst = append(dst, src[i:i+c+1]...)
			i += c + 1
		} else {
			n := c>>5 + 2
			if n == 9 {
				if i == len(src) {
					return nil, corrupt("compressed string ends in a reference")
				}
				n += int(src[i])
				i++
			}
			if i == len(src) {
				return nil, corrupt("compressed string ends in a reference")
			}
			from := len(dst) - (c&31<<8 | int(src[i])) - 1
			i++
			if from < start {
				return nil, corrupt("compressed string refers to what is before it")
			}
			for ; n > 0; n-- { // it may overlap itself
				dst = append(dst, dst[from])
				from++
			}
		}
		if len(dst)-start > size {
			return nil, corrupt("compressed string is longer than %d bytes", size)
		}
	}
	if len(dst)-start != size {
		return nil, corrupt("compressed string of %d bytes has %d", size, len(dst)-start)
	}
	return dst, nil
}
