package loadgen

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
)

// Distribution says how often each key is used. [ParseDistribution] makes it.
type Distribution struct {
	text string
	make func(n int) keys
}

// keys chooses keys. Its next may be called from many goroutines, each with its own
// source of chance, and gives numbers from 0 to below the number of keys.
type keys interface{ next(r *rand.Rand) int }

const (
	// zipfDefault is the exponent of "zipf", the usual one for caches.
	zipfDefault = 0.99
	// zipfMax keeps the arithmetic in range; already at 5 nearly all goes to one key.
	zipfMax = 10
)

var errDistribution = errors.New("uniform, sequential, zipf, zipf=<exponent> or hot=<percent of keys>:<percent of commands> is needed")

// ParseDistribution reads one of:
//
//	uniform      every key equally often
//	sequential   one key after the other, over all workers, then from the start
//	zipf[=s]     the k-th key 1/k^s as often as the first; s is 0.99 when not given
//	hot=10:90    10 % of the keys get 90 % of the commands
func ParseDistribution(text string) (Distribution, error) {
	d := Distribution{text: text}
	name, value, given := strings.Cut(text, "=")
	switch {
	case name == "uniform" && !given:
		d.make = func(n int) keys { return uniform(n) }
	case name == "sequential" && !given:
		d.make = func(n int) keys { return &sequential{n: uint64(n)} }
	case name == "zipf":
		s := zipfDefault
		if given {
			var err error
			if s, err = strconv.ParseFloat(value, 64); err != nil || !(s > 0 && s <= zipfMax) {
				return d, fmt.Errorf("exponent %q of zipf: a number above 0 and up to %d is needed", value, zipfMax)
			}
		}
		d.make = func(n int) keys { return newZipf(n, s) }
	case name == "hot" && given:
		few, share, _ := strings.Cut(value, ":")
		hot, err := strconv.ParseFloat(few, 64)
		most, err2 := strconv.ParseFloat(share, 64)
		if err != nil || err2 != nil || !(hot > 0 && hot <= 100 && most >= 0 && most <= 100) {
			return d, fmt.Errorf("hot=%s: two percentages are needed, such as hot=10:90", value)
		}
		d.make = func(n int) keys { return newHot(n, hot/100, most/100) }
	default:
		return d, fmt.Errorf("distribution %q: %w", text, errDistribution)
	}
	return d, nil
}

// String returns the text that the distribution was read from.
func (d Distribution) String() string { return d.text }

type uniform int

func (u uniform) next(r *rand.Rand) int { return r.IntN(int(u)) }

type sequential struct {
	n    uint64
	used atomic.Uint64
}

func (s *sequential) next(*rand.Rand) int { return int((s.used.Add(1) - 1) % s.n) }

// hot uses the first few keys for a share of the commands and the rest for the others.
type hot struct {
	n, few int
	share  float64
}

func newHot(n int, part, share float64) *hot {
	return &hot{n: n, few: min(max(int(math.Round(part*float64(n))), 1), n), share: share}
}

func (h *hot) next(r *rand.Rand) int {
	if h.few == h.n || r.Float64() < h.share {
		return r.IntN(h.few)
	}
	return h.few + r.IntN(h.n-h.few)
}
