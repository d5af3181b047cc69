package strings

import "math/bits"

// subsequence finds the longest common subsequence of two strings by the table
// of the lengths for all pairs of prefixes. Only two rows of it are kept, and a
// bit for each pair that says which way leads back:
//
//	last bytes equal  they belong to the subsequence, drop both
//	bit set           drop the last byte of a
//	bit clear         drop the last byte of b, also when both ways are as good
type subsequence struct {
	a, b   []byte
	length int
	dropA  []uint64 // bit (i-1)*len(b) + j-1 for the prefixes of i and j bytes; nil: not kept
}

// newSubsequence computes the length, and the way back if it is wanted.
func newSubsequence(a, b []byte, way bool) *subsequence {
	s := &subsequence{a: a, b: b}
	if way {
		s.dropA = make([]uint64, (len(a)*len(b)+63)/64)
	}
	above, row := make([]uint32, len(b)+1), make([]uint32, len(b)+1)
	for i := range a {
		s.fillRow(i, above, row)
		above, row = row, above
	}
	s.length = int(above[len(b)])
	return s
}

// fillRow computes the lengths for the prefix of a that ends with a[i].
func (s *subsequence) fillRow(i int, above, row []uint32) {
	bit := i * len(s.b)
	for j, c := range s.b {
		switch {
		case s.a[i] == c:
			row[j+1] = above[j] + 1
		case above[j+1] > row[j]:
			row[j+1] = above[j+1]
			if s.dropA != nil {
				s.dropA[(bit+j)/64] |= 1 << ((bit + j) % 64)
			}
		default:
			row[j+1] = row[j]
		}
	}
}

// match is a run of equal bytes of the subsequence: a[a:a+n] is b[b:b+n].
type match struct{ a, b, n int }

// matches visits the runs from the last to the first. The way back must be kept.
func (s *subsequence) matches(visit func(m match)) {
	i, j := len(s.a), len(s.b)
	run := match{}
	for i > 0 && j > 0 {
		if s.a[i-1] == s.b[j-1] {
			i, j = i-1, j-1
			run = match{i, j, run.n + 1}
			continue
		}
		if run.n > 0 {
			visit(run)
			run = match{}
		}
		if bit := (i-1)*len(s.b) + j - 1; s.dropA[bit/64]>>(bit%64)&1 != 0 {
			i--
		} else {
			j--
		}
	}
	if run.n > 0 {
		visit(run)
	}
}

// text gives the subsequence itself.
func (s *subsequence) text() []byte {
	out := make([]byte, s.length)
	end := len(out)
	s.matches(func(m match) {
		end -= m.n
		copy(out[end:], s.a[m.a:m.a+m.n])
	})
	return out
}

// tableBytes is the size of the whole table with lengths of 4 bytes, by which
// Redis limits the work; false when it overflows.
func tableBytes(a, b []byte) (uint64, bool) {
	hi, lo := bits.Mul64(uint64(len(a)+1), uint64(len(b)+1)*4)
	return lo, hi == 0
}
