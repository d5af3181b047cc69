package keys

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// sorting is a SORT in progress. Everything is locked.
type sorting struct {
	c        *engine.Ctx
	key      []byte
	by       []byte   // nil: by the elements themselves
	get      [][]byte // patterns; none: the elements
	store    []byte   // nil: reply
	offset   int64
	count    int64 // < 0: all
	desc     bool
	alpha    bool
	unsorted bool // BY a pattern without a *

	kind     store.Type // of the key
	elements []sortable
}

// sortable is an element with what it is sorted by.
type sortable struct {
	text   []byte
	score  float64
	weight []byte // ALPHA; nil: there is none
}

func sort(c *engine.Ctx, args engine.Args)   { sortKey(c, args, true) }
func sortRO(c *engine.Ctx, args engine.Args) { sortKey(c, args, false) }

func sortKey(c *engine.Ctx, args engine.Args, writes bool) {
	s := sorting{c: c, key: args[1], count: -1}
	if text := s.parse(args[2:], writes); text != "" {
		c.Error(text)
		return
	}
	if !s.allowed(args) || !s.load() {
		return
	}
	from, n := s.span()
	if !s.unsorted {
		if !s.weigh() {
			c.Error(reply.SortNotNumbers)
			return
		}
		s.order()
	}
	chosen := s.elements[from : from+n]
	if s.store != nil {
		s.keep(chosen)
	} else {
		s.answer(chosen)
	}
}

// parse reads the options and returns the error, "" when there is none.
func (s *sorting) parse(args [][]byte, writes bool) string {
	for i := 0; i < len(args); i++ {
		left := len(args) - i - 1
		switch {
		case command.IsToken(args[i], "ASC"):
			s.desc = false
		case command.IsToken(args[i], "DESC"):
			s.desc = true
		case command.IsToken(args[i], "ALPHA"):
			s.alpha = true
		case command.IsToken(args[i], "LIMIT") && left >= 2:
			var ok, too bool
			s.offset, ok = resp.ParseInt(args[i+1])
			s.count, too = resp.ParseInt(args[i+2])
			if !ok || !too {
				return reply.NotInteger
			}
			i += 2
		case command.IsToken(args[i], "STORE") && left >= 1 && writes:
			s.store = args[i+1]
			i++
		case command.IsToken(args[i], "BY") && left >= 1:
			s.by = args[i+1]
			s.unsorted = bytes.IndexByte(s.by, '*') < 0
			if !s.unsorted && s.crossesSlots(s.by) {
				return reply.SortByCluster
			}
			i++
		case command.IsToken(args[i], "GET") && left >= 1:
			if p := args[i+1]; string(p) != "#" && s.crossesSlots(p) {
				return reply.SortGetCluster
			}
			s.get = append(s.get, args[i+1])
			i++
		default:
			return reply.Syntax
		}
	}
	return ""
}

// crossesSlots says whether, in a cluster, keys made of a pattern may be in
// another slot than the key: only a hash tag before the * rules that out.
func (s *sorting) crossesSlots(pattern []byte) bool {
	if !s.c.InCluster() {
		return false
	}
	head := pattern
	if star := bytes.IndexByte(pattern, '*'); star >= 0 {
		head = pattern[:star]
		open := bytes.IndexByte(head, '{')
		if open < 0 || bytes.IndexByte(head[open:], '}') < 2 {
			return true
		}
	}
	return slot.Of(head) != slot.Of(s.key)
}

// allowed asks whether the user may read keys that no argument names; on false
// the error was written.
func (s *sorting) allowed(args [][]byte) bool {
	reads := s.by != nil && !s.unsorted
	text := reply.SortByACL
	if !reads {
		reads, text = slices.ContainsFunc(s.get, func(p []byte) bool { return string(p) != "#" }), reply.SortGetACL
	}
	if reads && !s.c.Applying && !s.c.ReadsAnyKey(args) {
		s.c.Error(text)
		return false
	}
	return true
}

// load reads the elements; on false the error was written.
func (s *sorting) load() bool {
	e, found := s.c.Lookup(s.key)
	if !found {
		return true
	}
	body := bodyOf(s.c, s.key, &e)
	s.kind = e.Type
	add := func(x pack.Element) bool {
		s.elements = append(s.elements, sortable{text: x.AppendTo(nil)})
		return true
	}
	switch e.Type {
	case store.List:
		value.VisitList(&e, body, add)
	case store.Set:
		value.VisitSet(&e, body, add)
		if s.unsorted && s.store != nil {
			// A set has no order that would be the same everywhere.
			s.unsorted, s.alpha, s.by = false, true, nil
		}
	case store.ZSet:
		value.VisitSortedSet(&e, body, func(m pack.Element, _ float64) bool { return add(m) })
	default:
		s.c.Error(reply.WrongType)
		return false
	}
	if s.unsorted && s.desc && s.kind != store.Set {
		slices.Reverse(s.elements)
	}
	return true
}

// span is the part that LIMIT asks for.
func (s *sorting) span() (from, n int) {
	size := int64(len(s.elements))
	start := min(max(s.offset, 0), size)
	count := min(max(s.count, -1), size)
	if count < 0 {
		count = size
	}
	return int(start), int(min(count, size-start))
}

// weigh finds what the elements are sorted by; false when that is no number
// where it must be.
func (s *sorting) weigh() bool {
	for i := range s.elements {
		x := &s.elements[i]
		weight, found := x.text, true
		if s.by != nil {
			weight, found = s.lookup(s.by, x.text)
		}
		switch {
		case !found:
		case s.alpha:
			x.weight = append([]byte{}, weight...)
		default:
			var ok bool
			if x.score, ok = sortNumber(weight); !ok {
				return false
			}
		}
	}
	return true
}

// sortNumber reads what C's strtod does: spaces may come first, and nothing is 0.
func sortNumber(text []byte) (float64, bool) {
	if len(text) == 0 {
		return 0, true
	}
	return engine.ParseFloat(bytes.TrimLeft(text, " \t\n\v\f\r"))
}

func (s *sorting) order() {
	slices.SortStableFunc(s.elements, func(a, b sortable) int {
		d := 0
		switch {
		case !s.alpha:
			if d = cmp.Compare(a.score, b.score); d == 0 {
				d = bytes.Compare(a.text, b.text)
			}
		case a.weight == nil || b.weight == nil:
			d = present(a.weight) - present(b.weight)
		default:
			d = bytes.Compare(a.weight, b.weight)
		}
		if s.desc {
			return -d
		}
		return d
	})
}

func present(b []byte) int {
	if b == nil {
		return 0
	}
	return 1
}

// lookup finds the string, or the field of a hash, that a pattern names for an
// element. The view is valid until the next lookup.
func (s *sorting) lookup(pattern, element []byte) ([]byte, bool) {
	if string(pattern) == "#" {
		return element, true
	}
	star := bytes.IndexByte(pattern, '*')
	if star < 0 {
		return nil, false
	}
	key, field := pattern, []byte(nil)
	if i := bytes.Index(pattern[star:], []byte("->")); i >= 0 && star+i+2 < len(pattern) {
		key, field = pattern[:star+i], pattern[star+i+2:]
	}
	name := slices.Concat(key[:star], element, key[star+1:])
	e, found := s.c.Lookup(name)
	switch {
	case !found:
		return nil, false
	case field == nil && e.Type == store.String:
		return e.Value, true
	case field == nil || e.Type != store.Hash:
		return nil, false
	}
	h := value.HashOf(&e, bodyOf(s.c, name, &e), s.c.Now, 0)
	v, _, ok := h.Get(field)
	if !ok {
		return nil, false
	}
	return v.AppendTo(nil), true
}

// answer replies with the chosen elements, or what GET finds for them.
func (s *sorting) answer(chosen []sortable) {
	w := s.c.W
	if len(s.get) == 0 {
		w.Array(len(chosen))
		for i := range chosen {
			w.Bulk(chosen[i].text)
		}
		return
	}
	w.Array(len(chosen) * len(s.get))
	for i := range chosen {
		for _, pattern := range s.get {
			if v, ok := s.lookup(pattern, chosen[i].text); ok {
				w.Bulk(v)
			} else {
				w.Null()
			}
		}
	}
}
