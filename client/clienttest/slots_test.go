package clienttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/resp"
)

// held counts the keys that a node has, in all slots.
func held(t *testing.T, n *Node) int {
	t.Helper()
	l, err := n.link()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	v, err := l.do("DBSIZE")
	if err != nil {
		t.Fatal(err)
	}
	return int(v.Int)
}

func TestMovedSlotIsFollowedOnce(t *testing.T) {
	cluster := StartCluster(t, 3)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	from, to := cluster.Nodes[0], cluster.Nodes[2]
	key := keyOf(cluster, from)
	same := func(name string) string { return "{" + key + "}" + name }
	mustSet(t, c, key, "value")
	if _, err := c.RPush(t.Context(), same("list"), "a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), "SET", same("short"), "x", "PX", 3_600_000).Err(); err != nil {
		t.Fatal(err)
	}

	cluster.MoveSlot(slotOf(key), to)
	if cluster.Owner(key) != to {
		t.Errorf("the map names %s", cluster.Owner(key).Addr())
	}
	wantText(t, c, "value", key)
	wantText(t, c, "value", key)
	if s := c.Stats(); s.Moved != 1 || s.Ask != 0 || s.TryAgain != 0 {
		t.Errorf("redirections: %+v", s)
	}
	if list, err := c.LRange(t.Context(), same("list"), 0, -1); fmt.Sprint(list) != "[a b]" || err != nil {
		t.Errorf("the list: %v, %v", list, err)
	}
	if ms, err := c.PTTL(t.Context(), same("short")); ms <= 0 || ms > 3_600_000 || err != nil {
		t.Errorf("the time to live: %d, %v", ms, err)
	}
	if a, b := held(t, from), held(t, to); a != 0 || b != 3 {
		t.Errorf("the old owner has %d keys, the new one %d", a, b)
	}
	// A restart does not bring the old map back.
	from.Kill()
	from.Restart()
	fresh := open(t, client.Options{Addrs: from.Addrs()})
	wantText(t, fresh, "value", key)
	if s := fresh.Stats(); s.Moved != 0 {
		t.Errorf("a node had the old map: %+v", s)
	}
}

func TestAskIsFollowedEachTime(t *testing.T) {
	cluster := StartCluster(t, 2)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	owner, other := cluster.Nodes[0], cluster.Nodes[1]
	key := keyOf(cluster, owner)
	mustSet(t, c, key, "value")

	cluster.AskSlot(slotOf(key), other)
	cluster.AskSlot(slotOf(key), other) // changes nothing
	for range 3 {
		wantText(t, c, "value", key)
	}
	mustSet(t, c, "{"+key+"}new", 1)
	if s := c.Stats(); s.Ask != 4 || s.Moved != 0 {
		t.Errorf("redirections: %+v", s)
	}
	if executed, _ := other.Calls("asking"); executed < 4 {
		t.Errorf("the other node got %d ASKING", executed)
	}
	if cluster.Owner(key) != owner {
		t.Error("the map has changed")
	}
	// Who comes to the other node without ASKING is sent back.
	l, err := other.link()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var refused *resp.Error
	if _, err := l.do("GET", key); !errors.As(err, &refused) || refused.Error() != fmt.Sprintf("MOVED %d %s", slotOf(key), owner.Addr()) {
		t.Errorf("without ASKING: %v", err)
	}

	cluster.MoveSlot(slotOf(key), other)
	wantText(t, c, "value", key)
	wantText(t, c, "value", key)
	if s := c.Stats(); s.Ask != 4 || s.Moved != 1 {
		t.Errorf("redirections after the move: %+v", s)
	}
}

// A move that was begun can be taken back.
func TestSlotGoesBackToItsOwner(t *testing.T) {
	cluster := StartCluster(t, 3)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	owner := cluster.Nodes[0]
	key := keyOf(cluster, owner)
	mustSet(t, c, key, "value")
	cluster.AskSlot(slotOf(key), cluster.Nodes[1])
	cluster.AskSlot(slotOf(key), cluster.Nodes[2])
	wantText(t, c, "value", key)
	cluster.MoveSlot(slotOf(key), owner)
	wantText(t, c, "value", key)
	if s := c.Stats(); s.Ask != 1 || s.Moved != 0 {
		t.Errorf("redirections: %+v", s)
	}
	for i, want := range []int{1, 0, 0} {
		if got := held(t, cluster.Nodes[i]); got != want {
			t.Errorf("node %d has %d keys, want %d", i, got, want)
		}
	}
}

func TestRefusedSlotIsTriedAgain(t *testing.T) {
	cluster := StartCluster(t, 2)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	key := keyOf(cluster, cluster.Nodes[0])
	cluster.RefuseSlot(slotOf(key), "TRYAGAIN soon")
	var refused *resp.Error
	if err := c.Set(t.Context(), key, "x"); !errors.As(err, &refused) || refused.Error() != "TRYAGAIN soon" {
		t.Errorf("got %v", err)
	}
	if s := c.Stats(); s.TryAgain < 2 {
		t.Errorf("it was tried %d times", s.TryAgain)
	}
	mustSet(t, c, keyOf(cluster, cluster.Nodes[1]), "y")
	cluster.AllowSlot(slotOf(key))
	if _, err := c.Get(t.Context(), key); !errors.Is(err, client.ErrNil) {
		t.Errorf("a refused command has an effect: %v", err)
	}
}

// No increment is lost or counted twice while slots move to and fro.
func TestMovesUnderLoad(t *testing.T) {
	cluster := StartCluster(t, 3)
	c := open(t, client.Options{Addrs: cluster.Addrs()})
	key := keyOf(cluster, cluster.Nodes[0])
	ctx, stop := context.WithCancel(t.Context())
	var acked atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				_, err := c.Incr(context.Background(), key)
				// A command can come upon one move after the other, and is given up then. It
				// was not executed.
				if errors.Is(err, client.ErrMaybeExecuted) {
					t.Error(err)
				}
				if err == nil {
					acked.Add(1)
				}
			}
		})
	}
	for i := range 20 {
		to := cluster.Nodes[(i+1)%3]
		if i%2 == 0 && cluster.Owner(key) != to {
			cluster.AskSlot(slotOf(key), to)
		} else {
			cluster.MoveSlot(slotOf(key), to)
		}
		before := acked.Load()
		waitFor(t, "increments", func() bool { return acked.Load() > before+5 || t.Failed() })
	}
	stop()
	group.Wait()
	wantText(t, c, fmt.Sprint(acked.Load()), key)
}

// A dead owner's slot can be given to another node, which has nothing of it.
func TestSlotOfADeadNodeIsTakenOver(t *testing.T) {
	cluster := StartCluster(t, 2)
	c := open(t, client.Options{Addrs: cluster.Addrs(), ReloadMin: time.Millisecond})
	dead, heir := cluster.Nodes[0], cluster.Nodes[1]
	key := keyOf(cluster, dead)
	mustSet(t, c, key, "lost")
	dead.Kill()
	waitFor(t, "the client to notice", func() bool { return c.Stats().Drops > 0 })
	cluster.MoveSlot(slotOf(key), heir)
	if _, err := c.Get(t.Context(), key); !errors.Is(err, client.ErrNil) {
		t.Errorf("got %v", err)
	}
	mustSet(t, c, key, "new")
}
