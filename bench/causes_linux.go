package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// cause is something big that must keep nobody waiting.
type cause struct {
	name    string
	prepare func(ctx context.Context, st *stage) error // before the idle time; may be nil
	await   func(ctx context.Context, st *stage) error // before the meters begin; may be nil
	act     func(ctx context.Context, st *stage) error
	linger  time.Duration // how long the server may go on with it afterwards
}

// stage is a server with what a cause has put there.
type stage struct {
	*client
	server  *server
	plan    *plan
	expires time.Time
}

// do is client.do for commands whose reply only has to be no error.
func (st *stage) do(args ...string) error {
	var v resp.Value
	v, err := st.client.do(args...)
	if err == nil {
		err = v.Err()
	}
	return err
}

// command sends one command; a server may work on it for a while.
func command(args ...string) func(context.Context, *stage) error {
	return func(_ context.Context, st *stage) error { return st.do(args...) }
}

// traffic is one connection with a short pipeline: a long one would keep the GETs
// waiting behind ordinary commands, which is not the question here.
func traffic(workload string, pipeline int, o order, count func(keys int64) int64) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		keys := st.plan.stallKeys
		spec := loadSpec{Workload: workload, Connections: 1, Pipeline: pipeline, ValueBytes: 16, Keys: keys}
		return walk(ctx, st.server, spec, loadOrder{Commands: count(keys), Order: o})
	}
}

func fillStage(ctx context.Context, st *stage) error {
	return fill(ctx, st.server, findWorkload("SET"), st.plan.stallKeys, 16)
}

func setBigStage(_ context.Context, st *stage) error { return st.setBig(bigKey, st.plan.stallBytes) }

// causes lists the rows about stalls; each has two, see places.
func (b *bench) causes() []cause {
	keys, size := countName(b.plan.stallKeys), fmt.Sprintf("%dMiB", b.plan.stallBytes>>20)
	const pipeline = 16
	all := func(keys int64) int64 { return keys }
	tenth := func(keys int64) int64 { return keys / 10 }
	causes := []cause{
		{name: "del-" + size, prepare: setBigStage, act: command("DEL", bigKey), linger: time.Second},
		{name: "unlink-" + size, prepare: setBigStage, act: command("UNLINK", bigKey), linger: time.Second},
		{name: "expire-" + keys, prepare: expiringStage, await: awaitExpiry, act: expireStage, linger: time.Second},
		{name: "flushall-async-" + keys, prepare: fillStage, act: command("FLUSHALL", "ASYNC"), linger: time.Second},
		{name: "flushdb-sync-" + keys, prepare: fillStage, act: command("FLUSHDB", "SYNC"), linger: time.Second},
		{name: "grow-set-" + keys, act: traffic("SET", pipeline, orderOnce, all), linger: time.Second},
		{name: "grow-mset-" + keys, act: traffic("MSET10", 1, orderOnce, tenth), linger: time.Second},
		{name: "del-most-" + keys, prepare: fillStage, act: traffic(deletion.name, pipeline, orderMost, countMost), linger: 3 * time.Second},
	}
	causes = append(causes, cause{name: "snapshot-" + keys, prepare: fillStage, act: snapshot()})
	for i := range collections {
		if w := &collections[i]; w.key != "" {
			causes = append(causes, cause{
				name: "del-" + w.name + "-" + keys, prepare: collectionStage(w), act: command("DEL", w.key), linger: time.Second,
			}, cause{
				name: "snapshot-" + w.name + "-" + keys, prepare: collectionStage(w), act: snapshot(oneMore[w.name]...),
			})
		}
	}
	return causes
}

// oneMore are commands that change a collection once.
var oneMore = map[string][]string{
	"zset": {"ZADD", "zset", "0.5", "more"}, "set": {"SADD", "set", "more"}, "list": {"LPUSH", "list", "more"},
}

// snapshot has one written, and sends a command once it has begun, if there is one.
func snapshot(during ...string) func(context.Context, *stage) error {
	return func(ctx context.Context, st *stage) error {
		if err := st.do("BGSAVE"); err != nil {
			return err
		}
		if during != nil {
			if err := st.do(during...); err != nil {
				return err
			}
		}
		for {
			if saving, err := saves(st.server); err != nil || !saving {
				return err
			}
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
	}
}

// collectionStage makes one large collection.
func collectionStage(w *workload) func(ctx context.Context, st *stage) error {
	return func(ctx context.Context, st *stage) error { return fill(ctx, st.server, w, st.plan.stallKeys, 0) }
}

const (
	// expiryWave is the time within which the keys of the stall row expire.
	expiryWave = 100 * time.Millisecond
	// expiryLead is how long before the first of them the meters begin.
	expiryLead = 50 * time.Millisecond
	// expiryMost is how long a server may take to remove what has expired.
	expiryMost = time.Minute
)

var errLate = errors.New("the keys were to expire before they were all there")

// fillExpiring puts keys into a server that expire within spread from a moment on
// that is at least ready away when they are all there. It tries again with more
// time when that turns out to be too little.
func fillExpiring(ctx context.Context, s *server, keys int64, spread, ready time.Duration) (time.Time, error) {
	margin := ready + 2*time.Second + time.Duration(keys)*3*time.Microsecond
	for try := 0; ; try++ {
		at := time.Now().Add(margin)
		spec := loadSpec{
			Workload: expiring.name, ValueBytes: 16, Keys: keys,
			Expiry: at.UnixMilli(), ExpirySpread: spread.Milliseconds(),
		}
		if err := walk(ctx, s, spec, loadOrder{Commands: keys, Order: orderOnce}); err != nil {
			return at, err
		}
		if time.Until(at) >= ready {
			return at, nil
		}
		if try == 2 {
			return at, errLate
		}
		margin *= 2
	}
}

func expiringStage(ctx context.Context, st *stage) (err error) {
	st.expires, err = fillExpiring(ctx, st.server, st.plan.stallKeys, expiryWave, st.plan.stallIdle+time.Second)
	return err
}

func awaitExpiry(ctx context.Context, st *stage) error {
	left := time.Until(st.expires) - expiryLead
	if left < 0 {
		return errLate
	}
	return pause(ctx, left)
}

// expireStage waits until all but the meters' keys are gone.
func expireStage(ctx context.Context, st *stage) error {
	const period = 100 * time.Millisecond
	if err := pause(ctx, time.Until(st.expires)+expiryWave); err != nil {
		return err
	}
	for deadline := time.Now().Add(expiryMost); time.Now().Before(deadline); {
		n, err := st.size()
		if err != nil || n <= int64(len(places)) {
			return err
		}
		if err := pause(ctx, period); err != nil {
			return err
		}
	}
	return nil
}

// size is the number of keys.
func (c *client) size() (int64, error) {
	v, err := c.do("DBSIZE")
	if err == nil {
		err = v.Err()
	}
	return v.Int, err
}
