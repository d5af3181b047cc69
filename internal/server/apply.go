package server

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/slot"
)

// applied is one effect of a record, resolved.
type applied struct {
	db      int
	args    [][]byte
	spec    *command.Spec
	handler engine.Handler
}

// Apply executes a record of a shard's log, of another node or of this one before
// it was restarted, under the locks of everything in it. Gates are not asked and no
// key expires by itself: the record's writer has done both. Records must come in
// the order of the log. What happened to everything is in the log of every shard;
// here it is done in this one. An error that wraps [shard.ErrBadEffect] means that
// the record is not one of ours.
func (w *Worker) Apply(shardIndex int, payload []byte) error {
	sh := w.srv.space.Shards()[shardIndex]
	all, err := w.resolve(sh, payload)
	if err != nil {
		return fmt.Errorf("apply record: %w", err)
	}
	switch {
	case len(w.effects) == 0:
		return nil
	case !all:
		w.ctx.LockSlots(w.slots)
	case len(w.srv.space.Shards()) > 1:
		w.ctx.LockShard(sh)
	default:
		w.ctx.LockAll()
	}
	defer w.tellApplied()
	defer w.ctx.Unlock()
	return w.applyLocked()
}

// resolve finds the effects of a record, and the slots of their keys; all says that
// everything is to be locked for them.
func (w *Worker) resolve(sh *shard.Shard, payload []byte) (all bool, err error) {
	w.slots, w.effects = w.slots[:0], w.effects[:0]
	err = w.decoder.Decode(payload, func(db int, args [][]byte) error {
		a := applied{db: db, spec: command.Lookup(args[0])}
		if a.spec == nil || db >= w.srv.space.Databases() {
			return fmt.Errorf("%w: command %.40q in database %d", shard.ErrBadEffect, args[0], db)
		}
		if a.handler = w.srv.routes[a.spec.ID].keys; a.handler == nil || !a.spec.CheckArity(len(args)) {
			return fmt.Errorf("%w: command %s with %d arguments", shard.ErrBadEffect, a.spec.Name, len(args))
		}
		refs, err := a.spec.Keys(args, w.refs[:0])
		if err != nil && a.spec.Locks == command.LocksKeys {
			return fmt.Errorf("%w: keys of %s: %w", shard.ErrBadEffect, a.spec.Name, err)
		}
		for _, r := range refs {
			id := slot.Of(args[r.Index])
			if w.srv.space.ShardOf(id) != sh {
				return nil // it is in that shard's log too
			}
			w.slots = append(w.slots, id)
		}
		all = all || a.spec.Locks != command.LocksKeys
		w.addEffect(a, args)
		return nil
	})
	return all || len(w.slots) == 0, err
}

// addEffect adds an effect with a copy of the list of its arguments, in memory that
// was used before.
func (w *Worker) addEffect(a applied, args [][]byte) {
	n := len(w.effects)
	if n < cap(w.effects) {
		a.args = w.effects[: n+1 : n+1][n].args
	}
	a.args = append(a.args[:0], args...)
	w.effects = append(w.effects, a)
}

// tellApplied tells those who cache keys of what a record has changed.
func (w *Worker) tellApplied() {
	if w.invalid.flushed {
		w.invalid.flushed = false
		w.srv.tellFlushed(nil)
	}
	if len(w.invalid.changes) > 0 {
		w.tellOthers(nil)
	}
}

func (w *Worker) applyLocked() error {
	replies := &w.effectReplies
	w.ctx.W, w.ctx.Now, w.ctx.Applying = replies, 0, true
	defer func() { w.ctx.Applying = false }()
	for i := range w.effects {
		a := &w.effects[i]
		replies.B = replies.B[:0]
		w.ctx.DB, w.ctx.Name = a.db, a.spec.Name
		a.handler(&w.ctx, a.args)
		for _, r := range replies.Refs {
			r.Done()
		}
		replies.Refs = nil
		if len(replies.B) > 0 && replies.B[0] == '-' {
			return fmt.Errorf("apply %s: %.200q", a.spec.Name, replies.B)
		}
	}
	return nil
}
