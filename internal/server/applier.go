package server

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// Applier executes the records of logs, those of different stripes side by side. Its
// methods belong to one goroutine.
type Applier struct {
	// router finds out where a record belongs, and executes those that belong to several
	// stripes while nothing else goes on.
	router *Worker
	// workers are those of the lanes.
	workers []*Worker
	lanes   *shard.Lanes[record]
}

// record is one of a shard's log.
type record struct {
	shard   int
	seq     shard.Sequence
	payload []byte
}

// NewApplier makes an applier for the server's space.
func (srv *Server) NewApplier() *Applier {
	a := &Applier{router: srv.newWorker()}
	a.lanes = shard.NewLanes(shard.Stripes, a.execute)
	for range a.lanes.Len() {
		a.workers = append(a.workers, srv.newWorker())
	}
	return a
}

// Apply executes a record, see [Worker.Apply], or lets it be executed soon. The
// payload is copied. An error names its record, which may be an earlier one.
func (a *Applier) Apply(shardIndex int, seq shard.Sequence, payload []byte) error {
	w := a.router
	all, err := w.resolve(w.srv.space.Shards()[shardIndex], payload)
	if err == nil && !all && sameStripe(w.slots) {
		b := a.lanes.At(w.slots[0])
		b.Items = append(b.Items, record{shardIndex, seq, b.Keep(payload)})
		return a.lanes.Err()
	}
	if err := a.lanes.Wait(); err != nil {
		return err
	}
	return w.applyNumbered(shardIndex, seq, payload)
}

func (w *Worker) applyNumbered(shardIndex int, seq shard.Sequence, payload []byte) error {
	if err := w.Apply(shardIndex, payload); err != nil {
		return fmt.Errorf("record %d of shard %d: %w", seq, shardIndex, err)
	}
	return nil
}

func sameStripe(slots []slot.ID) bool {
	for _, id := range slots[1:] {
		if store.StripeOf(id) != store.StripeOf(slots[0]) {
			return false
		}
	}
	return true
}

func (a *Applier) execute(lane int, records []record) error {
	for i := range records {
		r := &records[i]
		if err := a.workers[lane].applyNumbered(r.shard, r.seq, r.payload); err != nil {
			return err
		}
	}
	return nil
}

// Close returns when every record was executed, with the first error, and ends the
// goroutines that the applier has. It may be called twice.
func (a *Applier) Close() error { return a.lanes.Close() }
