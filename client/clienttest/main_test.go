package clienttest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/slot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open connects a client that ends with the test.
func open(t *testing.T, opt client.Options) *client.Client {
	t.Helper()
	c, err := client.Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// keyOf finds a key whose slot the node serves.
func keyOf(c *Cluster, n *Node) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint("key:", i); c.Owner(key) == n {
			return key
		}
	}
}

func slotOf(key string) int { return int(slot.OfString(key)) }

func mustSet(t *testing.T, c *client.Client, key string, value any) {
	t.Helper()
	if err := c.Set(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, c *client.Client, want, key string) {
	t.Helper()
	if got, err := c.Get(t.Context(), key); got != want || err != nil {
		t.Fatalf("GET %s: %q, %v, want %q", key, got, err, want)
	}
}

// waitFor polls a condition until it holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// soon is the context of a command that is expected to get no answer.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// fakeTB is a test that is expected to fail.
type fakeTB struct {
	testing.TB
	failure string
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (f *fakeTB) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

// failure runs what is expected to end a test and gives the reason.
func failure(t *testing.T, run func(tb testing.TB)) string {
	t.Helper()
	f := &fakeTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	return f.failure
}

// keptBack counts the reads and writes that a stall holds back.
func (d *door) keptBack() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting
}
