package redisc_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
	"github.com/bowline-kv/bowline/internal/devcluster"
)

// TestBowlineCluster runs every kind of call against three nodes of Bowline.
func TestBowlineCluster(t *testing.T) {
	nodes, err := devcluster.Start(devcluster.Options{Nodes: 3, Shards: 2, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := nodes.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	seed := []string{nodes.Nodes[1].Addrs()[0].String()}
	c := &redisc.Cluster{StartupNodes: seed, CreatePool: livePools}
	defer c.Close()
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	liveCommands(t, c, "")
	if n := len(c.Stats()); n != 3 {
		t.Errorf("%d pools of 3 nodes", n)
	}

	unaware := &redisc.Cluster{StartupNodes: seed} // learns from what it is answered
	defer unaware.Close()
	conn := retrying(t, unaware, 3)
	for i := range 50 {
		want(t, conn, "OK", "SET", fmt.Sprint("key:", i), i)
	}

	wide := &redisc.Cluster{StartupNodes: seed, CreatePool: livePools, SpreadPipelines: true}
	defer wide.Close()
	all := wide.Get()
	defer all.Close()
	keys := redis.Args{}
	for i := range 50 {
		keys = keys.Add(fmt.Sprint("key:", i))
		all.Send("INCR", keys[i])
	}
	if list, err := redis.Ints(all.Do("MGET", keys...)); err != nil || len(list) != 50 || list[49] != 50 {
		t.Errorf("MGET: %v, %v", list, err)
	}
}
