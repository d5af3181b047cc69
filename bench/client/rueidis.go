package main

import (
	"context"
	"errors"

	"github.com/redis/rueidis"
)

var errMissing = errors.New("a key has no value")

type rueidisTarget struct{ c rueidis.Client }

// openRueidis uses the default settings: it pipelines by itself.
func openRueidis(_ context.Context, addrs []string, _ int) (target, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs})
	if err != nil {
		return nil, err
	}
	return rueidisTarget{c}, nil
}

func (r rueidisTarget) close() { r.c.Close() }

func (r rueidisTarget) worker(ctx context.Context) worker {
	return &rueidisWorker{ctx: ctx, c: r.c}
}

type rueidisWorker struct {
	ctx  context.Context
	c    rueidis.Client
	cmds rueidis.Commands
}

func (w *rueidisWorker) get(key string, size int) error {
	v, err := w.c.Do(w.ctx, w.c.B().Get().Key(key).Build()).ToString()
	if err != nil {
		return err
	}
	return checkSize(len(v), size)
}

func (w *rueidisWorker) set(key, value string) error {
	return w.c.Do(w.ctx, w.c.B().Set().Key(key).Value(value).Build()).Error()
}

func (w *rueidisWorker) getMany(keys []string, size int) error {
	w.cmds = w.cmds[:0]
	for _, key := range keys {
		w.cmds = append(w.cmds, w.c.B().Get().Key(key).Build())
	}
	for _, r := range w.c.DoMulti(w.ctx, w.cmds...) {
		v, err := r.ToString()
		if err != nil {
			return err
		}
		if err := checkSize(len(v), size); err != nil {
			return err
		}
	}
	return nil
}

func (w *rueidisWorker) setMany(keys []string, value string) error {
	w.cmds = w.cmds[:0]
	for _, key := range keys {
		w.cmds = append(w.cmds, w.c.B().Set().Key(key).Value(value).Build())
	}
	for _, r := range w.c.DoMulti(w.ctx, w.cmds...) {
		if err := r.Error(); err != nil {
			return err
		}
	}
	return nil
}

// mget uses the helper that sends one MGET for each slot.
func (w *rueidisWorker) mget(keys []string, size int) error {
	values, err := rueidis.MGet(w.c, w.ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		m := values[key]
		v, err := m.ToString()
		if err != nil {
			return err
		}
		if err := checkSize(len(v), size); err != nil {
			return err
		}
	}
	return nil
}
