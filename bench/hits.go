package main

import "math/rand/v2"

// hitResult is a row about eviction: how many reads of a trace find their key, in
// percent, with memory for a fifth of the keys.
type hitResult struct {
	Row     string  `json:"row"`
	Redis   float64 `json:"redis"`
	Bowline float64 `json:"bowline"`
	Target  float64 `json:"target,omitempty"` // points that Bowline may be below
	Verdict verdict `json:"verdict,omitempty"`
	Failure string  `json:"failure,omitempty"`
}

func newHits(row string, redis, bowline float64) hitResult {
	r := hitResult{Row: row, Redis: redis, Bowline: bowline}
	if t := findTarget(measureHits, "", 0, 0); t != nil {
		r.Target, r.Verdict = t.limit, t.judge(-r.points())
	}
	return r
}

// points is Bowline's hit ratio less redis-server's.
func (r *hitResult) points() float64 { return r.Bowline - r.Redis }

var hitHeader = []string{"row", "% hits R", "B", "points", "target", ""}

func hitCells(results []hitResult) [][]string {
	rows := [][]string{hitHeader}
	for i := range results {
		r := &results[i]
		if r.Failure != "" {
			rows = append(rows, []string{r.Row, "failed: " + r.Failure})
			continue
		}
		rows = append(rows, []string{
			r.Row, digits(r.Redis, 2), digits(r.Bowline, 2), digits(r.points(), 2), ">=-" + digits(r.Target, 0), string(r.Verdict),
		})
	}
	return rows
}

// trace is a sequence of key numbers, zipfian and the same every time: that of the
// player's test about eviction.
type trace struct {
	zipf *rand.Zipf
}

func newTrace(keys int64) trace {
	const (
		exponent = 1.05
		flat     = 10 // how many keys share the top
	)
	return trace{rand.NewZipf(rand.New(rand.NewPCG(1, 2)), exponent, flat, uint64(keys-1))}
}

func (t trace) next() uint64 { return t.zipf.Uint64() }

// evictPolicies are those that are compared.
var evictPolicies = []string{"allkeys-lru", "allkeys-lfu", "volatile-ttl"}
