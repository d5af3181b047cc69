package engine

import (
	"math"
	"testing"
)

func TestParseFloatReadsWhatStrtodDoes(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "12": 12, "-7": -7, "1.5": 1.5, ".5": .5, "5.": 5, "1e3": 1000, "+3": 3, "inf": math.Inf(1), "-Infinity": math.Inf(-1),
		"+inf": math.Inf(1), "0x1A": 26, "0x1p4": 16, "-0x.8": -.5, "0e5": 0, "0x0p9": 0, "4e-324": 5e-324, "123456789012345678": 123456789012345678,
	} {
		if got, ok := ParseFloat([]byte(in)); !ok || got != want {
			t.Errorf("%q is %v, %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "-", "+", "nan", "1 ", " 1", "1_0", "0x", "0x_1p0", "1e", "abc", "--1", "1.5.5", "infx", "1e400", "-1e400", "1e-400", "0x1p-2000"} {
		if got, ok := ParseFloat([]byte(in)); ok {
			t.Errorf("%q is %v", in, got)
		}
	}
	if f, _ := ParseFloat([]byte("-0")); !math.Signbit(f) {
		t.Error("-0 lost its sign")
	}
}
