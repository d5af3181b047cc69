package devcluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// TestMessagesReachTheListenersOfEveryNode publishes on each node of a cluster.
func TestMessagesReachTheListenersOfEveryNode(t *testing.T) {
	c := start(t, Options{Nodes: 3})
	dial := func(i int) *redistest.Conn { return redistest.Dial(t, "tcp", c.Nodes[i].Addrs()[0].String()) }
	var listeners []*redistest.Conn
	for i := range c.Nodes {
		l := dial(i)
		l.Do("SUBSCRIBE", "news")
		listeners = append(listeners, l)
	}
	for i := range c.Nodes {
		publisher := dial(i)
		for _, text := range []string{"one", "two", "three"} {
			// The reply counts the listeners of the node that was asked.
			if got := publisher.Do("PUBLISH", "news", text); got != int64(1) {
				t.Errorf("PUBLISH on node %d gives %v", i+1, got)
			}
		}
		for n, l := range listeners {
			for _, text := range []string{"one", "two", "three"} {
				if diff := cmp.Diff([]any{"message", "news", text}, l.Receive()); diff != "" {
					t.Fatalf("published on node %d, heard on node %d: %s", i+1, n+1, diff)
				}
			}
		}
	}
	// A shard channel stays in its slot, and the others redirect to its node.
	moved := 0
	for i := range c.Nodes {
		switch got := dial(i).Do("SSUBSCRIBE", "news").(type) {
		case redistest.Error:
			moved++
		case []any:
			if diff := cmp.Diff([]any{"ssubscribe", "news", int64(1)}, got); diff != "" {
				t.Error(diff)
			}
		}
	}
	if moved != 2 {
		t.Errorf("%d nodes redirect a shard channel, want 2", moved)
	}
}
