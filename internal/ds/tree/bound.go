package tree

import "math"

// Order reads members through references.
type Order interface {
	// Compare compares the member that ref names with member, as bytes.Compare
	// does. It is called for entries of equal scores only, but for the bounds of [AtLex]
	// and [AfterLex].
	Compare(ref uint32, member []byte) int
}

// Bound is a place in the order, on or between entries.
type Bound struct {
	kind   boundKind
	score  float64
	member []byte
	// ref is known to be the member's, when kind is byRef.
	ref uint32
}

type boundKind uint8

const (
	byMember boundKind = iota
	byRef
	beforeScore
	afterScore
	beforeMember
	afterMember
)

// AtMember is the place of the entry of a score and a member.
func AtMember(score float64, member []byte) Bound {
	return Bound{kind: byMember, score: score, member: member}
}

// AtScore is before the first entry of a score.
func AtScore(score float64) Bound { return Bound{kind: beforeScore, score: score} }

// AfterScore is behind the last entry of a score.
func AfterScore(score float64) Bound { return Bound{kind: afterScore, score: score} }

// AtLex is before the first entry whose member is not less, whatever its score:
// it is for trees in which all scores are equal.
func AtLex(member []byte) Bound { return Bound{kind: beforeMember, score: noScore, member: member} }

// AfterLex is behind the last entry whose member is not greater, as AtLex.
func AfterLex(member []byte) Bound { return Bound{kind: afterMember, score: noScore, member: member} }

// noScore is neither less than any score nor greater, so that members decide.
var noScore = math.NaN()

// tie says on which side of the bound an entry is whose score does not decide it:
// negative, before it.
func (t *Tree) tie(ref uint32, b *Bound) int {
	switch b.kind {
	case byRef:
		if ref == b.ref {
			return 0
		}
	case beforeScore:
		return 1
	case afterScore:
		return -1
	case beforeMember:
		if t.order.Compare(ref, b.member) < 0 {
			return -1
		}
		return 1
	case afterMember:
		if t.order.Compare(ref, b.member) <= 0 {
			return -1
		}
		return 1
	}
	return t.order.Compare(ref, b.member)
}

// child is the last child whose first entry is not behind the bound, or child 0.
func (t *Tree) child(in *inner, b *Bound) int {
	low, high := 1, int(in.n)
	for low < high {
		mid := int(uint(low+high) / 2)
		if s := in.scores[mid]; s < b.score || !(s > b.score) && t.tie(in.refs[mid], b) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// place is the first entry that is not before the bound; n when all are.
func (t *Tree) place(l *leaf, b *Bound) int {
	low, high := 0, int(l.n)
	for low < high {
		mid := int(uint(low+high) / 2)
		if s := l.scores[mid]; s < b.score || !(s > b.score) && t.tie(l.refs[mid], b) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// path is the way from the root to an entry: a node of each level, and which of
// its children or entries.
type path struct {
	ids [heightMax]uint32
	at  [heightMax]int
}

// find fills the path to the bound's place; found says whether the entry there is
// on the bound. The tree must not be empty.
func (t *Tree) find(b *Bound, p *path) (found bool) {
	id := t.root
	for level := range t.height {
		in := t.inner(id)
		at := t.child(in, b)
		p.ids[level], p.at[level] = id, at
		id = in.kids[at]
	}
	l := t.leaf(id)
	at := t.place(l, b)
	p.ids[t.height], p.at[t.height] = id, at
	return at < int(l.n) && l.scores[at] == b.score && t.tie(l.refs[at], b) == 0
}
