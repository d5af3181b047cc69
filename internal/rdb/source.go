package rdb

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
)

// source reads bytes of unknown goodness.
type source struct {
	r    io.Reader
	buf  []byte
	at   int   // in buf
	off  int64 // of buf's end
	crc  uint64
	text []byte // the newest string
	temp []byte // compressed bytes
}

const (
	bufferBytes = 64 << 10
	// stepBytes is by how much a long string grows while its bytes come.
	stepBytes = 1 << 20
	// stringMax is the longest string, in bytes: as much as Redis allows at all.
	stringMax = 4 << 30
	// lzfFactor: so many bytes can become of one that is compressed.
	lzfFactor = lzfRefMax
)

func newSource(r io.Reader) *source {
	return &source{r: r, buf: make([]byte, 0, bufferBytes)}
}

// offset is that of the next byte.
func (s *source) offset() int64 { return s.off - int64(len(s.buf)-s.at) }

// fill reads more; all that was read before was taken.
func (s *source) fill() error {
	s.buf, s.at = s.buf[:cap(s.buf)], 0
	for empty := 0; ; empty++ {
		n, err := s.r.Read(s.buf)
		if n > 0 {
			s.buf = s.buf[:n]
			s.off += int64(n)
			return nil
		}
		if err == nil && empty < 100 {
			continue
		}
		s.buf = s.buf[:0]
		if err == nil || errors.Is(err, io.EOF) {
			return corrupt("it ends too early")
		}
		return err
	}
}

// read fills b.
func (s *source) read(b []byte) error {
	for len(b) > 0 {
		if s.at == len(s.buf) {
			if err := s.fill(); err != nil {
				return err
			}
		}
		n := copy(b, s.buf[s.at:])
		s.crc = Checksum(s.crc, b[:n])
		s.at += n
		b = b[n:]
	}
	return nil
}

func (s *source) byte() (byte, error) {
	var b [1]byte
	err := s.read(b[:])
	return b[0], err
}

func (s *source) uint32() (uint32, error) {
	var b [4]byte
	err := s.read(b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

func (s *source) uint64() (uint64, error) {
	var b [8]byte
	err := s.read(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// lenOrCode reads a length, or the code of an encoded string.
func (s *source) lenOrCode() (n uint64, code bool, err error) {
	c, err := s.byte()
	if err != nil {
		return 0, false, err
	}
	var b [8]byte
	switch c >> 6 {
	case 0:
		return uint64(c), false, nil
	case 1:
		low, err := s.byte()
		return uint64(c&63)<<8 | uint64(low), false, err
	case 3:
		return uint64(c & 63), true, nil
	}
	switch c {
	case 0x80:
		err = s.read(b[4:])
	case 0x81:
		err = s.read(b[:])
	default:
		return 0, false, corrupt("a length begins with %#x", c)
	}
	return binary.BigEndian.Uint64(b[:]), false, err
}

func (s *source) len() (uint64, error) {
	n, code, err := s.lenOrCode()
	if err == nil && code {
		err = corrupt("an encoded string where a length should be")
	}
	return n, err
}

// count reads the number of elements of a collection, which is never 0.
func (s *source) count() (uint64, error) {
	n, err := s.len()
	if err == nil && n == 0 {
		err = corrupt("an empty collection")
	}
	return n, err
}

// string reads a string, which is valid until the next one.
func (s *source) string() ([]byte, error) {
	var err error
	s.text, err = s.appendString(s.text[:0])
	return s.text, err
}

// appendString appends a string to dst.
func (s *source) appendString(dst []byte) ([]byte, error) {
	n, code, err := s.lenOrCode()
	if err != nil {
		return dst, err
	}
	if !code {
		return s.appendBytes(dst, n)
	}
	var b [4]byte
	switch n {
	case encInt8:
		err = s.read(b[:1])
		return strconv.AppendInt(dst, int64(int8(b[0])), 10), err
	case encInt16:
		err = s.read(b[:2])
		return strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(b[:]))), 10), err
	case encInt32:
		err = s.read(b[:4])
		return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(b[:]))), 10), err
	case encLZF:
		return s.appendCompressed(dst)
	}
	return dst, corrupt("a string of unknown encoding %d", n)
}

// appendBytes reads n bytes. Memory is taken as they come.
func (s *source) appendBytes(dst []byte, n uint64) ([]byte, error) {
	if n > stringMax {
		return dst, corrupt("a string of %d bytes", n)
	}
	for n > 0 {
		step := int(min(n, stepBytes))
		at := len(dst)
		dst = append(dst, make([]byte, step)...)
		if err := s.read(dst[at:]); err != nil {
			return dst[:at], err
		}
		n -= uint64(step)
	}
	return dst, nil
}

func (s *source) appendCompressed(dst []byte) ([]byte, error) {
	packed, err := s.len()
	if err != nil {
		return dst, err
	}
	size, err := s.len()
	if err != nil {
		return dst, err
	}
	if size > stringMax || packed > size || size > packed*lzfFactor {
		return dst, corrupt("a compressed string of %d bytes in %d", size, packed)
	}
	if s.temp, err = s.appendBytes(s.temp[:0], packed); err != nil {
		return dst, err
	}
	return unpackLZF(dst, s.temp, int(size))
}

// oldDouble reads the score of [TypeZSet]: text with its length in front.
func (s *source) oldDouble() (float64, error) {
	n, err := s.byte()
	if err != nil {
		return 0, err
	}
	switch n {
	case 255:
		return math.Inf(-1), nil
	case 254:
		return math.Inf(1), nil
	case 253:
		return math.NaN(), nil
	}
	var b [252]byte
	if err := s.read(b[:n]); err != nil {
		return 0, err
	}
	return parseScore(b[:n])
}

func parseScore(text []byte) (float64, error) {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(f) {
		return 0, corrupt("a score of %.40q", text)
	}
	return f, nil
}
