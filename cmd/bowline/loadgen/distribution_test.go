package loadgen

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// draw counts how often each of n keys is chosen.
func draw(t *testing.T, text string, n, times int) []float64 {
	t.Helper()
	d, err := ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	if d.String() != text {
		t.Errorf("%q calls itself %q", text, d)
	}
	k, r := d.make(n), rand.New(rand.NewPCG(3, 4))
	seen := make([]float64, n)
	for range times {
		seen[k.next(r)]++
	}
	return seen
}

func TestUniformUsesAllKeysAlike(t *testing.T) {
	for key, got := range draw(t, "uniform", 10, 100_000) {
		if got < 9_500 || got > 10_500 {
			t.Errorf("key %d was chosen %.0f times of 100000", key, got)
		}
	}
}

func TestSequentialGoesRound(t *testing.T) {
	for key, got := range draw(t, "sequential", 7, 70) {
		if got != 10 {
			t.Errorf("key %d was chosen %.0f times", key, got)
		}
	}
	d, _ := ParseDistribution("sequential")
	k := d.make(3)
	for i, want := range []int{0, 1, 2, 0, 1} {
		if got := k.next(nil); got != want {
			t.Errorf("choice %d is key %d, want %d", i, got, want)
		}
	}
}

func TestHotKeysGetTheirShare(t *testing.T) {
	cases := []struct {
		text  string
		n     int
		first int // so many keys
		share float64
	}{
		{"hot=10:90", 1000, 100, 0.9},
		{"hot=50:50", 100, 50, 0.5},
		{"hot=0.1:99", 100, 1, 0.99}, // at least one key
		{"hot=100:1", 10, 10, 1},
		{"hot=20:0", 10, 2, 0},
		{"hot=1:5", 1, 1, 1},
	}
	for _, c := range cases {
		const times = 50_000
		sum := 0.0
		for _, n := range draw(t, c.text, c.n, times)[:c.first] {
			sum += n
		}
		if got := sum / times; math.Abs(got-c.share) > 0.01 {
			t.Errorf("%s: the first %d of %d keys get %.3f, want %.3f", c.text, c.first, c.n, got, c.share)
		}
	}
}

// The counts are compared with the exact probabilities: of the first keys one by one, of
// the others in groups that double.
func TestZipfHasItsShape(t *testing.T) {
	const n, times = 10_000, 400_000
	for text, s := range map[string]float64{
		"zipf": 0.99, "zipf=0.5": 0.5, "zipf=1": 1, "zipf=1.0000000001": 1, "zipf=1.2": 1.2, "zipf=3": 3,
	} {
		seen := draw(t, text, n, times)
		total := 0.0
		for k := range n {
			total += math.Pow(float64(k+1), -s)
		}
		for from, to := 0, 1; from < n; from, to = to, min(to+max(to/2, 1), n) {
			want, got := 0.0, 0.0
			for k := from; k < to; k++ {
				want += math.Pow(float64(k+1), -s) / total * times
				got += seen[k]
			}
			// Five standard deviations, and a little for groups that are nearly empty.
			if limit := 5*math.Sqrt(want) + 3; math.Abs(got-want) > limit {
				t.Errorf("%s: keys %d to %d were chosen %.0f times, want %.0f ± %.0f", text, from, to-1, got, want, limit)
			}
		}
	}
	if got := draw(t, "zipf", 1, 10)[0]; got != 10 {
		t.Errorf("of one key: %v", got)
	}
}

func TestDistributionsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":              `distribution "": uniform, sequential, zipf`,
		"normal":        `distribution "normal": `,
		"uniform=1":     `distribution "uniform=1": `,
		"sequential=":   `distribution "sequential=": `,
		"zipf=":         `exponent "" of zipf`,
		"zipf=0":        `exponent "0" of zipf`,
		"zipf=-1":       `exponent "-1" of zipf`,
		"zipf=NaN":      `exponent "NaN" of zipf`,
		"zipf=11":       `exponent "11" of zipf: a number above 0 and up to 10 is needed`,
		"hot":           `distribution "hot": `,
		"hot=10":        `hot=10: two percentages are needed`,
		"hot=0:90":      `hot=0:90: `,
		"hot=101:90":    `hot=101:90: `,
		"hot=10:-1":     `hot=10:-1: `,
		"hot=10:x":      `hot=10:x: `,
		"hot=NaN:50":    `hot=NaN:50: `,
		"hot=10:90:100": `hot=10:90:100: `,
	} {
		if _, err := ParseDistribution(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
