package value

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/ds/tree"
	"github.com/bowline-kv/bowline/internal/store"
)

// Walk visits the n members from a rank on, upwards or back from the last of
// them, until visit says no; 0 <= from, from+n <= Len.
func (z *SortedSet) Walk(from, n int, back bool, visit func(member pack.Element, score float64) (more bool)) {
	switch {
	case n <= 0:
	case z.body != nil && back:
		z.walkTreeBack(from, n, visit)
	case z.body != nil:
		z.walkTree(from, n, visit)
	case back:
		pos := z.packed.At(2 * (from + n - 1))
		for visit(z.packed.Get(pos), z.scoreBehind(pos)) {
			if n--; n == 0 {
				return
			}
			pos = z.packed.Prev(z.packed.Prev(pos))
		}
	default:
		pos := z.packed.At(2 * from)
		for visit(z.packed.Get(pos), z.scoreBehind(pos)) {
			if n--; n == 0 {
				return
			}
			pos = z.packed.Next(z.packed.Next(pos))
		}
	}
}

func (z *SortedSet) walkTree(from, n int, visit func(member pack.Element, score float64) (more bool)) {
	order := z.body.Order
	for p := order.At(from); n > 0 && z.visitAt(p, visit); n-- {
		p = order.Next(p)
	}
}

func (z *SortedSet) walkTreeBack(from, n int, visit func(member pack.Element, score float64) (more bool)) {
	order := z.body.Order
	for p := order.At(from + n - 1); n > 0 && z.visitAt(p, visit); n-- {
		p = order.Prev(p)
	}
}

func (z *SortedSet) visitAt(p tree.Pos, visit func(member pack.Element, score float64) (more bool)) bool {
	score, ref := z.body.Order.Entry(p)
	return visit(pack.String(z.body.Member(ref)), score)
}

// Rank gives the number of members before a member, and its score; false when
// there is no such member.
func (z *SortedSet) Rank(member []byte) (rank int, score float64, ok bool) {
	if z.body != nil {
		if score, ok = z.body.Score(member); ok {
			rank = z.body.Order.Rank(tree.AtMember(score, member))
		}
		return rank, score, ok
	}
	end := z.find(member)
	if end < 0 {
		return 0, 0, false
	}
	for pos := z.packed.First(); pos < end; rank++ {
		pos = z.packed.Next(z.packed.Next(pos))
	}
	return rank, z.scoreBehind(end), true
}

// ScoreRange is a range of scores. An open end does not include the score itself.
type ScoreRange struct {
	Min, Max         float64
	MinOpen, MaxOpen bool
}

// ByScore gives the rank of the first member in a range, and the number of those
// in it.
func (z *SortedSet) ByScore(r *ScoreRange) (from, n int) {
	if z.body != nil {
		low, high := tree.AtScore(r.Min), tree.AfterScore(r.Max)
		if r.MinOpen {
			low = tree.AfterScore(r.Min)
		}
		if r.MaxOpen {
			high = tree.AtScore(r.Max)
		}
		from = z.body.Order.Rank(low)
		return from, max(0, z.body.Order.Rank(high)-from)
	}
	z.Walk(0, z.Len(), false, func(_ pack.Element, score float64) bool {
		switch {
		case score > r.Max || score == r.Max && r.MaxOpen:
			return false
		case score < r.Min || score == r.Min && r.MinOpen:
			from++
		default:
			n++
		}
		return true
	})
	return from, n
}

// LexEnd is an end of a range of members.
type LexEnd struct {
	Member []byte
	// Open: the member itself is not in the range.
	Open bool
	// Edge is -1 for an end before all members, and 1 for one behind them all; else 0.
	Edge int
}

// before says whether a member is below an end of a range that goes up from it.
func (l *LexEnd) before(e pack.Element) bool {
	if l.Edge != 0 {
		return l.Edge > 0
	}
	c := compareMember(e, l.Member)
	return c < 0 || c == 0 && l.Open
}

// behind says whether a member is above an end of a range that goes up to it.
func (l *LexEnd) behind(e pack.Element) bool {
	if l.Edge != 0 {
		return l.Edge < 0
	}
	c := compareMember(e, l.Member)
	return c > 0 || c == 0 && l.Open
}

// ByLex gives the rank of the first member in a range of members, and the number
// of those in it. That is a range only if all scores are equal: else the answer is
// some range of ranks, for a packed sorted set the one that Redis finds upwards
// or back.
func (z *SortedSet) ByLex(low, high *LexEnd, back bool) (from, n int) {
	switch {
	case z.body != nil:
		from = z.lexRank(low, false)
		return from, max(0, z.lexRank(high, true)-from)
	case z.Len() == 0:
		return 0, 0
	}
	p := z.packed
	if high.behind(p.Get(p.First())) || low.before(p.Get(p.At(-2))) {
		return 0, 0
	}
	if back {
		return z.lexBack(low, high)
	}
	z.Walk(0, z.Len(), false, func(e pack.Element, _ float64) bool {
		switch {
		case n == 0 && low.before(e):
			from++
		case high.behind(e):
			return false
		default:
			n++
		}
		return true
	})
	return from, n
}

// lexBack is [SortedSet.ByLex] of a packed sorted set, back.
func (z *SortedSet) lexBack(low, high *LexEnd) (from, n int) {
	end := z.Len()
	z.Walk(0, end, true, func(e pack.Element, _ float64) bool {
		switch {
		case n == 0 && high.behind(e):
			end--
		case low.before(e):
			return false
		default:
			n++
		}
		return true
	})
	return end - n, n
}

// lexRank is the number of members of a large sorted set before an end of a range.
func (z *SortedSet) lexRank(l *LexEnd, isMax bool) int {
	switch {
	case l.Edge < 0:
		return 0
	case l.Edge > 0:
		return z.Len()
	case l.Open == isMax:
		return z.body.Order.Rank(tree.AtLex(l.Member))
	}
	return z.body.Order.Rank(tree.AfterLex(l.Member))
}

// Random gives a member chosen evenly, and its score; the sorted set is not empty.
func (z *SortedSet) Random(random func() uint64) (member pack.Element, score float64) {
	z.Walk(Below(random(), z.Len()), 1, false, func(e pack.Element, s float64) bool {
		member, score = e, s
		return true
	})
	return member, score
}

// Sample visits n different members, 0..Len, every choice equally likely. random
// gives random numbers.
func (z *SortedSet) Sample(n int, random func() uint64, visit func(member pack.Element, score float64)) {
	size := z.Len()
	if z.body != nil && n <= size/rarely {
		seen := make(map[int]bool, n)
		for len(seen) < n {
			rank := Below(random(), size)
			if !seen[rank] {
				seen[rank] = true
				z.visitAt(z.body.Order.At(rank), func(e pack.Element, s float64) bool {
					visit(e, s)
					return true
				})
			}
		}
		return
	}
	sampler := NewSampler(n, size)
	z.Walk(0, size, false, func(e pack.Element, s float64) bool {
		if sampler.Done() {
			return false
		}
		if sampler.Take(random()) {
			visit(e, s)
		}
		return true
	})
}

// Scan visits members from a cursor on, as [ScanMembers]; a packed sorted set is
// visited as a whole.
func (z *SortedSet) Scan(cursor uint64, want int, visit func(member pack.Element, score float64)) (next uint64) {
	if z.body != nil {
		return ScanMembers(z.body.Members, cursor, want, func(k store.Key, e store.Entry) { visit(pack.String(k.Name), e.Score()) })
	}
	z.Walk(0, z.Len(), false, func(e pack.Element, s float64) bool {
		visit(e, s)
		return true
	})
	return 0
}
