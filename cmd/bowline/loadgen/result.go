package loadgen

import (
	"time"

	"github.com/bowline-kv/bowline/client"
)

// Result is what was measured. Its JSON form is what `bowline bench --json` writes.
type Result struct {
	// Settings are those of the run.
	Settings Settings `json:"settings"`
	// Seconds is from the end of the warm-up to the last reply.
	Seconds float64 `json:"seconds"`
	// Interrupted says that the run was ended before its time.
	Interrupted bool `json:"interrupted"`
	// Total is over all commands, Commands are in the order of the mix.
	Total    Row   `json:"total"`
	Commands []Row `json:"commands"`
	// Unsent counts commands that were due by the rate, and not sent before the end,
	// because all workers were waiting for replies. No latency stands for them.
	Unsent int64 `json:"unsent"`
	// Client has what the client did beside sending.
	Client ClientCounts `json:"client"`
}

// Settings are the options that a result depends on.
type Settings struct {
	Addrs         []string `json:"addrs"`
	Mix           string   `json:"mix"`
	Keys          int      `json:"keys"`
	Distribution  string   `json:"distribution"`
	ValueSize     string   `json:"value_size"`
	Pipeline      int      `json:"pipeline"`
	Clients       int      `json:"clients"`
	Rate          float64  `json:"rate"` // 0: as fast as replies come
	WarmupSeconds float64  `json:"warmup_seconds"`
	Seed          uint64   `json:"seed"`
}

// Row is what became of commands of one name, or of all.
type Row struct {
	Name string `json:"name"`
	// Replies counts those that were no error; Nulls, of these, those without a value.
	Replies uint64 `json:"replies"`
	Nulls   uint64 `json:"nulls"`
	// PerSecond is the rate of Replies.
	PerSecond float64 `json:"per_second"`
	// Latency is that of Replies.
	Latency Latency `json:"latency_us"`
	// Failed counts errors, Errors has them by kind, and Examples one text for each kind.
	Failed   uint64            `json:"failed"`
	Errors   map[string]uint64 `json:"errors,omitempty"`
	Examples map[string]string `json:"examples,omitempty"`
}

// Latency is in microseconds. Percentiles are at most 0.8 % too high.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// ClientCounts are the client's, while it was measured.
type ClientCounts struct {
	Moved        uint64 `json:"moved"`
	Ask          uint64 `json:"ask"`
	TryAgain     uint64 `json:"tryagain"`
	Reloads      uint64 `json:"reloads"`
	Dials        uint64 `json:"dials"`
	DialFailures uint64 `json:"dial_failures"`
	Drops        uint64 `json:"drops"`
}

// result puts together what the workers have.
func (r *run) result(workers []*worker, end time.Time, before client.Stats) *Result {
	seconds := max(end.Sub(r.measureFrom).Seconds(), 0)
	res := &Result{Settings: r.o.settings(), Seconds: seconds, Client: countsSince(before, r.client.Stats())}
	var all tally
	for i, row := range r.o.Mix.rows {
		var one tally
		for _, w := range workers {
			one.merge(&w.tallies[i])
		}
		all.merge(&one)
		res.Commands = append(res.Commands, one.row(row.name, seconds))
	}
	res.Total = all.row("total", seconds)
	if r.o.Duration > 0 && r.o.Rate > 0 {
		last := r.measureFrom.Add(r.o.Duration)
		if end.Before(last) {
			last = end
		}
		res.Unsent = max(r.pace.dueBefore(r.measureFrom, last)*int64(r.o.Pipeline)-r.claimed.Load(), 0)
	}
	return res
}

func (o *Options) settings() Settings {
	return Settings{
		Addrs: o.Client.Addrs, Mix: o.Mix.String(), Keys: o.Keys, Distribution: o.Distribution.String(),
		ValueSize: o.ValueSize.String(), Pipeline: o.Pipeline, Clients: o.Workers, Rate: o.Rate,
		WarmupSeconds: o.Warmup.Seconds(), Seed: o.Seed,
	}
}

func countsSince(a, b client.Stats) ClientCounts {
	return ClientCounts{
		Moved: b.Moved - a.Moved, Ask: b.Ask - a.Ask, TryAgain: b.TryAgain - a.TryAgain, Reloads: b.Reloads - a.Reloads,
		Dials: b.Dials - a.Dials, DialFailures: b.DialFailures - a.DialFailures, Drops: b.Drops - a.Drops,
	}
}

func (t *tally) row(name string, seconds float64) Row {
	h := &t.latency
	r := Row{Name: name, Replies: h.Count(), Nulls: t.nulls, Errors: t.errors, Examples: t.example}
	for _, n := range t.errors {
		r.Failed += n
	}
	if seconds > 0 {
		r.PerSecond = float64(h.Count()) / seconds
	}
	r.Latency = Latency{
		Mean: micros(h.Mean()), P50: micros(h.Percentile(50)), P90: micros(h.Percentile(90)),
		P99: micros(h.Percentile(99)), P999: micros(h.Percentile(99.9)), Max: micros(h.Max()),
	}
	return r
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
