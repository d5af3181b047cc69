package clienttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/client"
)

func TestStalledNodeDelaysItsOwnKeysOnly(t *testing.T) {
	cluster := StartCluster(t, 2)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	stuck := cluster.Nodes[0]
	key, other := keyOf(cluster, stuck), keyOf(cluster, cluster.Nodes[1])
	mustSet(t, c, key, "x")
	mustSet(t, c, other, "y")

	stuck.Stall()
	stuck.Stall() // changes nothing
	if _, err := c.Get(soon(t), key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the stalled node answered: %v", err)
	}
	wantText(t, c, "y", other)
	stuck.Resume()
	stuck.Resume()
	wantText(t, c, "x", key)
}

// What was sent in a stall is executed after it.
func TestStalledCommandsAreExecutedLater(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs(), Timeout: -1})
	mustSet(t, c, "n", 0)
	n.Stall()
	result := make(chan error, 1)
	go func() {
		_, err := c.Incr(context.Background(), "n")
		result <- err
	}()
	waitFor(t, "a command that is sent before its deadline", func() bool {
		_, err := c.Incr(soon(t), "n")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the stalled node answered: %v", err)
		}
		return errors.Is(err, client.ErrMaybeExecuted)
	})
	n.Resume()
	if err := <-result; err != nil {
		t.Error(err)
	}
	waitFor(t, "both increments", func() bool {
		text, err := c.Get(t.Context(), "n")
		return text == "2" && err == nil
	})
}

// The client gives a connection up on which nothing comes.
func TestClientGivesUpAStalledConnection(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs(), Timeout: 500 * time.Millisecond})
	mustSet(t, c, "a", 1)
	n.Stall()
	if err := c.Set(t.Context(), "a", 2); !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	n.Resume()
	if err := c.Set(t.Context(), "a", 3); err != nil {
		t.Error(err)
	}
}

func TestKillEndsAStall(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs()})
	mustSet(t, c, "a", 1)
	n.Stall()
	result := make(chan error, 1)
	go func() { result <- c.Set(context.Background(), "a", 2) }()
	waitFor(t, "the command at the node", func() bool {
		select {
		case err := <-result:
			t.Fatalf("the stalled node answered: %v", err)
		default:
		}
		return n.door.keptBack() > 0
	})
	n.Kill()
	if err := <-result; !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	n.Restart()
	mustSet(t, c, "a", 3)
}

// A test need not end the faults that it made.
func TestEndWithinFaults(t *testing.T) {
	t.Run("test", func(t *testing.T) {
		cluster := StartCluster(t, 3)
		c := open(t, client.Options{Addrs: cluster.Addrs()})
		for _, n := range cluster.Nodes {
			mustSet(t, c, keyOf(cluster, n), 1)
		}
		cluster.Nodes[0].Stall()
		cluster.Nodes[1].CutAll(3)
		cluster.Nodes[2].Kill()
		cluster.AskSlot(1, cluster.Nodes[1])
		if err := c.Set(soon(t), keyOf(cluster, cluster.Nodes[0]), 2); err == nil {
			t.Error("the stalled node answered")
		}
	})
}

// The command was executed, and the client can't know.
func TestCutBeforeTheReply(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs(), ConnsPerNode: 1})
	mustSet(t, c, "n", 0)
	before := c.Stats()
	n.CutNext(0)
	if _, err := c.Incr(t.Context(), "n"); !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	wantText(t, c, "1", "n")
	waitFor(t, "the drop to be counted", func() bool { return c.Stats().Drops > 0 })
	if s := c.Stats(); s.Drops != 1 || s.Dials <= before.Dials {
		t.Errorf("one connection was to be cut off: %+v", s)
	}
}

func TestCutWithinTheReply(t *testing.T) {
	n := Start(t)
	long := strings.Repeat("v", 10_000)
	for name, opt := range map[string]client.Options{"default": {}, "retry": {RetryReads: true}} {
		t.Run(name, func(t *testing.T) {
			opt.Addrs = n.Addrs()
			opt.ConnsPerNode = 1
			c := open(t, opt)
			mustSet(t, c, "a", long)
			n.CutNext(5_000)
			got, err := c.Get(t.Context(), "a")
			if name == "default" && !errors.Is(err, client.ErrMaybeExecuted) {
				t.Errorf("got %v", err)
			}
			if name == "retry" && (got != long || err != nil) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			wantText(t, c, long, "a")
		})
	}
}

// Replies that are complete when the connection is cut off count.
func TestCutKeepsWholeReplies(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs(), ConnsPerNode: 1})
	mustSet(t, c, "n", 0)
	n.CutNext(len(":1\r\n:2\r\n"))
	p := c.Pipeline()
	for range 4 {
		p.Do("INCR", "n")
	}
	replies, err := p.Exec(t.Context())
	if !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	for i, r := range replies {
		got, err := r.Int()
		if i < 2 && (int(got) != i+1 || err != nil) || i >= 2 && !errors.Is(err, client.ErrMaybeExecuted) {
			t.Errorf("reply %d: %d, %v", i, got, err)
		}
	}
}

func TestCutAllUntilMended(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs(), DialAttempts: 2})
	mustSet(t, c, "a", 1)
	n.CutAll(0)
	if err := c.Set(t.Context(), "a", 2); !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("an open connection: %v", err)
	}
	waitFor(t, "an error of new connections", func() bool {
		err := c.Set(t.Context(), "a", 2)
		if err == nil {
			t.Fatal("a new connection works")
		}
		return !errors.Is(err, client.ErrMaybeExecuted)
	})
	n.Mend()
	mustSet(t, c, "a", 3)
}

func TestDisconnectedClientComesBack(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs()})
	mustSet(t, c, "a", 1)
	_, before := n.Conns()
	n.Disconnect()
	waitFor(t, "the client to notice", func() bool { return c.Stats().Drops > 0 })
	wantText(t, c, "1", "a")
	if _, after := n.Conns(); after <= before {
		t.Errorf("%d connections were accepted before, %d after", before, after)
	}
}
