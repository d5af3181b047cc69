package value

import (
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// TestAHashIsCalledWhatRedisCallsIt, though it has a body much earlier.
func TestAHashIsCalledWhatRedisCallsIt(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	table := store.NewTable(pool, 7)
	limit := HashLimit{Entries: 512, Value: 64}
	fill := func(h *Hash, n int, v string) {
		for i := range n {
			field := strconv.AppendInt(nil, int64(i), 10)
			if _, fits := h.Set(field, []byte(v), false, limit); !fits {
				h.Grow(table.NewBody())
				h.Set(field, []byte(v), false, limit)
			}
		}
	}
	for _, c := range []struct {
		fields int
		value  string
		large  bool
		name   string
	}{
		{128, "v", false, "listpack"},
		{129, "v", true, "listpack"},
		{512, "v", true, "listpack"},
		{513, "v", true, "hashtable"},
		{70, strings.Repeat("x", 64), true, "listpack"}, // more than 4 KiB
		{1, strings.Repeat("x", 65), true, "hashtable"},
	} {
		h := NewHash(0)
		h.Own(nil, false)
		fill(&h, c.fields, c.value)
		packed, body, _ := h.Content()
		e := store.Entry{Type: store.Hash, Value: packed}
		if h.Large() != c.large || EncodingHash(&e, body) != c.name || h.Len() != c.fields {
			t.Errorf("%d fields: large %v, %s, want %v, %s", c.fields, h.Large(), EncodingHash(&e, body), c.large, c.name)
		}
		// A longer value ends it, whatever the size, and nothing brings it back.
		fill(&h, 1, strings.Repeat("x", 65))
		fill(&h, 1, "v")
		if _, body, _ = h.Content(); EncodingHash(&e, body) != "hashtable" {
			t.Errorf("%d fields after a long value: %s", c.fields, EncodingHash(&e, body))
		}
		if body != nil {
			body.Members.Clear()
		}
	}
}
