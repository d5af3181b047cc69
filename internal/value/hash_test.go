package value

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// someTexts are fields, members and values of all kinds of packed elements.
var someTexts = []string{"", "a", "b", "field", "-1", "0", "7", "300", "70000", "9223372036854775807", "007", "longer than a limit allows"}

// timedValue is what the model of a hash keeps for a field.
type timedValue struct {
	text string
	at   int64
}

// hashModel is a hash in a table, and what it should be.
type hashModel struct {
	table  *store.Table
	key    store.Key
	now    int64
	fields map[string]timedValue
	limit  HashLimit
}

func newHashModel(limit HashLimit) *hashModel {
	m := &hashModel{table: store.NewTable(page.New(), 1), fields: map[string]timedValue{}, limit: limit, now: 1000}
	m.key = m.table.Key([]byte("key"))
	return m
}

// view finds the hash as a command does.
func (m *hashModel) view() (h Hash, e store.Entry) {
	e, found := m.table.Get(m.key)
	switch {
	case !found:
		h = NewHash(m.now)
	case e.Large():
		h = HashOf(&e, m.table.Body(&e), m.now, m.table.WakeAt(&e))
	default:
		h = HashOf(&e, nil, m.now, 0)
	}
	return h, e
}

// change runs a command that changes the hash, and saves it as a handler does.
func (m *hashModel) change(timed bool, command func(h *Hash)) {
	h, _ := m.view()
	h.Own(nil, timed)
	command(&h)
	packed, body, wakeAt := h.Content()
	if h.Drained() {
		m.table.Delete(m.key)
		return
	}
	m.table.Put(m.key, &store.Content{Type: store.Hash, Value: packed, Body: body, WakeAt: wakeAt})
}

func (m *hashModel) set(h *Hash, field, v string, keep bool) (added bool) {
	added, fits := h.Set([]byte(field), []byte(v), keep, m.limit)
	if !fits {
		h.Grow(m.table.NewBody())
		added, _ = h.Set([]byte(field), []byte(v), keep, m.limit)
	}
	return added
}

func (m *hashModel) hidden(field string) bool {
	at := m.fields[field].at
	return at != 0 && at <= m.now
}

// seen is what readers should see.
func (m *hashModel) seen() map[string]timedValue {
	seen := maps.Clone(m.fields)
	maps.DeleteFunc(seen, func(field string, _ timedValue) bool { return m.hidden(field) })
	return seen
}

func (m *hashModel) check(t *rapid.T) {
	h, e := m.view()
	want, got := m.seen(), map[string]timedValue{}
	collect := func(field, v pack.Element, at int64) bool {
		if _, twice := got[text(field)]; twice {
			t.Fatalf("field %q comes twice", text(field))
		}
		got[text(field)] = timedValue{text(v), at}
		return true
	}
	h.Each(collect)
	if !maps.Equal(want, got) {
		t.Fatalf("fields %v, want %v", got, want)
	}
	if h.Len() != len(want) || h.Drained() != (len(m.fields) == 0) {
		t.Fatalf("%d fields, drained %v, want %d of %d", h.Len(), h.Drained(), len(want), len(m.fields))
	}
	for _, field := range someTexts {
		v, at, ok := h.Get([]byte(field))
		if w, there := want[field]; there != ok || ok && (timedValue{text(v), at} != w) {
			t.Fatalf("field %q is %q until %d, %v, want %v", field, text(v), at, ok, w)
		}
	}
	if !e.Large() && e.Type != store.None {
		if !pack.Pack(e.Value).Valid() {
			t.Fatalf("a pack that is not valid: %q", e.Value)
		}
		if e.Timed && !slices.IsSortedFunc(times(e.Value), compareTimes) {
			t.Fatalf("times are not in order: %d", times(e.Value))
		}
	}
	m.checkWake(t, &e)
}

// checkWake wants the hash to come up in the wheel before its first field expires.
func (m *hashModel) checkWake(t *rapid.T, e *store.Entry) {
	first := int64(0)
	for _, v := range m.fields {
		if v.at != 0 && (first == 0 || v.at < first) {
			first = v.at
		}
	}
	if e.Timed != (first != 0) || e.Timed && m.table.WakeAt(e) > first {
		t.Fatalf("timed: %v, wakes at %d, the first field expires at %d", e.Timed, m.table.WakeAt(e), first)
	}
}

func times(p pack.Pack) (all []int64) {
	for i := 2; i < p.Len(); i += 3 {
		at, _ := p.Get(p.At(i)).Int()
		all = append(all, at)
	}
	return all
}

// compareTimes has never, 0, behind all others.
func compareTimes(a, b int64) int {
	switch {
	case a == b:
		return 0
	case a == 0, b != 0 && a > b:
		return 1
	}
	return -1
}

func text(e pack.Element) string { return string(e.AppendTo(nil)) }

// TestHashIsAMapWithTimes does random commands on a hash in both forms.
func TestHashIsAMapWithTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := HashLimit{Entries: rapid.SampledFrom([]int{0, 3, 512}).Draw(t, "entries"), Value: rapid.SampledFrom([]int{4, 64}).Draw(t, "value")}
		m := newHashModel(limit)
		// Few fields meet more often.
		field := rapid.SampledFrom(someTexts[:rapid.SampledFrom([]int{3, len(someTexts)}).Draw(t, "fields")])
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"set": func(t *rapid.T) {
				f, v, keep := field.Draw(t, "field"), field.Draw(t, "value"), rapid.Bool().Draw(t, "keep")
				old, there := m.fields[f]
				there = there && !m.hidden(f)
				m.change(false, func(h *Hash) {
					if m.set(h, f, v, keep) == there {
						t.Fatalf("added %q: %v, it was there: %v", f, !there, there)
					}
				})
				at := int64(0)
				if there && keep {
					at = old.at
				}
				m.fields[f] = timedValue{v, at}
			},
			"delete": func(t *rapid.T) {
				f := field.Draw(t, "field")
				_, there := m.seen()[f]
				m.change(false, func(h *Hash) {
					if h.Delete([]byte(f)) != there {
						t.Fatalf("deleting %q, which is there: %v", f, there)
					}
				})
				if there {
					delete(m.fields, f)
				}
			},
			"time": func(t *rapid.T) {
				f, at := field.Draw(t, "field"), rapid.SampledFrom([]int64{0, 1001, 1500, 2000, 1 << 40}).Draw(t, "at")
				v, there := m.seen()[f]
				if !there {
					return
				}
				m.change(true, func(h *Hash) { h.SetTime([]byte(f), at) })
				m.fields[f] = timedValue{v.text, at}
			},
			"later": func(t *rapid.T) {
				m.now = max(m.now, rapid.SampledFrom([]int64{1001, 1200, 1500, 2000, 3000}).Draw(t, "now"))
			},
			"expire": func(t *rapid.T) {
				if _, e := m.view(); e.Type == store.None || e.Large() {
					return
				}
				m.change(true, func(h *Hash) {
					h.DropHidden(func(field pack.Element) {
						if !m.hidden(text(field)) {
							t.Fatalf("field %q is dropped", text(field))
						}
						delete(m.fields, text(field))
					})
				})
			},
			"sample": func(t *rapid.T) {
				h, _ := m.view()
				n := rapid.IntRange(0, h.Len()).Draw(t, "n")
				found := map[string]bool{}
				h.Sample(n, dice(rapid.Uint64().Draw(t, "seed")), func(field, v pack.Element) {
					if m.seen()[text(field)].text != text(v) {
						t.Fatalf("sampled %q with %q", text(field), text(v))
					}
					found[text(field)] = true
				})
				if len(found) != n {
					t.Fatalf("sampled %d different fields, want %d", len(found), n)
				}
			},
		})
	})
}

// dice gives random numbers.
func dice(seed uint64) func() uint64 {
	return func() uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed ^ seed>>31
	}
}

func TestScanOfALargeCollectionFindsAll(t *testing.T) {
	for _, n := range []int{1, 10, 1000, 100_000} {
		m := newHashModel(HashLimit{})
		m.change(false, func(h *Hash) {
			for i := range n {
				m.set(h, fmt.Sprint("field", i), "v", false)
			}
		})
		h, _ := m.view()
		found := map[string]int{}
		cursor, calls := uint64(0), 0
		for first := true; first || cursor != 0; first = false {
			cursor = h.Scan(cursor, 10, func(field, _ pack.Element) { found[text(field)]++ })
			calls++
		}
		runtime.KeepAlive(m) // whose end would be that of the pages
		if len(found) != n || n > 10_000 && calls < n/1000 {
			t.Errorf("%d of %d fields found in %d calls", len(found), n, calls)
		}
	}
}

// TestChanceIsEven chooses many times: every field comes about equally often.
func TestChanceIsEven(t *testing.T) {
	for _, limit := range []HashLimit{{}, {Entries: 512, Value: 64}} {
		const fields, draws = 30, 30_000
		m := newHashModel(limit)
		m.change(false, func(h *Hash) {
			for i := range fields {
				m.set(h, fmt.Sprint(i), "v", false)
			}
		})
		h, _ := m.view()
		random := dice(1)
		for _, draw := range map[string]func(count func(pack.Element)){
			"one":  func(count func(pack.Element)) { f, _ := h.Random(random); count(f) },
			"few":  func(count func(pack.Element)) { h.Sample(3, random, func(f, _ pack.Element) { count(f) }) },
			"many": func(count func(pack.Element)) { h.Sample(20, random, func(f, _ pack.Element) { count(f) }) },
		} {
			counts, total := map[string]int{}, 0
			for total < draws {
				draw(func(f pack.Element) { counts[text(f)]++; total++ })
			}
			for f, n := range counts {
				if mean := total / fields; n < mean*3/4 || n > mean*5/4 {
					t.Errorf("limit %v: field %s came %d times, %d on average", limit, f, n, mean)
				}
			}
			if len(counts) != fields {
				t.Errorf("limit %v: %d of %d fields came", limit, len(counts), fields)
			}
		}
		runtime.KeepAlive(m)
	}
}
