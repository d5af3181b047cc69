package shard

import (
	"math/bits"

	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// Tx is one command's work on a space. It belongs to one goroutine and is used
// again for the next command; the zero value is not usable, see [Space.NewTx].
type Tx struct {
	// Now is the time of the command, in unix milliseconds.
	Now int64
	// DB is the selected database.
	DB int
	// NoTouch: reads leave alone what eviction goes by (CLIENT NO-TOUCH).
	NoTouch bool

	space *Space
	hooks Hooks
	shard *Shard // the shard locked; nil: none, or all of them
	// mask has a bit for each locked stripe of shard.
	mask uint64
	all  bool // every stripe of every shard is locked
	held bool // the locks stay until UnlockHeld; see Hold
	// hints are the keys of the command, in the order of its arguments; at is the
	// one that the handler used last. The caller's slice, while locked.
	hints []store.Key
	at    int
	// effects is the record that grows while the handler runs.
	effects []byte
	changes uint64
	other   store.Key // see key
	moved   []byte    // a value on its way; see CopyRecord
	name    []byte    // of a key that is being changed
	dice    uint64    // see Random
	// positions are what the reply depends on, at most one a shard.
	positions []Position
}

// effectsKept is the largest buffer that a Tx keeps for its next command.
const effectsKept = 64 << 10

// NewTx makes a Tx for one goroutine.
func (sp *Space) NewTx() *Tx { return sp.NewTxFor(sp.hooks) }

// NewTxFor is [Space.NewTx] with hooks of its own, which are told of what this Tx
// changes in place of those of the space: they know who it works for.
func (sp *Space) NewTxFor(h Hooks) *Tx {
	return &Tx{space: sp, hooks: h, dice: sp.dice.Add(0x3c6ef372fe94f82a)}
}

// Space is the key space that the Tx works on.
func (tx *Tx) Space() *Space { return tx.space }

// Key computes a key's slot and hash.
func (tx *Tx) Key(name []byte) store.Key { return tx.space.Key(name) }

// LockKeys locks the stripes of a command's keys, which [Tx.Key] made, in the
// selected database; not none. With more than one shard all must be in the same
// one. The Tx uses the slice until it is unlocked.
func (tx *Tx) LockKeys(keys []store.Key) {
	tx.hints, tx.at = keys, 0
	if len(keys) == 1 {
		s := keys[0].Slot
		tx.lock(tx.space.ShardOf(s), 1<<stripeOf(s))
		return
	}
	var mask uint64
	for i := range keys {
		mask |= 1 << stripeOf(keys[i].Slot)
	}
	tx.lock(tx.space.ShardOf(keys[0].Slot), mask)
	for i := range keys {
		tx.prepare(&keys[i])
	}
	for i := range keys {
		tx.load(&keys[i])
	}
}

// prepare and load ask for the cache lines of a key whose stripe is locked, so
// that the misses of several keys overlap: first the index, then the record.
func (tx *Tx) prepare(k *store.Key) {
	if t := tx.table(k.Slot); t != nil {
		t.Prepare(k)
	}
}

func (tx *Tx) load(k *store.Key) {
	if t := tx.table(k.Slot); t != nil {
		t.Load(k)
	}
}

// Large says that keys and values are too many for the processor's caches, as of
// the last [Tx.Tidy]: below that, [Tx.Warm] costs more than it saves.
func (sp *Space) Large() bool { return sp.large.Load() }

// Warm asks for what the commands of a batch, one key each, will touch. It locks
// one stripe after the other. The Tx must not be locked.
func (tx *Tx) Warm(keys []store.Key) {
	for i := range keys {
		tx.lock(tx.space.ShardOf(keys[i].Slot), 1<<stripeOf(keys[i].Slot))
		tx.prepare(&keys[i])
		tx.release()
	}
	for i := range keys {
		tx.lock(tx.space.ShardOf(keys[i].Slot), 1<<stripeOf(keys[i].Slot))
		tx.load(&keys[i])
		tx.release()
	}
}

// WarmMembers asks, after Warm, for what commands will touch that look for one
// member of a large collection; a nil member: the command does not.
func (tx *Tx) WarmMembers(keys []store.Key, members [][]byte) {
	for _, ask := range [2]func(m *store.Table, k *store.Key){(*store.Table).Prepare, (*store.Table).Load} {
		for i := range keys {
			if members[i] == nil {
				continue
			}
			tx.lock(tx.space.ShardOf(keys[i].Slot), 1<<stripeOf(keys[i].Slot))
			if t := tx.table(keys[i].Slot); t != nil {
				if m := t.MembersOf(&keys[i]); m != nil {
					k := m.Key(members[i])
					ask(m, &k)
				}
			}
			tx.release()
		}
	}
}

// LockSlots locks the stripes of several slots, in ascending order. With more
// than one shard all slots must be in the same one.
func (tx *Tx) LockSlots(slots []slot.ID) {
	var mask uint64
	for _, s := range slots {
		mask |= 1 << stripeOf(s)
	}
	tx.lock(tx.space.ShardOf(slots[0]), mask)
}

// LockShard locks every stripe of one shard: emptying a database then empties its
// part in this shard.
func (tx *Tx) LockShard(sh *Shard) { tx.lock(sh, ^uint64(0)) }

func (tx *Tx) lock(sh *Shard, mask uint64) {
	tx.shard, tx.mask = sh, mask
	for m := mask; m != 0; m &= m - 1 {
		sh.stripes[bits.TrailingZeros64(m)].mu.Lock()
	}
}

// Hold keeps the locks that the Tx has for several commands, whose effects
// become one record: until [Tx.UnlockHeld], Unlock and the locking that Scan and
// its like do by themselves have no effect. A Tx without locks may be held too.
func (tx *Tx) Hold() { tx.held = true }

// UnlockHeld ends Hold and unlocks.
func (tx *Tx) UnlockHeld() {
	tx.held = false
	if tx.all || tx.mask != 0 {
		tx.Unlock()
	}
}

// LockAll locks every stripe of every shard.
func (tx *Tx) LockAll() {
	tx.all = true
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			sh.stripes[i].mu.Lock()
		}
	}
}

// Unlock appends the effects to the log, if there are any, and releases the
// locks. The Tx can be locked again afterwards.
func (tx *Tx) Unlock() {
	if tx.held {
		return
	}
	if len(tx.effects) > 0 {
		tx.commit()
	}
	if tx.space.waits.Load() {
		tx.notePositions()
	}
	tx.release()
}

// release unlocks without a look at what was done.
func (tx *Tx) release() {
	if tx.all {
		for _, sh := range tx.space.shards {
			for i := range sh.stripes {
				sh.stripes[i].mu.Unlock()
			}
		}
	} else {
		for m := tx.mask; m != 0; m &= m - 1 {
			tx.shard.stripes[bits.TrailingZeros64(m)].mu.Unlock()
		}
	}
	tx.shard, tx.mask, tx.all, tx.hints = nil, 0, false, nil
}

// commit numbers and copies the record while the stripes are still locked, so
// that the order of the log is the order of execution in every stripe.
func (tx *Tx) commit() {
	if tx.all {
		// What happened to everything is told to the log of every shard.
		for _, sh := range tx.space.shards {
			tx.append(sh, ^uint64(0))
		}
	} else {
		tx.append(tx.shard, tx.mask)
	}
	tx.changes = 0
	if cap(tx.effects) > effectsKept {
		tx.effects = nil
	}
	tx.effects = tx.effects[:0]
}

func (tx *Tx) append(sh *Shard, mask uint64) {
	seq := sh.log.Append(tx.effects)
	sh.stripes[bits.TrailingZeros64(mask)].stats.Changes += tx.changes
	limited := tx.space.memory.Load().Limit != 0
	for m := mask; m != 0; m &= m - 1 {
		st := &sh.stripes[bits.TrailingZeros64(m)]
		st.last = seq
		if limited {
			tx.space.account(st)
		}
	}
}

// notePositions remembers the newest records in the locked stripes: what the
// command wrote, and what it may have seen of others.
func (tx *Tx) notePositions() {
	if tx.all {
		for _, sh := range tx.space.shards {
			tx.notePosition(sh, ^uint64(0))
		}
		return
	}
	tx.notePosition(tx.shard, tx.mask)
}

func (tx *Tx) notePosition(sh *Shard, mask uint64) {
	var last Sequence
	for m := mask; m != 0; m &= m - 1 {
		last = max(last, sh.stripes[bits.TrailingZeros64(m)].last)
	}
	for i := range tx.positions {
		if p := &tx.positions[i]; p.Shard == sh.index {
			p.Seq = max(p.Seq, last)
			return
		}
	}
	tx.positions = append(tx.positions, Position{sh.index, last})
}

// TakePositions gives the positions that must be durable before the replies to
// the commands since the last call may leave: none where replies wait for
// nothing. The slice is valid until the Tx is locked again.
func (tx *Tx) TakePositions() []Position {
	p := tx.positions
	tx.positions = tx.positions[:0]
	return p
}

// PeekPositions is [Tx.TakePositions] that leaves them for the next call.
func (tx *Tx) PeekPositions() []Position { return tx.positions }

// Covers says whether the stripes of all these slots are locked.
func (tx *Tx) Covers(slots []slot.ID) bool {
	for _, s := range slots {
		if !tx.all && (tx.shard != tx.space.ShardOf(s) || tx.mask>>stripeOf(s)&1 == 0) {
			return false
		}
	}
	return true
}

// Gate gives the reasons for which the locked shard takes no commands. With
// everything locked it is the union over all shards.
func (tx *Tx) Gate() Gate {
	if tx.shard != nil {
		return Gate(tx.shard.gate.Load())
	}
	var g uint32
	for _, sh := range tx.space.shards {
		g |= sh.gate.Load()
	}
	return Gate(g)
}

// SlotState gives the state of a slot whose stripe is locked.
func (tx *Tx) SlotState(s slot.ID) SlotState {
	return tx.shardOf(s).stripes[stripeOf(s)].slots[int(s)/Stripes]
}

func (tx *Tx) shardOf(s slot.ID) *Shard {
	if tx.shard != nil {
		return tx.shard
	}
	return tx.space.ShardOf(s)
}

// Emit records an effect of the command: a deterministic command in canonical
// form, in the selected database. All effects of one Tx are one record.
func (tx *Tx) Emit(args ...[]byte) {
	tx.emitHead(len(args))
	for _, a := range args {
		tx.effects = appendEffectArg(tx.effects, a)
	}
}

// EffectBytes is the size of the record that grows.
func (tx *Tx) EffectBytes() int { return len(tx.effects) }

// EmitDel records that a key is gone.
func (tx *Tx) EmitDel(key []byte) {
	tx.emitHead(2)
	tx.effects = appendEffectArg(tx.effects, "DEL")
	tx.effects = appendEffectArg(tx.effects, key)
}

// EmitName records an effect that is only a command's name, for the whole space.
func (tx *Tx) EmitName(name string) {
	tx.emitHead(1)
	tx.effects = appendEffectArg(tx.effects, name)
}

// EmitSet records the whole value of a string; expireAt as in
// [store.Table.SetRecord].
func (tx *Tx) EmitSet(key, value []byte, expireAt int64) {
	if expireAt == 0 {
		tx.emitHead(3)
	} else {
		tx.emitHead(5)
	}
	tx.effects = appendEffectArg(tx.effects, "SET")
	tx.effects = appendEffectArg(tx.effects, key)
	tx.effects = appendEffectArg(tx.effects, value)
	if expireAt != 0 {
		tx.effects = appendEffectArg(tx.effects, "PXAT")
		tx.emitInt(expireAt)
	}
}

// EmitExpiry records a key's new expiry time in unix milliseconds; 0: none.
func (tx *Tx) EmitExpiry(key []byte, expireAt int64) {
	if expireAt == 0 {
		tx.emitHead(2)
		tx.effects = appendEffectArg(tx.effects, "PERSIST")
		tx.effects = appendEffectArg(tx.effects, key)
		return
	}
	tx.emitHead(3)
	tx.effects = appendEffectArg(tx.effects, "PEXPIREAT")
	tx.effects = appendEffectArg(tx.effects, key)
	tx.emitInt(expireAt)
}

func (tx *Tx) emitHead(argc int) {
	tx.changes++
	tx.effects = appendEffectHead(tx.effects, tx.DB, argc)
}

func (tx *Tx) emitInt(n int64) {
	var digits [20]byte
	tx.effects = appendEffectArg(tx.effects, resp.AppendInt(digits[:0], n))
}

// Notify reports an event for keyspace notifications.
func (tx *Tx) Notify(class NotifyClass, event string, key []byte) {
	tx.hooks.Notify(tx.DB, class, event, key)
}
