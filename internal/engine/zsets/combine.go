package zsets

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/value"
)

// operation says which members a combination has.
type operation uint8

const (
	union operation = iota
	intersection
	difference
)

// storedEvents are the events of the forms that store.
var storedEvents = [...]string{union: "zunionstore", intersection: "zinterstore", difference: "zdiffstore"}

func zunion(c *engine.Ctx, args engine.Args) { combine(c, args, union) }
func zinter(c *engine.Ctx, args engine.Args) { combine(c, args, intersection) }
func zdiff(c *engine.Ctx, args engine.Args)  { combine(c, args, difference) }

func zunionStore(c *engine.Ctx, args engine.Args) { storeCombined(c, args, union) }
func zinterStore(c *engine.Ctx, args engine.Args) { storeCombined(c, args, intersection) }
func zdiffStore(c *engine.Ctx, args engine.Args)  { storeCombined(c, args, difference) }

func combine(c *engine.Ctx, args engine.Args, op operation) {
	q := combination{op: op, mayScore: true}
	if !q.parse(c, args[1:]) {
		return
	}
	result := q.members()
	w := writer(c, q.scores)
	w.start(len(result))
	for i := range result {
		w.write(pack.String(result[i].member), result[i].score)
	}
}

// storeCombined stores a combination at args[1].
func storeCombined(c *engine.Ctx, args engine.Args, op operation) {
	q := combination{op: op}
	if !q.parse(c, args[2:]) {
		return
	}
	dst := args[1]
	members := q.members()
	if len(members) == 0 {
		c.StoreNothing(dst)
		return
	}
	result := edit{c: c, key: dst}
	result.change()
	longest, bytes := 0, 0
	for i := range members {
		longest = max(longest, len(members[i].member))
		bytes += len(members[i].member)
	}
	if !result.Fits(result.limit, len(members), longest, bytes) {
		result.Grow(c.NewSorted(dst))
	}
	for i := range members {
		result.put(members[i].member, members[i].score)
	}
	c.Find(dst) // if its time is over it is gone, and not overwritten
	result.save()
	c.Notify(shard.NotifyZSet, storedEvents[op], dst)
	c.Emit(args...)
	c.W.Int(int64(len(members)))
}

// zinterCard is ZINTERCARD numkeys key [key ...] [LIMIT limit].
func zinterCard(c *engine.Ctx, args engine.Args) {
	q := combination{op: intersection, mayLimit: true}
	if !q.parse(c, args[1:]) {
		return
	}
	n := int64(0)
	q.intersect(func([]byte, float64) bool {
		n++
		return n != q.limit
	})
	c.W.Int(n)
}

// input is one of the sorted sets of a combination, or a set: its members have
// the score 1.
type input struct {
	sorted value.SortedSet
	set    value.Set
	isSet  bool
	weight float64
}

func (in *input) len() int {
	if in.isSet {
		return in.set.Len()
	}
	return in.sorted.Len()
}

func (in *input) score(member []byte) (float64, bool) {
	if in.isSet {
		return 1, in.set.Has(member)
	}
	return in.sorted.Score(member)
}

func (in *input) each(visit func(member pack.Element, score float64) (more bool)) {
	if in.isSet {
		in.set.Each(func(member pack.Element) bool { return visit(member, 1) })
		return
	}
	in.sorted.Walk(0, in.sorted.Len(), false, visit)
}

// weighted is a score of this input as it counts; infinite ones may be none.
func (in *input) weighted(score float64) float64 { return orZero(score * in.weight) }

func orZero(score float64) float64 {
	if score != score {
		return 0
	}
	return score
}

// aggregate makes one score of two.
type aggregate func(a, b float64) float64

func sum(a, b float64) float64 { return orZero(a + b) }

func lower(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func higher(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// scored is a member of a combination. The member is a view, of an input if it is
// a string there.
type scored struct {
	member []byte
	score  float64
	from   int // the input that it is of
}

// members gives what the combination has, in order.
func (q *combination) members() (all []scored) {
	add := func(member []byte, score float64) bool {
		all = append(all, scored{member: member, score: score})
		return true
	}
	switch q.op {
	case union:
		all = q.unite()
	case intersection:
		q.intersect(add)
	default:
		q.subtract(add)
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), bytes.Compare(a.member, b.member))
	})
	return all
}

// smallestFirst orders the inputs. Redis does so too, and the order in which
// scores are added can be seen in their last digits.
func (q *combination) smallestFirst() {
	slices.SortStableFunc(q.inputs, func(a, b input) int { return cmp.Compare(a.len(), b.len()) })
}

// unite gives what is in any input.
func (q *combination) unite() (all []scored) {
	q.smallestFirst()
	var text texts
	for i := range q.inputs {
		in := &q.inputs[i]
		in.each(func(member pack.Element, score float64) bool {
			all = append(all, scored{text.of(member), in.weighted(score), i})
			return true
		})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(bytes.Compare(a.member, b.member), cmp.Compare(a.from, b.from))
	})
	n := 0
	for _, s := range all {
		if n > 0 && bytes.Equal(all[n-1].member, s.member) {
			all[n-1].score = q.aggregate(all[n-1].score, s.score)
		} else {
			all[n] = s
			n++
		}
	}
	return all[:n]
}

// intersect visits what is in all inputs, until visit says no.
func (q *combination) intersect(visit func(member []byte, score float64) (more bool)) {
	q.smallestFirst()
	first, others := &q.inputs[0], q.inputs[1:]
	var text texts
	first.each(func(e pack.Element, score float64) bool {
		member := text.of(e)
		score = first.weighted(score)
		for i := range others {
			s, ok := others[i].score(member)
			if !ok {
				return true
			}
			score = q.aggregate(score, s*others[i].weight)
		}
		return visit(member, score)
	})
}

// subtract visits what is in the first input and in no other.
func (q *combination) subtract(visit func(member []byte, score float64) (more bool)) {
	first, others := &q.inputs[0], q.inputs[1:]
	// The largest are likely to have it.
	slices.SortStableFunc(others, func(a, b input) int { return cmp.Compare(b.len(), a.len()) })
	var text texts
	first.each(func(e pack.Element, score float64) bool {
		member := text.of(e)
		for i := range others {
			if _, ok := others[i].score(member); ok {
				return true
			}
		}
		return visit(member, score)
	})
}

// texts keeps the texts of integers.
type texts []byte

// of gives an element as text, which stays valid as long as the element's bytes do.
func (t *texts) of(e pack.Element) []byte {
	if _, isInt := e.Int(); !isInt {
		return e.Bytes()
	}
	at := len(*t)
	*t = e.AppendTo(*t)
	return (*t)[at:len(*t):len(*t)]
}
