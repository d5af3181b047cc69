package shard

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// ExpireStep deletes keys and fields of hashes whose time is over, up to perStripe
// of each stripe and database, in all databases; more says that some are left. It
// does nothing on a shard whose gate says that this node is not the writer. The Tx
// must not be locked.
func (tx *Tx) ExpireStep(now int64, perStripe int) (more bool) {
	tx.Now = now
	db := tx.DB
	defer func() { tx.DB = db }()
	for _, sh := range tx.space.shards {
		for i := range Stripes {
			tx.lock(sh, 1<<i)
			if tx.Gate()&gateKeeps == 0 && tx.expireStripe(&sh.stripes[i], perStripe) {
				more = true
			}
			tx.Unlock()
		}
	}
	return more
}

func (tx *Tx) expireStripe(st *stripe, limit int) (more bool) {
	for db, t := range st.tables {
		if t == nil {
			continue
		}
		tx.DB = db
		for n := 0; ; {
			k, due := t.Due(tx.Now)
			if !due {
				more = more || t.Behind(tx.Now)
				break
			}
			if n >= limit {
				more = true
				break
			}
			n += tx.expireDue(t, k, limit-n)
		}
	}
	return more
}

// expireDue deals with a key that is due: it is deleted, or some of its fields
// are, at most a limit. It gives what that counts for, at least 1.
func (tx *Tx) expireDue(t *store.Table, k store.Key, limit int) int {
	e, _ := t.Get(k)
	if !e.Timed || e.Expired(tx.Now) {
		tx.expire(t, k)
		return 1
	}
	// Changing the hash moves its record, and so the name.
	tx.name = append(tx.name[:0], k.Name...)
	k.Name = tx.name
	tx.preserve(&k)
	var n int
	if e.Large() {
		n = tx.expireMembers(t, k, &e, limit)
	} else {
		n = tx.expirePacked(t, k, &e)
	}
	return max(1, n)
}

// expireMembers deletes fields of a large hash.
func (tx *Tx) expireMembers(t *store.Table, k store.Key, e *store.Entry, limit int) (n int) {
	body := t.Body(e)
	m := body.Members
	for n < limit {
		field, due := m.Due(tx.Now)
		if !due {
			break
		}
		tx.emitField(k.Name, field.Name)
		m.Delete(field)
		n++
	}
	wakeAt := m.NextDue(tx.Now)
	switch {
	case m.Len() == 0:
		tx.expiredAll(t, k, n)
		return n
	case wakeAt == 0:
		t.Put(k, &store.Content{Type: store.Hash, Body: body, ExpireAt: e.ExpireAt})
	case n == limit: // it stays due
		t.Account(k.Slot, body)
	default:
		t.Wake(k, wakeAt)
		t.Account(k.Slot, body)
	}
	tx.expiredFields(k, n)
	return n
}

// expirePacked deletes all fields of a packed hash that are due.
func (tx *Tx) expirePacked(t *store.Table, k store.Key, e *store.Entry) (n int) {
	h := value.HashOf(e, nil, tx.Now, 0)
	h.Own(tx.moved[:0], true)
	n = h.DropHidden(func(field pack.Element) {
		var room [value.TextMax]byte
		tx.emitField(k.Name, value.Text(field, room[:]))
	})
	packed, _, wakeAt := h.Content()
	tx.moved = packed
	if h.Drained() {
		tx.expiredAll(t, k, n)
		return n
	}
	t.Put(k, &store.Content{Type: store.Hash, Value: packed, ExpireAt: e.ExpireAt, WakeAt: wakeAt})
	tx.expiredFields(k, n)
	return n
}

// emitField records that a field is gone.
func (tx *Tx) emitField(key, field []byte) {
	tx.emitHead(3)
	tx.effects = appendEffectArg(tx.effects, "HDEL")
	tx.effects = appendEffectArg(tx.effects, key)
	tx.effects = appendEffectArg(tx.effects, field)
}

// expiredFields tells that fields of a key are gone.
func (tx *Tx) expiredFields(k store.Key, n int) {
	if n == 0 {
		return
	}
	tx.stripe(k.Slot).stats.Fields += uint64(n)
	tx.hooks.Touched(tx.DB, k.Name, CauseExpired)
	tx.Notify(NotifyHash, "hexpired", k.Name)
}

// expiredAll deletes a hash that has lost all of its fields.
func (tx *Tx) expiredAll(t *store.Table, k store.Key, n int) {
	t.Delete(k)
	tx.expiredFields(k, n)
	tx.Notify(NotifyGeneric, "del", k.Name)
}
