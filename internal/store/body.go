package store

import (
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/ds/tree"
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/slot"
)

// Body is the value of a collection that is too large to be packed in a record.
// A record names it by number; it is guarded by the same lock. Whoever changes it
// calls [Table.Account] afterwards.
type Body struct {
	// Members holds the fields and values of a hash, or the members of a set, as
	// records of type String; for a sorted set see sorted.go. nil for a list.
	Members *Table
	// Order is the order of a sorted set; nil for others.
	Order *tree.Tree
	// Items are the elements of a list; nil for others.
	Items *chain.Chain
	// Compact says that Redis would still keep the collection packed: it has a body
	// because that is faster. For whoever names forms.
	Compact bool
	// bytes is what the owning table counts for it.
	bytes int64
	// left is the choice of chunks of the pool that Order or Items have left, and
	// leaving where they continue with the next one; see [page.Pool.Draining].
	left    uint32
	leaving int
	image   *Image // of it, that is not ended; nil: none
}

// bodyOverhead is about the memory of a body and its table outside pages.
const bodyOverhead = 1200

// NewBody makes the empty body of a hash or a set, to be given to [Table.Put].
func (t *Table) NewBody() *Body { return &Body{Members: newMembers(t.pool, t.seed)} }

// NewList makes the empty body of a list, whose nodes have a limit.
func (t *Table) NewList(limit chain.Limit) *Body { return &Body{Items: chain.New(t.pool, limit)} }

// newMembers makes a table of members, which has no slots.
func newMembers(pool *page.Pool, seed uint64) *Table {
	t := &Table{pool: pool, seed: seed}
	t.reset()
	return t
}

// Len is the number of elements.
func (b *Body) Len() int {
	if b.Items != nil {
		return b.Items.Len()
	}
	return b.Members.Len()
}

// Bytes is the memory that the collection takes.
func (b *Body) Bytes() int64 {
	if b.Items != nil {
		return b.Items.Footprint()
	}
	n := bodyOverhead + b.Members.Bytes()
	if b.Order != nil {
		n += b.Order.Footprint()
	}
	return n
}

// release takes the body apart, for [Dropped].
func (b *Body) release(parts []steps) []steps {
	if b.image != nil {
		panic("BUG: a collection is taken apart that somebody reads")
	}
	if b.Items != nil {
		return append(parts, b.Items.Release())
	}
	if b.Order != nil {
		parts = append(parts, b.Order.Release())
	}
	return append(parts, b.Members.Release())
}

// Clone makes a copy of a body for a table.
func (t *Table) Clone(b *Body) *Body {
	switch {
	case b.Items != nil:
		return &Body{Items: b.Items.Clone(), Compact: b.Compact}
	case b.Order != nil:
		return t.cloneSorted(b)
	}
	n := t.NewBody()
	n.Compact = b.Compact
	b.Members.Each(func(k Key, e Entry) {
		n.Members.SetRecord(n.Members.Key(k.Name), e.Type, e.Value, e.ExpireAt)
	})
	return n
}

// Body gives the body of an entry of this table that is Large.
func (t *Table) Body(e *Entry) *Body { return t.bodies[load32(e.Value, 0)] }

// Account counts what a body takes after it was changed, for the slot of its key.
func (t *Table) Account(s slot.ID, b *Body) {
	before := t.used
	t.recount(b, b.Bytes())
	t.charge(s, before)
}

func (t *Table) recount(b *Body, bytes int64) {
	t.used += bytes - b.bytes
	t.bodyUsed += bytes - b.bytes
	b.bytes = bytes
}

// Detach removes a key whose value is Large and gives its body, for another key.
func (t *Table) Detach(k Key) *Body {
	f := t.find(&k)
	if f.ref == 0 {
		panic("BUG: the body of a key that does not exist")
	}
	b := t.bytes(f.ref)
	h := headerOf(b)
	body := t.unlistBody(t.bodyNumber(b, h))
	before, s := t.used, k.Slot
	t.recount(body, 0)
	t.remove(&k, f)
	t.releaseSlot(f.ref, b, h)
	t.charge(s, before)
	return body
}

// Content is what a key is given by [Table.Put].
type Content struct {
	// Type is that of the value.
	Type Type
	// Value is a string or the packed form of a collection. It must not be a view
	// into the same table.
	Value []byte
	// Body is the large form, in place of Value: one that no other key has.
	Body *Body
	// ExpireAt is a unix time in milliseconds; 0 or less: never.
	ExpireAt int64
	// WakeAt, for a hash, is when the first of its fields expires, in the same unit;
	// 0: none does.
	WakeAt int64
}

// Put gives a key a value, whatever it was before. A body that it had before is
// released, unless it is the new one.
func (t *Table) Put(k Key, n *Content) {
	c := content{key: k.Name, value: n.Value, access: t.stamp, expireAt: max(0, n.ExpireAt)}
	var room [timedBytes + 4]byte
	head := room[:0]
	typ := n.Type
	if n.WakeAt != 0 {
		typ = hashTimed
		head = head[:timedBytes]
		storeTime(head, 0, c.expireAt)
		c.expireAt = earlier(c.expireAt, n.WakeAt)
	}
	c.flags = header(typ&7) << typeShift
	before := t.used
	if n.Body != nil {
		c.body = t.listBody(&k, n.Body)
		c.flags |= isRaw
		at := len(head)
		head = head[:at+4]
		store32(head, at, c.body)
		c.value = nil
		t.recount(n.Body, n.Body.Bytes())
	}
	if len(head) > 0 {
		c.value, c.suffix = head, c.value
	}
	t.complete(&c)
	t.charge(k.Slot, before)
	t.put(&k, &c)
}

// hasBody says whether the record names a body.
func (h header) hasBody() bool { return h&isRaw != 0 && h.typ() != String }

// bodyNumber reads the number of the body of a record that has one.
func (t *Table) bodyNumber(b []byte, h header) uint32 {
	v := t.valueOf(b, h)
	if h.typ() == hashTimed {
		v = v[timedBytes:]
	}
	return load32(v, 0)
}

// listBody gives a body a number, unless it is what the key already has.
func (t *Table) listBody(k *Key, body *Body) uint32 {
	body.image.follow(k)
	if f := t.find(k); f.ref != 0 {
		b := t.bytes(f.ref)
		if h := headerOf(b); h.hasBody() {
			if n := t.bodyNumber(b, h); t.bodies[n] == body {
				return n
			}
		}
	}
	if last := len(t.freeBodies) - 1; last >= 0 {
		n := t.freeBodies[last]
		t.freeBodies = t.freeBodies[:last]
		t.bodies[n] = body
		return n
	}
	if len(t.bodies) == 0 {
		t.bodies = append(t.bodies, nil) // number 0 is none
	}
	t.bodies = append(t.bodies, body)
	return uint32(len(t.bodies) - 1)
}

func (t *Table) unlistBody(n uint32) *Body {
	body := t.bodies[n]
	t.bodies[n] = nil
	if t.freeBodies = append(t.freeBodies, n); len(t.freeBodies) == len(t.bodies)-1 {
		t.bodies, t.freeBodies, t.sweep.body = nil, nil, 0
	}
	return body
}

// freedAtOnce is the memory up to which a body is given back with its key; a
// larger one waits for [Table.Step].
const freedAtOnce = 64 * page.Size

func (t *Table) freeBody(n uint32) {
	body := t.unlistBody(n)
	small := body.bytes <= freedAtOnce
	t.recount(body, 0)
	if body.image != nil {
		body.image.adopted = true
		return
	}
	waiting := len(t.dropped)
	t.dropped = body.release(t.dropped)
	if !small {
		return
	}
	for _, d := range t.dropped[waiting:] {
		for d.Step(1 << 20) {
		}
	}
	clear(t.dropped[waiting:])
	t.dropped = t.dropped[:waiting]
}

// bodiesPerStep is how many bodies one call of [Table.Step] looks at.
const bodiesPerStep = 16

// stepBodies gives back what large collections left, and does the background
// work of some collections; more says that work is left.
func (t *Table) stepBodies(budget *int) (more bool) {
	for len(t.dropped) > 0 {
		last := len(t.dropped) - 1
		if t.dropped[last].Step(max(1, *budget/8)) {
			return true
		}
		t.dropped[last] = nil
		t.dropped = t.dropped[:last]
		if *budget -= 8; *budget <= 0 {
			return true
		}
	}
	draining := t.pool.Draining()
	leaves := draining != 0 && draining != t.sweep.bodiesLeft
	for range min(bodiesPerStep, len(t.bodies)) {
		if b := t.bodies[t.sweep.body]; b != nil && b.step(draining, *budget) {
			return true // the next call goes on with it
		}
		if t.sweep.body++; t.sweep.body >= uint32(len(t.bodies)) {
			t.sweep.body, t.sweep.bodiesLeft = 0, draining
			leaves = false
		}
	}
	return leaves && len(t.bodies) > 0
}

// step does background work on a collection; see [Table.Step]. draining is the
// choice of chunks that the pool wants back.
func (b *Body) step(draining uint32, budget int) (more bool) {
	if b.Members != nil && b.Members.Step(budget) {
		return true
	}
	if draining == 0 || draining == b.left {
		return false
	}
	const cost = 4 // of looking at a node
	switch {
	case b.Items != nil:
		b.leaving = b.Items.Leave(b.leaving, max(1, budget/cost))
	case b.Order != nil:
		b.leaving = b.Order.Leave(b.leaving, max(1, budget/cost))
	}
	if b.leaving == 0 {
		b.left = draining
	}
	return b.leaving != 0
}
