package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// sizesOfValues go over the borders between classes, slabs, and pages.
var sizesOfValues = []int{0, 1, 5, 16, 40, 100, 300, 1000, 1500, 3900, 4060, 4090, 4200, 9000, 64 << 10, 70_000, 200_000}

// TestTableBehavesLikeAMap is the state machine: random commands on a table and
// a map, and after each a walk through all structures of the table.
func TestTableBehavesLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t.Cleanup)
		places := rapid.SampledFrom([]int{1, 2, 40, SlotsPerTable}).Draw(t, "places")
		bulk := rapid.SampledFrom([]int{10, 500, 3000}).Draw(t, "bulk")
		must := func(err error) {
			if err != nil {
				t.Helper()
				t.Fatal(err)
			}
		}
		key := func(t *rapid.T) Key {
			i := rapid.IntRange(0, 3*bulk).Draw(t, "key")
			return keyFor(i%places, numbered(i))
		}
		value := func(t *rapid.T) []byte {
			n := rapid.SampledFrom(sizesOfValues).Draw(t, "size")
			return bytes.Repeat([]byte{byte(n), 'x'}, n/2+1)[:n]
		}
		expiry := func(t *rapid.T) int64 {
			after := rapid.SampledFrom([]int64{0, 0, 1, 20, 50, 5000, 1 << 20, 1 << 40}).Draw(t, "ttl")
			if after == 0 {
				return 0
			}
			return m.now + after
		}
		set := func(t *rapid.T) {
			typ := rapid.SampledFrom([]Type{String, Hash}).Draw(t, "type")
			m.set(key(t), typ, value(t), expiry(t))
		}
		fill := func(t *rapid.T) {
			from, n := rapid.IntRange(0, 3*bulk).Draw(t, "from"), rapid.IntRange(1, bulk).Draw(t, "n")
			v, at := make([]byte, rapid.SampledFrom([]int{1, 17, 100}).Draw(t, "size")), expiry(t)
			for i := from; i < from+n; i++ {
				m.set(keyFor(i%places, numbered(i)), String, v, at)
			}
		}
		thin := func(t *rapid.T) {
			every := rapid.IntRange(1, 12).Draw(t, "every")
			for i := range 4 * bulk {
				if every == 1 || i%every != 0 {
					must(m.delete(keyFor(i%places, numbered(i))))
				}
			}
		}
		step := func(t *rapid.T) {
			for m.table.Step(rapid.IntRange(1, 2000).Draw(t, "budget")) {
			}
			m.pool.Trim()
		}
		mutate := func(t *rapid.T) func() error {
			left := rapid.IntRange(0, 3).Draw(t, "changes")
			return func() error {
				if left--; left < 0 {
					return nil
				}
				rapid.SampledFrom([]func(*rapid.T){set, fill, thin, step}).Draw(t, "change")(t)
				return nil
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":       set,
			"fill":      fill,
			"thin":      thin,
			"step":      step,
			"append":    func(t *rapid.T) { must(m.append(key(t), value(t))) },
			"overwrite": func(t *rapid.T) { m.overwrite(key(t), value(t)) },
			"in place":  func(t *rapid.T) { m.changeInPlace(key(t), rapid.IntRange(1, 20000).Draw(t, "bytes")) },
			"expire":    func(t *rapid.T) { must(m.expire(key(t), expiry(t))) },
			"delete":    func(t *rapid.T) { must(m.delete(key(t))) },
			"pin":       func(t *rapid.T) { must(m.pin(key(t))) },
			"unpin": func(t *rapid.T) {
				if len(m.pins) > 0 {
					must(m.unpin(rapid.IntRange(0, len(m.pins)-1).Draw(t, "pin")))
				}
			},
			"time": func(t *rapid.T) {
				m.now += rapid.SampledFrom([]int64{0, 1, 10, 40, 3000, 1 << 20, 1 << 41}).Draw(t, "passes")
				must(m.due())
			},
			"access": func(t *rapid.T) { m.table.KeepAccess(rapid.Bool().Draw(t, "keep")) },
			"walk": func(t *rapid.T) {
				must(m.walkTable(rapid.IntRange(1, 500).Draw(t, "want"), mutate(t)))
			},
			"walk a slot": func(t *rapid.T) {
				p := rapid.IntRange(0, places-1).Draw(t, "place")
				must(m.walkSlot(p, rapid.IntRange(1, 500).Draw(t, "want"), mutate(t)))
			},
			"flush": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					m.table.Clear()
					clear(m.keys)
				}
			},
			"": func(*rapid.T) { must(m.check()) },
		})
		for len(m.pins) > 0 {
			must(m.unpin(0))
		}
		m.table.Clear()
		if s := m.pool.Stats(); s.InUse != 0 {
			t.Fatalf("the table is empty and holds %d bytes", s.InUse)
		}
	})
}
