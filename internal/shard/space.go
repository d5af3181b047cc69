package shard

import (
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// Stripes is the number of locks over a shard's slots.
const Stripes = store.Stripes

func stripeOf(s slot.ID) int { return store.StripeOf(s) }

// Options says how a space is laid out.
type Options struct {
	// Shards is the number of shards, at least 1. More than one is for nodes with
	// a cluster map only, where all keys of a command share a slot.
	Shards int
	// Databases is the number of databases, at least 1.
	Databases int
	// LogBytes is the size of each shard's ring of recent records; 0: 1 MiB.
	LogBytes int
	// NewLog makes the log of a shard, for a node that writes to disk; replies
	// then depend on positions, see [Tx.TakePositions], until [Space.SetWaits] says
	// otherwise. nil: a ring in memory.
	NewLog func(shard int) Log
	// Seed spreads the keys inside the tables; see [store.HashOf].
	Seed uint64
	// Hooks is told of every change; nil: nobody is.
	Hooks Hooks
	// Pool is where the memory of keys and values comes from: one for a node. nil:
	// a pool of its own, which goes with the space.
	Pool *page.Pool
}

// Space is the key space of one node. Its methods may be called from any
// goroutine.
type Space struct {
	shards    []*Shard
	of        [slot.Count]atomic.Uint32 // the shard that holds a slot
	databases int
	seed      uint64
	pool      *page.Pool
	hooks     Hooks
	waits     atomic.Bool // replies wait for the logs' durable positions

	memory     atomic.Pointer[Memory]
	used       atomic.Int64 // bytes of keys and values, while there is a limit
	candidates candidates
	dropped    droppedTables
	snapshot   atomic.Pointer[Snapshot] // that is not closed; nil: none
	large      atomic.Bool              // see Large
	dice       atomic.Uint64            // where the sequence of the next Tx begins
}

// Shard is a set of slots with one log.
type Shard struct {
	stripes [Stripes]stripe
	index   int
	log     Log
	gate    atomic.Uint32 // a Gate; changed by SetGate only
}

// stripe is one lock and what it guards.
type stripe struct {
	mu     sync.Mutex
	tables []*store.Table // by database; nil: never written
	slots  [slot.Count / Stripes]SlotState
	last   Sequence // the last record that touched this stripe
	stats  Stats
	// bytes is what Space.used counts of this stripe, and published how many keys
	// it had then, for those who look without the lock.
	bytes     int64
	published atomic.Int64
	capture   *capture // of a snapshot in progress; nil: none, or this stripe is done
	_         [64]byte // the next stripe's lock is on another cache line
}

// Stats counts what happened to keys. Values only grow.
type Stats struct {
	Hits    uint64 // reads that found their key
	Misses  uint64 // reads that did not
	Expired uint64 // keys deleted because their time was over
	Fields  uint64 // fields of hashes deleted because their time was over
	Evicted uint64 // keys deleted because memory was short
	Changes uint64 // effects emitted
}

const logBytesDefault = 1 << 20

// NewSpace makes an empty space that serves every slot in shard 0.
func NewSpace(o Options) *Space {
	if o.LogBytes <= 0 {
		o.LogBytes = logBytesDefault
	}
	if o.Hooks == nil {
		o.Hooks = noHooks{}
	}
	sp := &Space{databases: max(o.Databases, 1), seed: o.Seed, hooks: o.Hooks}
	sp.waits.Store(o.NewLog != nil)
	if sp.pool = o.Pool; sp.pool == nil {
		sp.pool = page.New()
	}
	memory := memoryDefault
	sp.memory.Store(&memory)
	sp.dice.Store(o.Seed)
	if o.NewLog == nil {
		o.NewLog = func(int) Log { return newRingLog(o.LogBytes) }
	}
	for i := range max(o.Shards, 1) {
		sh := &Shard{index: i, log: o.NewLog(i)}
		for i := range sh.stripes {
			sh.stripes[i].tables = make([]*store.Table, sp.databases)
		}
		sp.shards = append(sp.shards, sh)
	}
	return sp
}

// SetHooks sets who is told of changes. To be called before the first command.
func (sp *Space) SetHooks(h Hooks) { sp.hooks = h }

// SetWaits says whether replies depend on what is durable: whether
// [Tx.TakePositions] gives anything for commands from here on.
func (sp *Space) SetWaits(on bool) { sp.waits.Store(on) }

// Databases is the number of databases.
func (sp *Space) Databases() int { return sp.databases }

// Shards lists the shards by number. The caller must not change the slice.
func (sp *Space) Shards() []*Shard { return sp.shards }

// ShardOf gives the shard that holds a slot's keys.
func (sp *Space) ShardOf(s slot.ID) *Shard { return sp.shards[sp.of[s].Load()] }

// Assign puts a slot in a shard and sets its state. The slot must be empty or
// stay in its shard: moving keys is not done here.
func (sp *Space) Assign(s slot.ID, shardIndex int, state SlotState) {
	sp.of[s].Store(uint32(shardIndex))
	sp.shards[shardIndex].SetSlot(s, state)
}

// Key computes a key's slot and hash.
func (sp *Space) Key(name []byte) store.Key { return sp.keyIn(name, slot.Of(name)) }

func (sp *Space) keyIn(name []byte, s slot.ID) store.Key {
	return store.Key{Name: name, Slot: s, Hash: store.HashOf(sp.seed, name)}
}

// Last is the number of the newest record of the shard's log.
func (sh *Shard) Last() Sequence { return sh.log.Last() }

// Durable is the number of the newest record of the shard's log that is safe.
func (sh *Shard) Durable() Sequence { return sh.log.Durable() }

// Durable says whether the record at a position, and so all before it, are safe.
func (sp *Space) Durable(p Position) bool { return sp.shards[p.Shard].log.Durable() >= p.Seq }

// ReadLog gives the payloads of up to limit records from sequence from on, for
// [DecodeEffects]; ok is false when they are no longer kept.
func (sh *Shard) ReadLog(from Sequence, limit int) (payloads [][]byte, ok bool) {
	return sh.log.Read(from, limit)
}
