package store

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/slot"
)

// model is a table as a plain map, beside the real one.
type model struct {
	table *Table
	pool  *page.Pool
	keys  map[string]*modelRecord
	now   int64
	pins  []modelPin
}

type modelRecord struct {
	key      Key
	value    []byte
	typ      Type
	raw      bool
	expireAt int64
}

type modelPin struct {
	pinned Pinned
	want   []byte
}

func newModel(cleanup func(func())) *model {
	t, pool := newTestTable(cleanup)
	return &model{table: t, pool: pool, keys: map[string]*modelRecord{}, now: 1_800_000_000_000}
}

func (m *model) set(k Key, typ Type, value []byte, expireAt int64) {
	m.table.SetRecord(k, typ, value, expireAt)
	m.keys[string(k.Name)] = &modelRecord{key: k, value: bytes.Clone(value), typ: typ, expireAt: expireAt}
}

func (m *model) append(k Key, suffix []byte) error {
	r := m.keys[string(k.Name)]
	if r == nil || r.typ != String {
		return nil
	}
	r.value = append(r.value, suffix...)
	r.raw = true
	if n := m.table.Append(k, suffix); n != len(r.value) {
		return fmt.Errorf("append to %q: length %d, want %d", k.Name, n, len(r.value))
	}
	return nil
}

// overwrite changes a string in place, if it can be.
func (m *model) overwrite(k Key, value []byte) {
	e, ok := m.table.Get(k)
	if r := m.keys[string(k.Name)]; ok && m.table.Overwrite(&e, value) {
		r.value, r.raw = bytes.Clone(value), false
	}
}

// changeInPlace writes n bytes over a value that has room of its own.
func (m *model) changeInPlace(k Key, n int) {
	e, ok := m.table.Get(k)
	if !ok {
		return
	}
	room := m.table.Room(&e)
	if room == nil {
		return
	}
	room = room[:min(n, cap(room))]
	for i := range room {
		room[i] = byte(n + i)
	}
	r := m.keys[string(k.Name)]
	want := bytes.Clone(room)
	if !m.table.Overwrite(&e, room) {
		m.table.Put(k, &Content{Type: r.typ, Value: room, ExpireAt: r.expireAt})
	}
	r.value, r.raw = want, false
}

func (m *model) expire(k Key, at int64) error {
	r := m.keys[string(k.Name)]
	if got := m.table.SetExpiry(k, at); got != (r != nil) {
		return fmt.Errorf("expire %q: %v", k.Name, got)
	}
	if r != nil {
		r.expireAt = at
	}
	return nil
}

func (m *model) delete(k Key) error {
	_, want := m.keys[string(k.Name)]
	if got := m.table.Delete(k); got != want {
		return fmt.Errorf("delete %q: %v", k.Name, got)
	}
	delete(m.keys, string(k.Name))
	return nil
}

// due deletes what is overdue and checks that it is exactly that.
func (m *model) due() error {
	for {
		k, ok := m.table.Due(m.now)
		if !ok && m.table.Behind(m.now) {
			continue
		}
		if !ok {
			break
		}
		r := m.keys[string(k.Name)]
		if r == nil || r.expireAt == 0 || r.expireAt > m.now {
			return fmt.Errorf("key %q is due at %d: %+v", k.Name, m.now, r)
		}
		delete(m.keys, string(k.Name))
		if k.Hash != r.key.Hash || k.Slot != r.key.Slot || !m.table.Delete(k) {
			return fmt.Errorf("key %q is due but can't be deleted", k.Name)
		}
	}
	for name, r := range m.keys {
		if r.expireAt != 0 && r.expireAt <= m.now {
			return fmt.Errorf("key %q of %d is not due at %d", name, r.expireAt, m.now)
		}
	}
	return nil
}

func (m *model) pin(k Key) error {
	e, ok := m.table.Get(k)
	if !ok {
		return nil
	}
	p, ok := m.table.Pin(e)
	if ok != (len(e.Value) >= PinnedMin) {
		return fmt.Errorf("pinning %d bytes: %v", len(e.Value), ok)
	}
	if ok {
		m.pins = append(m.pins, modelPin{p, bytes.Clone(e.Value)})
	}
	return nil
}

func (m *model) unpin(i int) error {
	p := m.pins[i]
	m.pins = slices.Delete(m.pins, i, i+1)
	defer p.pinned.Release()
	if !bytes.Equal(p.pinned.Bytes, p.want) {
		return fmt.Errorf("a pinned value of %d bytes changed", len(p.want))
	}
	return nil
}

func (m *model) same(k Key, e Entry) error {
	r := m.keys[string(k.Name)]
	if r == nil || !bytes.Equal(e.Value, r.value) || e.Type != r.typ || e.Raw != r.raw || e.ExpireAt != r.expireAt {
		return fmt.Errorf("key %q: got %d bytes %+v, want %+v", k.Name, len(e.Value), e, r)
	}
	return nil
}

// check compares all of both.
func (m *model) check() error {
	if err := m.table.check(); err != nil {
		return err
	}
	expiring := 0
	for _, r := range m.keys {
		e, ok := m.table.Get(r.key)
		if !ok {
			return fmt.Errorf("key %q is lost", r.key.Name)
		}
		if err := m.same(r.key, e); err != nil {
			return err
		}
		if r.expireAt != 0 {
			expiring++
		}
		m.table.Prepare(&r.key)
		m.table.Load(&r.key)
	}
	if m.table.Len() != len(m.keys) || m.table.Expiring() != expiring {
		return fmt.Errorf("%d keys, %d expiring; want %d, %d", m.table.Len(), m.table.Expiring(), len(m.keys), expiring)
	}
	held := m.table.Footprint()
	if got := m.pool.Stats().InUse; len(m.pins) == 0 && got != held {
		return fmt.Errorf("the pool says %d bytes, the table %d", got, held)
	}
	return nil
}

// walkTable walks the whole table while between changes it.
func (m *model) walkTable(want int, between func() error) error {
	present := map[string]bool{}
	for name := range m.keys {
		present[name] = true
	}
	seen := map[string]bool{}
	s, c, done := m.keyless()
	for steps := 0; !done; steps++ {
		var failed error
		s, c, done = m.table.ScanTable(s, c, want, func(k Key, e Entry) {
			seen[string(k.Name)] = true
			if err := m.same(k, e); err != nil {
				failed = err
			}
		})
		if failed != nil {
			return failed
		}
		if steps > 1_000_000 {
			return fmt.Errorf("the walk does not end")
		}
		if err := between(); err != nil {
			return err
		}
		for name := range present {
			if m.keys[name] == nil {
				delete(present, name)
			}
		}
	}
	for name := range present {
		if !seen[name] {
			return fmt.Errorf("key %q was there during the whole walk and not visited", name)
		}
	}
	return nil
}

// walkSlot walks one slot while between changes the table.
func (m *model) walkSlot(p, want int, between func() error) error {
	k := keyFor(p, "")
	present := map[string]bool{}
	for name, r := range m.keys {
		if r.key.Slot == k.Slot {
			present[name] = true
		}
	}
	if m.table.SlotLen(k.Slot) != len(present) {
		return fmt.Errorf("slot %d has %d keys, want %d", k.Slot, m.table.SlotLen(k.Slot), len(present))
	}
	var c Cursor
	for done := false; !done; {
		var failed error
		c, done = m.table.Scan(k.Slot, c, want, func(k Key, e Entry) {
			delete(present, string(k.Name))
			if err := m.same(k, e); err != nil {
				failed = err
			}
		})
		if failed != nil {
			return failed
		}
		if c >= 1<<CursorBits {
			return fmt.Errorf("cursor %x is too wide", c)
		}
		if err := between(); err != nil {
			return err
		}
		for name := range present {
			if m.keys[name] == nil {
				delete(present, name)
			}
		}
	}
	for name := range present {
		return fmt.Errorf("key %q was there during the whole walk and not visited", name)
	}
	return nil
}

func (m *model) keyless() (s slot.ID, c Cursor, done bool) { return keyFor(0, "").Slot, 0, false }

func numbered(i int) string { return "k" + strconv.Itoa(i) }
