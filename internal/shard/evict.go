package shard

import (
	"slices"
	"sync"

	"github.com/bowline-kv/bowline/internal/store"
)

// Policy says which keys are evicted when memory is short.
type Policy uint8

// The policies, in Redis's words.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
)

var policyNames = map[string]Policy{
	"noeviction": NoEviction, "allkeys-lru": AllKeysLRU, "allkeys-lfu": AllKeysLFU, "allkeys-random": AllKeysRandom,
	"volatile-lru": VolatileLRU, "volatile-lfu": VolatileLFU, "volatile-random": VolatileRandom, "volatile-ttl": VolatileTTL,
}

// ParsePolicy finds a policy by its name in Redis; false when there is none.
func ParsePolicy(name string) (Policy, bool) {
	p, ok := policyNames[name]
	return p, ok
}

func (p Policy) often() bool    { return p == AllKeysLFU || p == VolatileLFU }
func (p Policy) volatile() bool { return p >= VolatileLRU }
func (p Policy) random() bool   { return p == AllKeysRandom || p == VolatileRandom }

// Memory is how much memory keys and values may take, and what happens then.
type Memory struct {
	// Limit is in bytes; 0: no limit.
	Limit  int64
	Policy Policy
	// Samples is how many keys are looked at to find one to evict, at least 1.
	Samples int
	// LogFactor and DecayMinutes are the settings lfu-log-factor and lfu-decay-time.
	LogFactor    int64
	DecayMinutes int64
}

// memoryDefault is what Redis does without settings.
var memoryDefault = Memory{Samples: 5, LogFactor: 10, DecayMinutes: 1}

// SetMemory changes the limit and the policy. What memory is used is counted
// anew, so that it is exact from here on.
func (sp *Space) SetMemory(m Memory) {
	m.Samples = max(m.Samples, 1)
	tx := sp.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	sp.memory.Store(&m)
	used := int64(0)
	for _, sh := range sp.shards {
		for i := range sh.stripes {
			st := &sh.stripes[i]
			bytes, keys := st.measure()
			st.bytes = bytes
			st.published.Store(int64(keys))
			used += bytes
		}
	}
	sp.used.Store(used)
	sp.candidates.clear()
}

// UsedBytes is the memory of keys and values, as the limit counts it; exact only
// while there is a limit.
func (sp *Space) UsedBytes() int64 { return sp.used.Load() }

// measure counts what a stripe holds; its lock is held.
func (st *stripe) measure() (bytes int64, keys int) {
	for _, t := range st.tables {
		if t != nil {
			bytes += t.Bytes()
			keys += t.Len()
		}
	}
	return bytes, keys
}

// account updates the memory in use after a change in a locked stripe.
func (sp *Space) account(st *stripe) {
	bytes, keys := st.measure()
	if bytes != st.bytes {
		sp.used.Add(bytes - st.bytes)
	}
	st.bytes = bytes
	st.published.Store(int64(keys))
}

// candidatesMax is how many keys that were good to evict are remembered.
const candidatesMax = 16

// candidates are the best keys to evict among those that were looked at, in
// ascending order of their score: comparing with those of earlier rounds makes
// a few samples each time nearly as good as looking at all keys.
type candidates struct {
	mu   sync.Mutex
	list []candidate // guarded by mu
}

type candidate struct {
	score  int64
	shard  *Shard
	stripe int
	db     int
	key    string
}

func (c *candidates) clear() {
	c.mu.Lock()
	c.list = nil
	c.mu.Unlock()
}

// add remembers a key if it is good enough.
func (c *candidates) add(n candidate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.list {
		if o := &c.list[i]; o.db == n.db && o.shard == n.shard && o.key == n.key {
			c.list = slices.Delete(c.list, i, i+1)
			break
		}
	}
	at, _ := slices.BinarySearchFunc(c.list, n.score, func(o candidate, score int64) int {
		if o.score < score {
			return -1
		}
		return 1
	})
	if len(c.list) == candidatesMax {
		if at == 0 {
			return
		}
		c.list = slices.Delete(c.list, 0, 1)
		at--
	}
	c.list = slices.Insert(c.list, at, n)
}

// take gives the best key and forgets it.
func (c *candidates) take() (candidate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) == 0 {
		return candidate{}, false
	}
	n := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return n, true
}

// evictionsPerCommand bounds the work that one command does for the memory of
// all; what is left is done by the next ones and by the background.
const evictionsPerCommand = 64

// MakeRoom evicts keys while more memory is used than allowed, one stripe at a
// time. It returns false when memory is short and there is nothing to evict: a
// command that needs memory is to be refused. The Tx must not be locked.
func (tx *Tx) MakeRoom() bool {
	if tx.mask != 0 || tx.all {
		panic("BUG: eviction under the locks of a command")
	}
	m := tx.space.memory.Load()
	if m.Limit == 0 || tx.space.used.Load() <= m.Limit {
		return true
	}
	if m.Policy == NoEviction {
		return false
	}
	db := tx.DB
	defer func() { tx.DB = db }()
	for n := range evictionsPerCommand {
		if tx.space.used.Load() <= m.Limit {
			return true
		}
		if !tx.evictOne(m) {
			return n > 0
		}
	}
	return true
}

// evictOne evicts one key; false when none was found.
func (tx *Tx) evictOne(m *Memory) bool {
	// A candidate may be gone meanwhile: then the next one is taken.
	for range 2 * candidatesMax {
		tx.lookForCandidates(m)
		c, ok := tx.space.candidates.take()
		if !ok {
			return false
		}
		if tx.evict(m, c) {
			return true
		}
	}
	return false
}

// lookForCandidates looks at some keys of one stripe, chosen by the number of
// its keys.
func (tx *Tx) lookForCandidates(m *Memory) {
	sh, i := tx.chooseStripe()
	if sh == nil {
		return
	}
	st := &sh.stripes[i]
	tx.lock(sh, 1<<i)
	defer tx.Unlock()
	for db, t := range st.tables {
		if t == nil || t.Len() == 0 {
			continue
		}
		see := func(k store.Key, e store.Entry) {
			if m.Policy.volatile() && e.ExpireAt == 0 {
				return
			}
			score := m.score(e, tx.Now)
			if m.Policy.random() {
				score = int64(tx.Random() >> 1)
			}
			tx.space.candidates.add(candidate{score, sh, i, db, string(k.Name)})
		}
		if m.Policy.volatile() {
			t.SampleExpiring(tx.Random(), m.Samples, see)
		} else {
			t.Sample(tx.Random(), m.Samples, see)
		}
	}
}

// chooseStripe draws a stripe that holds keys; nil when none does.
func (tx *Tx) chooseStripe() (*Shard, int) {
	total := int64(0)
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			total += sh.stripes[i].published.Load()
		}
	}
	if total == 0 {
		return nil, 0
	}
	at := int64(tx.Random() % uint64(total))
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			if at -= sh.stripes[i].published.Load(); at < 0 {
				return sh, i
			}
		}
	}
	return tx.space.shards[0], 0 // keys went meanwhile
}

// evict deletes a candidate that is still there.
func (tx *Tx) evict(m *Memory, c candidate) bool {
	tx.lock(c.shard, 1<<c.stripe)
	defer tx.Unlock()
	if tx.Gate()&gateKeeps != 0 {
		return false
	}
	st := &c.shard.stripes[c.stripe]
	t := st.tables[c.db]
	if t == nil {
		return false
	}
	k := tx.space.Key([]byte(c.key))
	e, ok := t.Get(k)
	if !ok || m.Policy.volatile() && e.ExpireAt == 0 {
		return false
	}
	tx.DB = c.db
	tx.preserve(&k)
	t.Delete(k)
	tx.EmitDel(k.Name)
	st.stats.Evicted++
	tx.hooks.Touched(tx.DB, k.Name, CauseEvicted)
	tx.Notify(NotifyEvicted, "evicted", k.Name)
	return true
}

// Random gives the next number of the Tx's own sequence.
func (tx *Tx) Random() uint64 {
	tx.dice += 0x9e3779b97f4a7c15
	x := tx.dice
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
