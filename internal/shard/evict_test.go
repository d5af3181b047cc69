package shard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

func TestEvictionComesBeforeLocks(t *testing.T) {
	tx := NewSpace(Options{}).NewTx()
	lockKey(tx, []byte("a"))
	defer tx.Unlock()
	defer func() {
		if recover() == nil {
			t.Error("eviction ran under a lock")
		}
	}()
	tx.MakeRoom()
}

// fill writes keys of about a kilobyte until one is refused or n are there.
func fill(tx *Tx, n int, expireAt func(i int) int64) (refused bool) {
	value := []byte(strings.Repeat("x", 1000))
	for i := range n {
		if !tx.MakeRoom() {
			return true
		}
		key := fmt.Appendf(nil, "key:%d", i)
		lockKey(tx, key)
		tx.SetRecord(key, store.String, value, expireAt(i))
		tx.EmitSet(key, value, expireAt(i))
		tx.Unlock()
	}
	return false
}

func TestMemoryStaysAtItsLimit(t *testing.T) {
	const limit = 1 << 20
	for name, policy := range policyNames {
		for _, expiring := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/expiring=%v", name, expiring), func(t *testing.T) {
				var r recorder
				sp := NewSpace(Options{Databases: 2, Hooks: &r, Seed: 1})
				tx := sp.NewTx()
				tx.Now, tx.DB = 1e12, 1
				m := memoryDefault
				m.Limit, m.Policy = limit, policy
				sp.SetMemory(m)
				refused := fill(tx, 3000, func(i int) int64 {
					if expiring {
						return 2e12 + int64(i)
					}
					return 0
				})
				possible := policy != NoEviction && (expiring || !policy.volatile())
				if refused == possible {
					t.Errorf("refused is %v", refused)
				}
				o := tx.Overview()
				if used := o.Bytes(); used > limit+2000 || used != sp.UsedBytes() || used < limit*9/10 {
					t.Errorf("%d bytes are used, %d counted, of %d", used, sp.UsedBytes(), limit)
				}
				evicted := 0
				for _, e := range r.take() {
					if strings.HasSuffix(e, " evicted") {
						evicted++
					}
				}
				if uint64(evicted) != o.Stats.Evicted || (evicted > 0) != possible {
					t.Errorf("%d keys were evicted, %d counted", evicted, o.Stats.Evicted)
				}
			})
		}
	}
}

func TestSlotStateIsReadUnderTheLock(t *testing.T) {
	sp := NewSpace(Options{})
	id := slot.OfString("a")
	tx := sp.NewTx()
	for _, state := range []SlotState{SlotElsewhere, SlotServed} {
		lockKey(tx, []byte("a"))
		before := tx.SlotState(id)
		changed := make(chan struct{})
		go func() {
			sp.Shards()[0].SetSlot(id, state)
			close(changed)
		}()
		for range 1000 {
			if tx.SlotState(id) != before {
				t.Fatal("the state changed under the lock")
			}
		}
		tx.Unlock()
		<-changed
		lockKey(tx, []byte("a"))
		if tx.SlotState(id) != state {
			t.Error("the change was lost")
		}
		tx.Unlock()
	}
}

func TestAccessBits(t *testing.T) {
	m := memoryDefault
	m.Policy = AllKeysLFU
	now := int64(1e12)
	access := m.fresh(now)
	if n := m.counter(access, now); n != counterStart {
		t.Errorf("a new key has counter %d", n)
	}
	for range 20 {
		access = m.used(access, now, 0) // chance always says yes
	}
	if n := m.counter(access, now); n != counterStart+20 {
		t.Errorf("counter %d after 20 uses", n)
	}
	if n := m.counter(access, now+10*60000); n != counterStart+10 {
		t.Errorf("counter %d ten idle minutes later", n)
	}
	if n := m.counter(access, now+1000*60000); n != 0 {
		t.Errorf("counter %d a thousand idle minutes later", n)
	}
	for range 1000 {
		access = m.used(access, now, 0)
	}
	if n := m.counter(access, now); n != counterMax {
		t.Errorf("counter %d after a thousand uses", n)
	}
	m.Policy = AllKeysLRU
	access = m.fresh(now)
	for _, idle := range []int64{0, 1, 59, 100000, 1<<24 - 1} {
		if got := idleSeconds(access, now+1000*idle); got != idle {
			t.Errorf("idle for %d s, want %d", got, idle)
		}
	}
}
