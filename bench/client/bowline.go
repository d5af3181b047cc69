package main

import (
	"context"

	"github.com/bowline-kv/bowline/client"
)

type bowline struct{ c *client.Client }

// openBowline uses the default settings.
func openBowline(ctx context.Context, addrs []string, _ int) (target, error) {
	c, err := client.Open(ctx, client.Options{Addrs: addrs, RequireCluster: true})
	if err != nil {
		return nil, err
	}
	return bowline{c}, nil
}

func (b bowline) close() { b.c.Close() }

func (b bowline) worker(ctx context.Context) worker {
	return &bowlineWorker{ctx: ctx, c: b.c, pipe: b.c.Pipeline()}
}

type bowlineWorker struct {
	ctx   context.Context
	c     *client.Client
	pipe  *client.Pipeline
	value any // the value of SET, boxed once: that is the caller's doing
}

func (w *bowlineWorker) get(key string, size int) error {
	v, err := w.c.Get(w.ctx, key)
	if err != nil {
		return err
	}
	return checkSize(len(v), size)
}

func (w *bowlineWorker) set(key, value string) error {
	if w.value == nil {
		w.value = value
	}
	return w.c.Set(w.ctx, key, w.value)
}

func (w *bowlineWorker) getMany(keys []string, size int) error {
	for _, key := range keys {
		w.pipe.Do("GET", key)
	}
	replies, err := w.pipe.Exec(w.ctx)
	if err != nil {
		return err
	}
	for i := range replies {
		v, err := replies[i].Text()
		if err != nil {
			return err
		}
		if err := checkSize(len(v), size); err != nil {
			return err
		}
	}
	return nil
}

func (w *bowlineWorker) setMany(keys []string, value string) error {
	for _, key := range keys {
		w.pipe.Do("SET", key, value)
	}
	_, err := w.pipe.Exec(w.ctx)
	return err
}

func (w *bowlineWorker) mget(keys []string, size int) error {
	values, err := w.c.MGet(w.ctx, keys...)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == nil {
			return errMissing
		}
		if err := checkSize(len(*v), size); err != nil {
			return err
		}
	}
	return nil
}
