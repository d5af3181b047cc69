package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// All commands of a pipeline wait together for a cluster that is down, not one after the
// other.
func TestContract17PipelineWaitsOnceForANodeThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{RetryTimeout: time.Second})
		f.node("a:1").kill()
		p := c.Pipeline()
		split := []any{"MGET"}
		for i := range 200 {
			p.Do("SET", keyA, i)
			split = append(split, fmt.Sprint("key", i))
		}
		began := time.Now()
		if _, err := p.Exec(context.Background()); !errors.Is(err, ErrNoNode) {
			t.Errorf("got %v", err)
		}
		if err := c.Do(context.Background(), split...).Err(); !errors.Is(err, ErrNoNode) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A node that can't be connected to holds up no commands for others, and nothing is sent
// when the context has ended.
func TestContract17NodeThatIsDialedHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		for _, key := range []string{keyA, keyB} {
			if err := c.Set(t.Context(), key, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, addr := range []string{"b:2", "c:3"} {
			f.node(addr).set(func(n *fakeNode) { n.stall = true })
		}
		f.node("b:2").dropAll()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		p := c.Pipeline()
		for _, key := range []string{keyB, keyA, keyC} {
			p.Do("SET", key, 1)
		}
		replies, _ := p.Exec(ctx)
		if err := replies[1].Err(); err != nil {
			t.Error(err)
		}
		for _, i := range []int{0, 2} {
			if err := replies[i].Err(); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrMaybeExecuted) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}
