package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func goRedisCluster(t *testing.T, addrs []string) *redis.ClusterClient {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs[:1]})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestGoRedisClusterClient(t *testing.T) {
	_, addrs := startDev(t)
	ctx, c := deadline(t), goRedisCluster(t, addrs)
	for i := range 500 {
		key := fmt.Sprint("key", i)
		if err := c.Set(ctx, key, i, time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Get(ctx, key).Int(); n != i || err != nil {
			t.Fatalf("get %s: %d, %v", key, n, err)
		}
	}
	if ttl, err := c.TTL(ctx, "key7").Result(); err != nil || ttl <= 0 || ttl > time.Hour {
		t.Errorf("ttl %v, %v", ttl, err)
	}
	if _, err := c.Get(ctx, "none").Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("get of a missing key: %v", err)
	}
	if err := c.MSet(ctx, "{t}a", 1, "{t}b", 2).Err(); err != nil {
		t.Error(err)
	}
	if got, err := c.MGet(ctx, "{t}a", "{t}b", "{t}c").Result(); fmt.Sprint(got) != "[1 2 <nil>]" || err != nil {
		t.Errorf("mget: %v, %v", got, err)
	}
	if got, err := c.ClusterInfo(ctx).Result(); err != nil || !strings.Contains(got, "cluster_state:ok") {
		t.Errorf("cluster info: %q, %v", got, err)
	}
}

func TestGoRedisPipelinesAcrossSlots(t *testing.T) {
	_, addrs := startDev(t)
	ctx, c := deadline(t), goRedisCluster(t, addrs)
	const keys = 2000
	for round := range 2 {
		results := make([]*redis.IntCmd, keys)
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range keys {
				results[i] = p.IncrBy(ctx, fmt.Sprint("n", i), int64(i))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Val() != int64(i*(round+1)) {
				t.Fatalf("n%d is %d after round %d", i, r.Val(), round)
			}
		}
	}
	var found sync.Map
	var nodes atomic.Int32
	err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		nodes.Add(1)
		walk := node.Scan(ctx, 0, "n*", 100).Iterator()
		for walk.Next(ctx) {
			if _, twice := found.LoadOrStore(walk.Val(), node.String()); twice {
				return fmt.Errorf("%s is found twice", walk.Val())
			}
		}
		return walk.Err()
	})
	count := 0
	found.Range(func(any, any) bool { count++; return true })
	if err != nil || count != keys || nodes.Load() != 3 {
		t.Errorf("walks over %d masters find %d keys, %v", nodes.Load(), count, err)
	}
}

func TestGoRedisPlainClient(t *testing.T) {
	_, addr := startServer(t, nil, "--requirepass", "open sesame")
	ctx := deadline(t)
	stranger := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer stranger.Close()
	if err := stranger.Get(ctx, "a").Err(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without password: %v", err)
	}
	c := redis.NewClient(&redis.Options{Addr: addr, Password: "open sesame", DB: 2, ClientName: "plain"})
	defer c.Close()
	if err := c.Set(ctx, "a", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Incr(ctx, "a").Result(); n != 2 || err != nil {
		t.Errorf("incr: %d, %v", n, err)
	}
	if ok, err := c.SetNX(ctx, "a", "other", 0).Result(); ok || err != nil {
		t.Errorf("set nx: %v, %v", ok, err)
	}
	if info, err := c.ClientInfo(ctx).Result(); err != nil || info.DB != 2 || info.Name != "plain" || info.LibName == "" || info.Resp != 3 {
		t.Errorf("client info: %+v, %v", info, err)
	}
	// Many goroutines share the pool.
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 100 {
				if err := c.Incr(ctx, "counter").Err(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if n, err := c.Get(ctx, "counter").Int(); n != 2000 || err != nil {
		t.Errorf("counter: %d, %v", n, err)
	}
}
