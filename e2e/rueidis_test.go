package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/redis/rueidis"
)

func TestRueidisClusterClient(t *testing.T) {
	_, addrs := startDev(t)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs[:1]})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if mode := c.Mode(); mode != rueidis.ClientModeCluster {
		t.Errorf("the client takes it for %q", mode)
	}
	ctx := deadline(t)
	var all sync.WaitGroup
	for worker := range 10 {
		all.Go(func() {
			for i := range 100 {
				key := fmt.Sprintf("w%d:%d", worker, i)
				if err := c.Do(ctx, c.B().Set().Key(key).Value(key).Build()).Error(); err != nil {
					t.Error(err)
					return
				}
				if got, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString(); got != key || err != nil {
					t.Errorf("get %s: %q, %v", key, got, err)
					return
				}
			}
		})
	}
	all.Wait()
	var batch rueidis.Commands
	for i := range 500 {
		batch = append(batch, c.B().Incr().Key(fmt.Sprint("n", i)).Build())
	}
	for i, r := range c.DoMulti(ctx, batch...) {
		if n, err := r.AsInt64(); n != 1 || err != nil {
			t.Fatalf("incr n%d: %d, %v", i, n, err)
		}
	}
	values, err := rueidis.MGet(c, ctx, []string{"n1", "n2", "w1:1", "none"})
	if err != nil || len(values) != 4 {
		t.Fatalf("mget across slots: %v, %v", values, err)
	}
	two, none := values["n2"], values["none"]
	if n, err := two.AsInt64(); n != 1 || err != nil {
		t.Errorf("n2: %d, %v", n, err)
	}
	if !none.IsNil() {
		t.Errorf("none: %v", &none)
	}
	total := int64(0)
	for addr, node := range c.Nodes() {
		n, err := node.Do(ctx, node.B().Dbsize().Build()).AsInt64()
		if err != nil {
			t.Errorf("dbsize of %s: %v", addr, err)
		}
		total += n
	}
	if total != 1500 {
		t.Errorf("%d keys on all nodes, want 1500", total)
	}
}
