package main

import (
	"slices"
	"strconv"

	"github.com/bowline-kv/bowline/slot"
)

// stallResult is a row about waiting: how long single GETs took while something
// big went on.
type stallResult struct {
	Row     string    `json:"row"`
	Redis   stallSide `json:"redis"`
	Bowline stallSide `json:"bowline"`
	Target  float64   `json:"target,omitempty"` // for Bowline's max
	Verdict verdict   `json:"verdict,omitempty"`
	Failure string    `json:"failure,omitempty"`
}

// stallSide sums up the rounds of one server; all times are in microseconds.
//
// The numbers are those of the round whose max is lowest. What a server does to
// itself comes back in every round; what else runs on the machine does not. Idle is
// the lowest too, of the times right before, when nothing was asked of the server
// but the same GETs. Worst is the highest max.
type stallSide struct {
	Idle  float64      `json:"idle_max"`
	P50   float64      `json:"p50"`
	P999  float64      `json:"p999"`
	Max   float64      `json:"max"`
	Worst float64      `json:"worst_max"`
	All   []stallRound `json:"rounds"`
}

// stallRound is what one meter saw in one round, in microseconds.
type stallRound struct {
	Idle  float64 `json:"idle_max"`
	P50   float64 `json:"p50"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
	MaxAt float64 `json:"max_at"` // from the begin
	GETs  uint64  `json:"gets"`
}

func newStallRound(idle, during meterResult) stallRound {
	p := percentilesOf(&during.Latency)
	return stallRound{
		Idle: float64(idle.MaxNanos) / 1e3, P50: p.P50, P999: p.P999,
		Max: float64(during.MaxNanos) / 1e3, MaxAt: float64(during.MaxAtNanos) / 1e3, GETs: during.Latency.Count(),
	}
}

// newStallSide is zero for no rounds.
func newStallSide(rounds []stallRound) stallSide {
	if len(rounds) == 0 {
		return stallSide{}
	}
	kept, side := rounds[0], stallSide{Idle: rounds[0].Idle, All: slices.Clone(rounds)}
	for _, r := range rounds {
		if r.Max < kept.Max {
			kept = r
		}
		side.Idle, side.Worst = min(side.Idle, r.Idle), max(side.Worst, r.Max)
	}
	side.P50, side.P999, side.Max = kept.P50, kept.P999, kept.Max
	return side
}

func newStall(row string, redis, bowline []stallRound) stallResult {
	r := stallResult{Row: row, Redis: newStallSide(redis), Bowline: newStallSide(bowline)}
	if t := findTarget(measureStall, "", 0, 0); t != nil {
		r.Target, r.Verdict = t.limit, judgeStall(t, r.Bowline.Max, r.idle())
	}
	return r
}

// idle is the longest wait while nothing went on, with either server: the noise of
// the machine.
func (r *stallResult) idle() float64 { return max(r.Redis.Idle, r.Bowline.Idle) }

// judgeStall does not blame a server for a machine that keeps even idle moments
// waiting.
func judgeStall(t *target, longest, idle float64) verdict {
	v := t.judge(longest)
	if v != verdictMet && idle > t.limit {
		return verdictNoise
	}
	return v
}

// noisyStalls counts the rows whose idle time alone is off the target.
func (r *report) noisyStalls() int {
	n := 0
	for i := range r.Stalls {
		if s := &r.Stalls[i]; s.Target > 0 && s.idle() > s.Target {
			n++
		}
	}
	return n
}

var stallHeader = []string{
	"GETs meanwhile, us", "idle max R", "B", "p50 R", "B", "p99.9 R", "B", "max R", "B", "worst R", "B", "target", "",
}

func stallCells(results []stallResult) [][]string {
	rows := [][]string{stallHeader}
	for i := range results {
		r := &results[i]
		if r.Failure != "" {
			rows = append(rows, []string{r.Row, "failed: " + r.Failure})
			continue
		}
		row := []string{r.Row}
		for _, pick := range []func(*stallSide) float64{
			func(s *stallSide) float64 { return s.Idle },
			func(s *stallSide) float64 { return s.P50 },
			func(s *stallSide) float64 { return s.P999 },
			func(s *stallSide) float64 { return s.Max },
			func(s *stallSide) float64 { return s.Worst },
		} {
			row = append(row, digits(pick(&r.Redis), 0), digits(pick(&r.Bowline), 0))
		}
		rows = append(rows, append(row, "<="+digits(r.Target, 0), string(r.Verdict)))
	}
	return rows
}

// stripes is over how many locks Bowline divides its slots, by their number modulo
// this, see docs/architecture.md.
const stripes = 64

// The keys of the stall rows: the near meter reads a key that shares its stripe
// with the big value, by their hash tag, the far one a key of another stripe.
const (
	bigKey  = "{stall}big"
	nearKey = "{stall}met"
)

var farKey = keyElsewhere(nearKey)

// keyElsewhere finds a key of another stripe.
func keyElsewhere(key string) string {
	for i := 0; ; i++ {
		other := "{stall" + strconv.Itoa(i) + "}met"
		if slot.OfString(other)%stripes != slot.OfString(key)%stripes {
			return other
		}
	}
}
