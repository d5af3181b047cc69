package rdb

import (
	"encoding/binary"
	"strconv"
)

// ziplist walks the packed form that lists, hashes and sorted sets had up to 6.2:
//
//	bytes 4 | offset of the last 4 | count 2 | entry ... | 0xFF
//	entry: length of the previous 1 or 5 | encoding | data
func (r *elements) ziplist(b []byte, each func(v []byte) error) error {
	const head, tail = 10, 0xFF
	if len(b) < head+1 || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) || b[len(b)-1] != tail {
		return corrupt("a ziplist whose length is wrong")
	}
	want := int(binary.LittleEndian.Uint16(b[8:]))
	b = b[head : len(b)-1]
	n, previous := 0, 0
	for len(b) > 0 {
		back, rest, ok := backLength(b)
		if !ok || back != previous {
			return corrupt("entry %d of a ziplist does not know its neighbor", n)
		}
		v, left, ok := r.ziplistEntry(rest)
		if !ok {
			return corrupt("entry %d of a ziplist is cut off", n)
		}
		previous = len(b) - len(left)
		if err := each(v); err != nil {
			return err
		}
		b = left
		n++
	}
	if n == 0 || want != 0xFFFF && n != want {
		return corrupt("a ziplist of %d entries has %d", want, n)
	}
	return nil
}

// backLength reads the length of the entry before.
func backLength(b []byte) (n int, rest []byte, ok bool) {
	if b[0] != 0xFE {
		return int(b[0]), b[1:], b[0] < 0xFE
	}
	if len(b) < 5 {
		return 0, nil, false
	}
	return int(binary.LittleEndian.Uint32(b[1:])), b[5:], true
}

// ziplistEntry reads an encoding and its data.
func (r *elements) ziplistEntry(b []byte) (v, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	c := b[0]
	head, n := 1, 0
	switch c >> 6 {
	case 0:
		n = int(c)
	case 1:
		if head = 2; len(b) >= head {
			n = int(c&63)<<8 | int(b[1])
		}
	case 2:
		if head = 5; len(b) >= head {
			n = int(binary.BigEndian.Uint32(b[1:]))
		}
	default:
		return r.ziplistInt(b)
	}
	if len(b) < head || len(b)-head < n {
		return nil, nil, false
	}
	return b[head : head+n], b[head+n:], true
}

// ziplistInt reads a number.
func (r *elements) ziplistInt(b []byte) (v, rest []byte, ok bool) {
	var room [8]byte
	data := b[1:]
	size := map[byte]int{0xC0: 2, 0xD0: 4, 0xE0: 8, 0xF0: 3, 0xFE: 1}[b[0]]
	n := int64(b[0]&15) - 1
	switch {
	case size > 0:
		if len(data) < size {
			return nil, nil, false
		}
		copy(room[8-size:], data) // at the top, so that the sign is
		n = int64(binary.LittleEndian.Uint64(room[:])) >> (64 - 8*size)
		data = data[size:]
	case b[0] < 0xF1 || b[0] > 0xFD:
		return nil, nil, false
	}
	r.text = strconv.AppendInt(r.text[:0], n, 10)
	return r.text, data, true
}

// zipmap walks the packed form that hashes had up to 2.4:
//
//	count 1 | (length, field, length, free 1, value, free bytes) ... | 0xFF
func (r *elements) zipmap(b []byte) error {
	if len(b) < 2 || b[len(b)-1] != 0xFF {
		return corrupt("a zipmap without an end")
	}
	b = b[1 : len(b)-1]
	if len(b) == 0 {
		return corrupt("an empty zipmap")
	}
	for len(b) > 0 {
		field, rest, ok := zipmapString(b, 0)
		if !ok || len(rest) == 0 {
			return corrupt("a zipmap is cut off in a field")
		}
		value, rest, ok := zipmapString(rest, 1)
		if !ok {
			return corrupt("a zipmap is cut off in a value")
		}
		r.e.Value, r.e.Second = field, value
		if err := r.give(); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// zipmapString reads a length and so many bytes; between them, for a value, there
// is the number of unused bytes behind it.
func zipmapString(b []byte, free int) (v, rest []byte, ok bool) {
	n := int(b[0])
	b = b[1:]
	if n == 254 {
		if len(b) < 4 {
			return nil, nil, false
		}
		n = int(binary.LittleEndian.Uint32(b))
		b = b[4:]
	} else if n == 255 {
		return nil, nil, false
	}
	unused := 0
	if free > 0 {
		if len(b) == 0 {
			return nil, nil, false
		}
		unused = int(b[0])
		b = b[1:]
	}
	if len(b) < n || len(b)-n < unused {
		return nil, nil, false
	}
	return b[:n], b[n+unused:], true
}
