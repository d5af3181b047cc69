package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/client/clienttest"
	"github.com/bowline-kv/bowline/slot"
)

// example stands for the *testing.T of a test.
type example struct {
	testing.TB
	cleanups []func()
}

func (e *example) Helper()          {}
func (e *example) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (e *example) end() {
	for len(e.cleanups) > 0 {
		last := len(e.cleanups) - 1
		e.cleanups[last]()
		e.cleanups = e.cleanups[:last]
	}
}

func ExampleStart() {
	t := &example{} // in a test: its *testing.T
	defer t.end()
	ctx := context.Background()
	n := clienttest.Start(t)
	c, err := client.Open(ctx, client.Options{Addrs: n.Addrs()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	fmt.Println(c.Set(ctx, "greeting", "hello"))
	executed, refused := n.Calls("set")
	fmt.Println(executed, refused)
	// Output:
	// <nil>
	// 1 0
}

func ExampleCluster_MoveSlot() {
	t := &example{}
	defer t.end()
	ctx := context.Background()
	cluster := clienttest.StartCluster(t, 3)
	c, err := client.Open(ctx, client.Options{Addrs: cluster.Addrs()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	fmt.Println(c.Set(ctx, "foo", "bar")) // slot 12182, of the third node

	cluster.MoveSlot(int(slot.OfString("foo")), cluster.Nodes[0])
	fmt.Println(c.Get(ctx, "foo"))
	fmt.Println("redirected:", c.Stats().Moved)
	// Output:
	// <nil>
	// bar <nil>
	// redirected: 1
}

// A reply that does not arrive leaves open whether the command was executed.
func ExampleNode_CutNext() {
	t := &example{}
	defer t.end()
	ctx := context.Background()
	n := clienttest.Start(t)
	c, err := client.Open(ctx, client.Options{Addrs: n.Addrs()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	if err := c.Set(ctx, "visits", 0); err != nil {
		t.Fatalf("set: %v", err)
	}

	n.CutNext(0)
	_, err = c.Incr(ctx, "visits")
	fmt.Println(errors.Is(err, client.ErrMaybeExecuted))
	fmt.Println(c.Get(ctx, "visits"))
	// Output:
	// true
	// 1 <nil>
}

func ExampleOptions_StartCluster() {
	t := &example{}
	defer t.end()
	opt := clienttest.Options{Settings: map[string]string{"requirepass": "secret"}}
	cluster := opt.StartCluster(t, 2)
	c, err := client.Open(context.Background(), client.Options{Addrs: cluster.Addrs(), Password: "secret"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	fmt.Println(len(cluster.Nodes), "nodes")
	// Output: 2 nodes
}
