package shard

import "github.com/bowline-kv/bowline/internal/store"

// zeros is what strings grow by; nothing writes to it, so it takes no memory.
var zeros [256 << 10]byte

// Extend gives the string at a key at least size bytes, the new ones zero, and
// makes it Raw; it makes the string when there is no such key. It returns whether
// the key is new or longer than before. A key whose time is over must have been
// found missing before. A value of another type is a bug of the caller.
func (tx *Tx) Extend(name []byte, size int) (changed bool) {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.tableForWrite(k.Slot)
	n, exists := tx.ensureString(t, k)
	if exists {
		t.Patch(*k, 0, nil)
		if n >= size {
			return false
		}
	}
	tx.fill(t, k, n, size)
	tx.touched(name)
	return true
}

// Patch overwrites part of the string at a key from an offset on, as if it ended
// in zeros for as long as is needed, and makes it Raw. For the rest see
// [Tx.Extend]. part must not be a view of a value.
func (tx *Tx) Patch(name []byte, at int, part []byte) {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.tableForWrite(k.Slot)
	n, _ := tx.ensureString(t, k)
	if n < at {
		tx.fill(t, k, n, at)
		n = at
	}
	over := min(len(part), n-at)
	t.Patch(*k, at, part[:over])
	if over < len(part) {
		t.Append(*k, part[over:])
	}
	tx.touched(name)
}

// ensureString gives the length of the string at k, which it makes, empty and Raw,
// if need be.
func (tx *Tx) ensureString(t *store.Table, k *store.Key) (n int, existed bool) {
	if e, ok := t.Get(*k); ok {
		return len(e.Value), true
	}
	t.Stamp(tx.space.memory.Load().fresh(tx.Now))
	t.SetRecord(*k, store.String, nil, 0)
	t.Patch(*k, 0, nil)
	tx.Notify(NotifyNew, "new", k.Name)
	return 0, false
}

// fill appends zeros to a string of n bytes until it has size.
func (tx *Tx) fill(t *store.Table, k *store.Key, n, size int) {
	for n < size {
		n = t.Append(*k, zeros[:min(size-n, len(zeros))])
	}
}

// MarkRaw makes an existing string Raw. It tells nobody: its content is as before.
func (tx *Tx) MarkRaw(name []byte) {
	k := tx.key(name)
	tx.table(k.Slot).Patch(*k, 0, nil)
}
