package bitmaps

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// naiveBits spreads a string into one bool a bit.
func naiveBits(b []byte) (all []bool) {
	for _, x := range b {
		for i := 7; i >= 0; i-- {
			all = append(all, x>>i&1 == 1)
		}
	}
	return all
}

// someBytes are strings with long runs of equal bits and any length modulo 64.
func someBytes() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) (b []byte) {
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			fill := rapid.SampledFrom([]byte{0, 0xff, 0x80, 1, 0x5a}).Draw(t, "fill")
			b = append(b, bytes.Repeat([]byte{fill}, rapid.IntRange(0, 30).Draw(t, "length"))...)
		}
		return b
	})
}

func TestCountAndFindAgreeWithNaiveLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := someBytes().Draw(t, "string")
		all := naiveBits(b)
		from := rapid.IntRange(0, len(all)).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		one := rapid.Bool().Draw(t, "one")
		ones, at := int64(0), int64(-1)
		for i := from; i < to; i++ {
			if all[i] {
				ones++
			}
			if at < 0 && all[i] == one {
				at = int64(i)
			}
		}
		if at < 0 {
			at = int64(to)
		}
		if got := countRange(b, int64(from), int64(to)); got != ones {
			t.Errorf("%x has %d ones in %d..%d, not %d", b, ones, from, to, got)
		}
		if got := find(b, int64(from), int64(to), one); got != at {
			t.Errorf("the first %v of %x in %d..%d is at %d, not %d", one, b, from, to, at, got)
		}
	})
}

func TestSpansAreThoseOfSlices(t *testing.T) {
	for _, c := range []struct {
		s        span
		n        int
		from, to int64
	}{
		{everything, 3, 0, 24}, {everything, 0, 0, 0},
		{span{1, 1, false}, 3, 8, 16}, {span{1, 1, true}, 3, 1, 2},
		{span{-2, -1, false}, 3, 8, 24}, {span{-2, -1, true}, 3, 22, 24},
		{span{-100, 0, false}, 3, 0, 8}, {span{5, 9, false}, 3, 0, 0}, {span{2, 1, false}, 3, 0, 0},
		{span{-1 << 63, 1<<63 - 1, false}, 3, 0, 24}, {span{1<<63 - 1, 1<<63 - 1, true}, 3, 0, 0},
		{span{0, -100, false}, 3, 0, 8}, // what lies before the start is the first
	} {
		if from, to := c.s.bits(c.n); from != c.from || to != c.to {
			t.Errorf("%+v of %d bytes is %d..%d, want %d..%d", c.s, c.n, from, to, c.from, c.to)
		}
	}
}

func TestWordsAgreeWithBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := someBytes().Draw(t, "a")
		b := someBytes().Draw(t, "b")
		if len(b) > len(a) {
			a, b = b, a
		}
		padded := append(bytes.Clone(b), make([]byte, len(a)-len(b))...)
		check := func(name string, run func(dst, src []byte), want func(x, y byte) byte) {
			got := bytes.Clone(a)
			run(got, b)
			for i := range a {
				if w := want(a[i], padded[i]); got[i] != w {
					t.Fatalf("%s: byte %d of %x and %x is %x, want %x", name, i, a, b, got[i], w)
				}
			}
		}
		check("and", and, func(x, y byte) byte { return x & y })
		check("or", or, func(x, y byte) byte { return x | y })
		check("xor", xor, func(x, y byte) byte { return x ^ y })
		check("andNot", andNot, func(x, y byte) byte { return x &^ y })
		check("invert", func(dst, _ []byte) { invert(dst) }, func(x, _ byte) byte { return ^x })
		check("orAnd", func(dst, src []byte) { orAnd(dst, bytes.Clone(a), src) }, func(x, y byte) byte { return x | x&y })
	})
}

func someInteger() *rapid.Generator[integer] {
	return rapid.Custom(func(t *rapid.T) integer {
		if rapid.Bool().Draw(t, "signed") {
			return integer{rapid.Int64Range(1, 64).Draw(t, "width"), true}
		}
		return integer{rapid.Int64Range(1, 63).Draw(t, "width"), false}
	})
}

func TestWhatIsWrittenIsReadAndTheRestStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := someInteger().Draw(t, "type")
		shift := rapid.Int64Range(0, 7).Draw(t, "shift")
		n := rapid.Int64().Draw(t, "number")
		var w [windowBytes]byte
		copy(w[:], rapid.SliceOfN(rapid.Byte(), windowBytes, windowBytes).Draw(t, "before"))
		before := naiveBits(w[:])
		typ.write(&w, shift, n)
		if got, want := typ.read(&w, shift), typ.trim(uint64(n)); got != want {
			t.Errorf("%+v at %d: %d was written as %d and read as %d", typ, shift, n, want, got)
		}
		for i, bit := range naiveBits(w[:]) {
			switch at := int64(i) - shift; {
			case at >= 0 && at < typ.width:
				if want := uint64(n)>>(typ.width-1-at)&1 == 1; bit != want {
					t.Errorf("%+v at %d: bit %d is %v", typ, shift, at, bit)
				}
			case bit != before[i]:
				t.Errorf("%+v at %d changed bit %d", typ, shift, i)
			}
		}
	})
}

// TestOverflowAgreesWithNumbersWithoutLimit computes with big numbers.
func TestOverflowAgreesWithNumbersWithoutLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := someInteger().Draw(t, "type")
		old := typ.trim(rapid.Uint64().Draw(t, "old"))
		delta := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-300, 300), rapid.SampledFrom([]int64{-1 << 63, 1<<63 - 1})).Draw(t, "delta")
		sum := new(big.Int).Add(big.NewInt(old), big.NewInt(delta))
		judge(t, typ, sum, func(o overflow) (int64, bool) { return typ.add(old, delta, o) })
		if delta >= 0 || typ.signed && delta > math.MinInt64/2 {
			judge(t, typ, big.NewInt(delta), func(o overflow) (int64, bool) { return typ.fit(delta, o) })
		}
	})
}

func judge(t *rapid.T, typ integer, exact *big.Int, run func(o overflow) (int64, bool)) {
	low, high := typ.bounds()
	under, over := exact.Cmp(big.NewInt(low)) < 0, exact.Cmp(big.NewInt(high)) > 0
	modulus := new(big.Int).Lsh(big.NewInt(1), uint(typ.width))
	wrapped := new(big.Int).Mod(exact, modulus)
	if wrapped.Cmp(big.NewInt(high)) > 0 {
		wrapped.Sub(wrapped, modulus)
	}
	n, fits := run(wrap)
	if fits != (!under && !over) || n != wrapped.Int64() {
		t.Errorf("%+v: %s wraps to %d (fits: %v), want %s", typ, exact, n, fits, wrapped)
	}
	want := wrapped.Int64()
	if under {
		want = low
	} else if over {
		want = high
	}
	if n, _ := run(saturate); n != want {
		t.Errorf("%+v: %s saturates to %d, want %d", typ, exact, n, want)
	}
}

func TestNegativeNumbersAreTooLargeForUnsignedTypes(t *testing.T) {
	u8 := integer{8, false}
	if n, fits := u8.fit(-1, wrap); n != 255 || fits {
		t.Errorf("-1 wraps to %d, %v", n, fits)
	}
	if n, fits := u8.fit(-200, saturate); n != 255 || fits {
		t.Errorf("-200 saturates to %d, %v", n, fits)
	}
	i8 := integer{8, true}
	if n, _ := i8.fit(math.MinInt64+128, saturate); n != -128 {
		t.Errorf("the last number whose distance fits saturates to %d", n)
	}
	if n, _ := i8.fit(math.MinInt64, saturate); n != 127 {
		t.Errorf("the least number saturates to %d", n)
	}
}

func FuzzParseInteger(f *testing.F) {
	for _, s := range []string{"i8", "u63", "u64", "i64", "i65", "u0", "x", "", "i", "u08", "i-1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, arg []byte) {
		typ, ok := parseInteger(arg)
		if ok && (typ.width < 1 || typ.width > 64 || typ.width == 64 && !typ.signed) {
			t.Errorf("%q is %+v", arg, typ)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	s := bytes.Repeat([]byte{0x5a}, 1<<20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		count(s)
	}
}

func BenchmarkAnd(b *testing.B) {
	x, y := bytes.Repeat([]byte{0x5a}, 1<<20), bytes.Repeat([]byte{0x37}, 1<<20)
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		and(x, y)
	}
}

func BenchmarkFind(b *testing.B) {
	s := make([]byte, 1<<20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		find(s, 0, int64(len(s))*8, true)
	}
}
