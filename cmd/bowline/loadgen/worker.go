package loadgen

import (
	"context"
	"time"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/internal/histogram"
)

// tally is what became of the commands of one kind. It is for one goroutine.
type tally struct {
	latency histogram.Histogram // of those without an error
	nulls   uint64              // of those, the replies that were null
	errors  map[string]uint64
	example map[string]string // one text for each kind of error
}

func (t *tally) add(r *client.Reply, d time.Duration) {
	err := r.Err()
	if err == nil {
		t.latency.Add(d)
		if r.IsNull() {
			t.nulls++
		}
		return
	}
	if t.errors == nil {
		t.errors, t.example = map[string]uint64{}, map[string]string{}
	}
	kind := kindOf(err)
	if t.errors[kind]++; t.example[kind] == "" {
		t.example[kind] = err.Error()
	}
}

func (t *tally) merge(other *tally) {
	t.latency.Merge(&other.latency)
	t.nulls += other.nulls
	for kind, n := range other.errors {
		if t.errors == nil {
			t.errors, t.example = map[string]uint64{}, map[string]string{}
		}
		t.errors[kind] += n
		t.example[kind] = other.example[kind]
	}
}

// worker sends one batch after the other.
type worker struct {
	run     *run
	gen     *generator
	batch   *client.Pipeline
	args    []any
	rows    []int // of the batch, the commands as indices into the mix
	tallies []tally
}

func newWorker(r *run, k keys, number int) *worker {
	return &worker{
		run: r, gen: newGenerator(r.o, k, r.data, number), batch: r.client.Pipeline(), tallies: make([]tally, len(r.o.Mix.rows)),
	}
}

// work sends batches until issue ends or enough were sent. The commands themselves run
// under ctx, which lasts longer, so that those under way can finish.
func (w *worker) work(issue, ctx context.Context) {
	r := w.run
	for {
		due, ok := r.pace.next(issue)
		if !ok {
			return
		}
		measured := !due.Before(r.measureFrom)
		n := r.o.Pipeline
		if measured {
			if n = r.claim(n); n == 0 {
				return
			}
		}
		replies := w.send(ctx, n)
		now := time.Now()
		failed := 0
		for i := range replies {
			if replies[i].Err() != nil {
				failed++
			}
			if measured {
				w.tallies[w.rows[i]].add(&replies[i], now.Sub(due))
			}
		}
		r.done.Add(int64(len(replies)))
		r.failed.Add(int64(failed))
	}
}

// send sends n commands together and gives their replies.
func (w *worker) send(ctx context.Context, n int) []client.Reply {
	w.rows = w.rows[:0]
	for range n {
		var row int
		row, w.args = w.gen.next(w.args[:0])
		w.rows = append(w.rows, row)
		if n == 1 {
			return []client.Reply{w.run.client.Do(ctx, w.args...)}
		}
		w.batch.Do(w.args...)
	}
	replies, _ := w.batch.Exec(ctx) // the replies have their errors
	return replies
}
