package devcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/slot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	o.Version, o.Log = "test", slog.New(slog.DiscardHandler)
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Every key is served by one node, and every other node names that one.
func TestEveryNodeKnowsWhoServesAKey(t *testing.T) {
	c := start(t, Options{Nodes: 3, Shards: 2})
	if !c.Map.Covered() || len(c.Nodes) != 3 {
		t.Fatalf("%d nodes, %d slots", len(c.Nodes), c.Map.Assigned())
	}
	conns := make([]*redistest.Conn, 3)
	for i, n := range c.Nodes {
		conns[i] = redistest.Dial(t, "tcp", n.Addrs()[0].String())
	}
	for i := range 300 {
		key := fmt.Sprint("k", i)
		s := slot.Of([]byte(key))
		g, _, _ := c.Map.Owner(s)
		owner := net.JoinHostPort(g.Primary().Host, fmt.Sprint(g.Primary().Port))
		for j, conn := range conns {
			want := fmt.Sprintf("MOVED %d %s", s, owner)
			if c.Nodes[j].Addrs()[0].String() == owner {
				want = "OK"
			}
			if got := fmt.Sprint(conn.Do("SET", key, "v")); got != want {
				t.Fatalf("SET %s on node %d: %s, want %s", key, j, got, want)
			}
		}
	}
	slots := fmt.Sprint(conns[0].Do("CLUSTER", "SLOTS"))
	for _, conn := range conns[1:] {
		if got := fmt.Sprint(conn.Do("CLUSTER", "SLOTS")); got != slots {
			t.Errorf("two nodes disagree:\n%s\n%s", slots, got)
		}
	}
}

// Clients remember ids, so that they must not change from one start to the next.
func TestIdsAreTheSameAtEveryStart(t *testing.T) {
	a, b := start(t, Options{Nodes: 2}), start(t, Options{Nodes: 2})
	for i, g := range a.Map.Groups {
		if other := b.Map.Groups[i]; g.ID != other.ID || g.Primary().ID != other.Primary().ID {
			t.Errorf("group %d: ids %s %s and %s %s", i, g.ID, g.Primary().ID, other.ID, other.Primary().ID)
		}
	}
}

func TestSizesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, nodes := range []int{-1, 0, NodesMax + 1} {
		if c, err := Start(Options{Nodes: nodes, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "between 1 and 64") {
			t.Errorf("%d nodes: %v, %v", nodes, c, err)
		}
	}
	if _, err := Start(Options{Nodes: 3, Shards: slot.Count, Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("more shards than slots were accepted")
	}
}

// When a node can't start, those before it are stopped and all ports closed.
func TestFailedStartLeavesNothingRunning(t *testing.T) {
	cause := errors.New("no such setting")
	_, err := Start(Options{Nodes: 3, Log: slog.New(slog.DiscardHandler), Configure: func(i int, _ *config.Config) error {
		if i == 2 {
			return cause
		}
		return nil
	}})
	if !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "start node 3: ") {
		t.Errorf("error %v", err)
	}
}

func TestConfigureChangesEachNode(t *testing.T) {
	c := start(t, Options{Nodes: 2, Configure: func(i int, cfg *config.Config) error {
		return cfg.Load("maxclients", []string{fmt.Sprint(100 + i)}, "test")
	}})
	for i, n := range c.Nodes {
		got := redistest.Dial(t, "tcp", n.Addrs()[0].String()).Do("CONFIG", "GET", "maxclients")
		if want := fmt.Sprintf("[maxclients %d]", 100+i); fmt.Sprint(got) != want {
			t.Errorf("node %d: %v, want %s", i, got, want)
		}
	}
}
