package shard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// putHash makes a hash of fields "0", "1", ... that expire at the given times.
func putHash(tx *Tx, key string, large bool, times ...int64) {
	name := []byte(key)
	lockKey(tx, name)
	defer tx.Unlock()
	h := value.NewHash(tx.Now)
	h.Own(nil, true)
	limit := value.HashLimit{Entries: 1 << 20, Value: 64}
	if large {
		h.Grow(tx.NewBody(name))
	}
	for i, at := range times {
		field := fmt.Appendf(nil, "%d", i)
		h.Set(field, []byte("v"), false, limit)
		h.SetTime(field, at)
	}
	packed, body, wakeAt := h.Content()
	tx.Put(name, &store.Content{Type: store.Hash, Value: packed, Body: body, WakeAt: wakeAt})
}

// fieldsOf is the number of fields that a hash holds, hidden ones included.
func fieldsOf(tx *Tx, key string) int {
	name := []byte(key)
	lockKey(tx, name)
	defer tx.Unlock()
	e, ok := tx.Find(name)
	switch {
	case !ok:
		return 0
	case e.Large():
		return tx.Body(name, &e).Members.Len()
	}
	h := value.HashOf(&e, nil, 0, 0)
	return h.Len()
}

// effectsIn lists the effects of a shard's log.
func effectsIn(t *testing.T, sh *Shard) (lines []string) {
	t.Helper()
	records, _ := sh.ReadLog(1, 1<<20)
	for _, payload := range records {
		err := DecodeEffects(payload, func(_ int, args [][]byte) error {
			lines = append(lines, fmt.Sprintf("%s", args))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func TestFieldsExpireInTheBackground(t *testing.T) {
	for _, large := range []bool{false, true} {
		r := &recorder{}
		sp := NewSpace(Options{Hooks: r})
		tx := sp.NewTx()
		tx.Now = 1000
		putHash(tx, "h", large, 3000, 2000, 0, 2000)
		r.take()
		steps := []struct {
			now    int64
			fields int
			want   []string
		}{
			{1999, 4, nil},
			{2000, 2, []string{`0 "h" cause 1`, `0 "h" hexpired`}},
			{2999, 2, nil},
			{3000, 1, []string{`0 "h" cause 1`, `0 "h" hexpired`}},
			{1 << 40, 1, nil},
		}
		for _, s := range steps {
			for tx.ExpireStep(s.now, 10) {
			}
			if got := r.take(); !slices.Equal(got, s.want) || fieldsOf(tx, "h") != s.fields {
				t.Errorf("large: %v, at %d: %d fields, %q, want %d, %q", large, s.now, fieldsOf(tx, "h"), got, s.fields, s.want)
			}
		}
		got := effectsIn(t, sp.Shards()[0])
		slices.Sort(got)
		if want := []string{"[HDEL h 0]", "[HDEL h 1]", "[HDEL h 3]"}; !slices.Equal(got, want) {
			t.Errorf("large: %v: effects %q, want %q", large, got, want)
		}
		if n := sp.NewTx().Overview().Stats.Fields; n != 3 {
			t.Errorf("large: %v: %d fields counted", large, n)
		}
	}
}

func TestAHashWithoutFieldsIsDeleted(t *testing.T) {
	for _, large := range []bool{false, true} {
		r := &recorder{}
		sp := NewSpace(Options{Hooks: r})
		tx := sp.NewTx()
		tx.Now = 1000
		putHash(tx, "h", large, 2000, 2000)
		r.take()
		for tx.ExpireStep(2000, 10) {
		}
		want := []string{`0 "h" cause 1`, `0 "h" hexpired`, `0 "h" del`}
		if got := r.take(); !slices.Equal(got, want) || keysIn(sp) != 0 {
			t.Errorf("large: %v: %d keys, %q", large, keysIn(sp), got)
		}
	}
}

func TestExpiryOfFieldsIsBounded(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	tx.Now = 1
	times := make([]int64, 100)
	for i := range times {
		times[i] = 10
	}
	putHash(tx, "h", true, times...)
	for want := 70; want >= 10; want -= 30 {
		if more := tx.ExpireStep(10, 30); !more || fieldsOf(tx, "h") != want {
			t.Fatalf("%d fields left, more is %v; want %d and true", fieldsOf(tx, "h"), more, want)
		}
	}
	for tx.ExpireStep(11, 30) {
	}
	if keysIn(sp) != 0 {
		t.Errorf("%d fields left", fieldsOf(tx, "h"))
	}
}

func TestOnlyTheWriterExpiresFields(t *testing.T) {
	for _, large := range []bool{false, true} {
		sp := NewSpace(Options{})
		tx := sp.NewTx()
		tx.Now = 1000
		putHash(tx, "h", large, 2000, 3000)
		sh := sp.Shards()[0]
		sh.SetGate(GateReplica, true)
		tx.ExpireStep(2500, 10)
		if n := fieldsOf(tx, "h"); n != 2 || sh.Last() != 0 {
			t.Errorf("a replica has %d fields and wrote %d records", n, sh.Last())
		}
		sh.SetGate(GateReplica, false)
		for tx.ExpireStep(2500, 10) {
		}
		if n := fieldsOf(tx, "h"); n != 1 || sh.Last() == 0 {
			t.Errorf("the writer has %d fields and wrote %d records", n, sh.Last())
		}
	}
}
