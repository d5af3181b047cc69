package loadgen

import (
	"math"
	"math/rand/v2"
)

// zipf gives k-1 with a probability proportional to 1/k^s, for k from 1 to n. The one of
// math/rand wants an exponent above 1; caches see less.
//
// It works by rejection and inversion (Hörmann and Derflinger, 1996): a point below the
// curve 1/x^s is found by the inverse of its integral, and is rounded to the next k. Few
// are rejected, whatever n is, and no table is needed.
type zipf struct {
	n, s        float64
	first, last float64 // the integral at the borders
	sure        float64 // so near to k that a point is certainly accepted
}

func newZipf(n int, s float64) *zipf {
	z := &zipf{n: float64(n), s: s}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.sure = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

func (z *zipf) next(r *rand.Rand) int {
	for {
		u := z.last + r.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(math.Round(x), 1), z.n)
		if k-x <= z.sure || u >= z.integral(k+0.5)-z.density(k) {
			return int(k) - 1
		}
	}
}

func (z *zipf) density(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// integral is that of the density from 1 to x; with s = 1 it is the logarithm.
func (z *zipf) integral(x float64) float64 {
	log := math.Log(x)
	t := (1 - z.s) * log
	if math.Abs(t) < nearZero {
		return log * (1 + t/2)
	}
	return log * math.Expm1(t) / t
}

// inverse is that of integral.
func (z *zipf) inverse(u float64) float64 {
	t := max((1-z.s)*u, -1) // rounding can lead below
	if math.Abs(t) < nearZero {
		return math.Exp(u * (1 - t/2))
	}
	return math.Exp(u * math.Log1p(t) / t)
}

// nearZero is where the quotients above become 0/0, and their series takes over.
const nearZero = 1e-8
