package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/slot"
	"github.com/gomodule/redigo/redis"
)

// redigo knows no clusters. So the load does by hand what its users do: a pool for each
// node with a connection for each goroutine, the map loaded by CLUSTER SLOTS and again
// after an error, and pipelines sorted by node.
type redigo struct {
	seeds []string
	idle  int
	table atomic.Pointer[redigoMap]
	pools map[string]*redis.Pool // all that were ever needed; only load changes it
}

type redigoMap struct {
	pools []*redis.Pool
	of    [slot.Count]int // the place in pools
}

func openRedigo(_ context.Context, addrs []string, goroutines int) (target, error) {
	r := &redigo{seeds: addrs, idle: goroutines, pools: map[string]*redis.Pool{}}
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *redigo) close() {
	for _, p := range r.pools {
		p.Close()
	}
}

// load asks the seeds, in any order, for the map.
func (r *redigo) load() error {
	var errs []error
	for _, i := range rand.Perm(len(r.seeds)) {
		m, err := r.ask(r.seeds[i])
		if err == nil {
			r.table.Store(m)
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

const redigoTimeout = time.Second

func (r *redigo) ask(addr string) (*redigoMap, error) {
	c, err := redis.Dial("tcp", addr, redis.DialConnectTimeout(redigoTimeout), redis.DialReadTimeout(redigoTimeout))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ranges, err := redis.Values(c.Do("CLUSTER", "SLOTS"))
	if err != nil {
		return nil, err
	}
	m, places := &redigoMap{}, map[string]int{}
	for _, entry := range ranges {
		var first, last int
		var node []any
		if _, err := redis.Scan(entry.([]any), &first, &last, &node); err != nil {
			return nil, err
		}
		var host string
		var port int
		if _, err := redis.Scan(node, &host, &port); err != nil {
			return nil, err
		}
		at := fmt.Sprintf("%s:%d", host, port)
		n, known := places[at]
		if !known {
			n = len(m.pools)
			places[at], m.pools = n, append(m.pools, r.pool(at))
		}
		for i := first; i <= last; i++ {
			m.of[i] = n
		}
	}
	return m, nil
}

func (r *redigo) pool(addr string) *redis.Pool {
	if p := r.pools[addr]; p != nil {
		return p
	}
	p := &redis.Pool{
		MaxIdle: r.idle,
		Dial:    func() (redis.Conn, error) { return redis.Dial("tcp", addr, redis.DialConnectTimeout(redigoTimeout)) },
	}
	r.pools[addr] = p
	return p
}

func (r *redigo) worker(context.Context) worker { return &redigoWorker{r: r} }

type redigoWorker struct {
	r     *redigo
	conns []redis.Conn
	at    []int
	value any
}

func (w *redigoWorker) do(key, command string, args ...any) (any, error) {
	m := w.r.table.Load()
	c := m.pools[m.of[slot.OfString(key)]].Get()
	defer c.Close()
	return c.Do(command, args...)
}

func (w *redigoWorker) get(key string, size int) error {
	v, err := redis.String(w.do(key, "GET", key))
	if err != nil {
		return err
	}
	return checkSize(len(v), size)
}

func (w *redigoWorker) set(key, value string) error {
	if w.value == nil {
		w.value = value
	}
	_, err := w.do(key, "SET", key, w.value)
	return err
}

// each sends one command for every key in one pipeline a node, all nodes at the same
// time, and reads the replies in the order of the keys.
func (w *redigoWorker) each(keys []string, send func(redis.Conn, string) error, take func(any, error) error) error {
	m := w.r.table.Load()
	w.conns = append(w.conns[:0], make([]redis.Conn, len(m.pools))...)
	w.at = w.at[:0]
	for _, key := range keys {
		n := m.of[slot.OfString(key)]
		if w.conns[n] == nil {
			w.conns[n] = m.pools[n].Get()
			defer w.conns[n].Close()
		}
		if err := send(w.conns[n], key); err != nil {
			return err
		}
		w.at = append(w.at, n)
	}
	for _, c := range w.conns {
		if c != nil {
			if err := c.Flush(); err != nil {
				return err
			}
		}
	}
	for _, n := range w.at {
		if err := take(w.conns[n].Receive()); err != nil {
			return err
		}
	}
	return nil
}

func (w *redigoWorker) getMany(keys []string, size int) error {
	return w.each(keys,
		func(c redis.Conn, key string) error { return c.Send("GET", key) },
		func(reply any, err error) error {
			v, err := redis.String(reply, err)
			if err != nil {
				return err
			}
			return checkSize(len(v), size)
		})
}

func (w *redigoWorker) setMany(keys []string, value string) error {
	if w.value == nil {
		w.value = value
	}
	return w.each(keys,
		func(c redis.Conn, key string) error { return c.Send("SET", key, w.value) },
		func(_ any, err error) error { return err })
}

// mget sends single GETs: the slots of the keys differ, so there is no larger MGET.
func (w *redigoWorker) mget(keys []string, size int) error { return w.getMany(keys, size) }
