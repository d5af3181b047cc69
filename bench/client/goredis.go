package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// quiet keeps the client from writing a line for each connection that is refused.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func init() { redis.SetLogger(quiet{}) }

type goRedis struct {
	c      *redis.ClusterClient
	single redis.Cmdable // for single commands
}

// openGoRedis lets it pipeline the commands of several goroutines by itself. One
// goroutine alone is faster without. It does not load the map after a refused
// connection, so it does so every second; the default is a minute.
func openGoRedis(ctx context.Context, addrs []string, goroutines int) (target, error) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ClusterStateReloadInterval: time.Second})
	if err := c.Ping(ctx).Err(); err != nil {
		c.Close()
		return nil, err
	}
	g := goRedis{c: c, single: c}
	if goroutines > 1 {
		auto, err := c.AutoPipeline()
		if err != nil {
			c.Close()
			return nil, err
		}
		g.single = auto
	}
	return g, nil
}

func (g goRedis) close() { g.c.Close() }

func (g goRedis) worker(ctx context.Context) worker {
	return &goRedisWorker{ctx: ctx, goRedis: g}
}

type goRedisWorker struct {
	goRedis
	ctx   context.Context
	gets  []*redis.StringCmd
	value any // the value of SET, boxed once: that is the caller's doing
}

func (w *goRedisWorker) get(key string, size int) error {
	v, err := w.single.Get(w.ctx, key).Result()
	if err != nil {
		return err
	}
	return checkSize(len(v), size)
}

func (w *goRedisWorker) set(key, value string) error {
	if w.value == nil {
		w.value = value
	}
	return w.single.Set(w.ctx, key, w.value, 0).Err()
}

// getMany makes its own pipeline, which it needs no automatic one for; MGET over slots
// has no other way here.
func (w *goRedisWorker) getMany(keys []string, size int) error {
	p := w.c.Pipeline()
	w.gets = w.gets[:0]
	for _, key := range keys {
		w.gets = append(w.gets, p.Get(w.ctx, key))
	}
	if _, err := p.Exec(w.ctx); err != nil {
		return err
	}
	for _, cmd := range w.gets {
		v, err := cmd.Result()
		if err != nil {
			return err
		}
		if err := checkSize(len(v), size); err != nil {
			return err
		}
	}
	return nil
}

func (w *goRedisWorker) setMany(keys []string, value string) error {
	if w.value == nil {
		w.value = value
	}
	p := w.c.Pipeline()
	for _, key := range keys {
		p.Set(w.ctx, key, w.value, 0)
	}
	_, err := p.Exec(w.ctx)
	return err
}

func (w *goRedisWorker) mget(keys []string, size int) error { return w.getMany(keys, size) }
