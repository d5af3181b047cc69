package value

import (
	"bytes"
	"math"
	"strconv"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// SortedSet is a view of a sorted set; the zero SortedSet is empty and packed.
// Packed, it is
//
//	member, score, member, score, ...
//
// in the order of scores, and of members where these are equal. A score that is
// a whole number is packed as an integer, any other one as text.
type SortedSet struct {
	packed pack.Pack // nil: there is none yet, or the sorted set is large
	body   *store.Body
}

// SortedSetLimit says up to what a sorted set is packed; Redis has the same
// numbers in its settings.
type SortedSetLimit struct {
	Entries int // members
	Value   int // bytes of a member
}

// SortedSetOf makes a view of a sorted set that was found; body is nil unless it
// is large.
func SortedSetOf(e *store.Entry, body *store.Body) SortedSet {
	if body != nil {
		return SortedSet{body: body}
	}
	return SortedSet{packed: e.Value}
}

// EncodingSortedSet is what OBJECT ENCODING calls the form of a sorted set.
func EncodingSortedSet(e *store.Entry) string {
	if e.Large() {
		return "skiplist"
	}
	return "listpack"
}

// Own makes the sorted set ready for changes, which go into buf if it is packed.
func (z *SortedSet) Own(buf []byte) {
	switch {
	case z.body != nil:
	case z.packed == nil:
		z.packed = append(buf[:0], 0, 0)
	default:
		z.packed = append(buf[:0], z.packed...)
	}
}

// Content is what the key is to be given, and body what it has in place of it;
// one of them is nil.
func (z *SortedSet) Content() (packed []byte, body *store.Body) { return z.packed, z.body }

// Len is the number of members.
func (z *SortedSet) Len() int {
	switch {
	case z.body != nil:
		return z.body.Order.Len()
	case z.packed == nil:
		return 0
	}
	return z.packed.Len() / 2
}

// Score gives the score of a member; false when there is none.
func (z *SortedSet) Score(member []byte) (score float64, ok bool) {
	if z.body != nil {
		return z.body.Score(member)
	}
	pos := z.find(member)
	if pos < 0 {
		return 0, false
	}
	return z.scoreBehind(pos), true
}

// find is the position of a member of a packed sorted set, -1 when there is none.
func (z *SortedSet) find(member []byte) int {
	if z.packed == nil {
		return -1
	}
	return z.packed.Find(z.packed.First(), member, 1)
}

// scoreBehind is the score of the member at a position.
func (z *SortedSet) scoreBehind(pos int) float64 {
	return packedScore(z.packed, z.packed.Next(pos))
}

// packedScore is the score at a position.
func packedScore(p pack.Pack, pos int) float64 {
	if n, ok := pack.IntAt(p, pos); ok {
		return float64(n)
	}
	// What was packed is a number: what is beyond a double's range is infinite.
	f, _ := strconv.ParseFloat(string(p.Get(pos).Bytes()), 64)
	return f
}

// scoreWhole bounds the whole numbers that Redis packs as integers.
const scoreWhole = 1 << 62

func whole(score float64) (n int64, ok bool) {
	if -scoreWhole <= score && score <= scoreWhole {
		n = int64(score)
	}
	return n, float64(n) == score
}

// AppendScore appends a score as ZSCAN tells it: a packed whole number with all
// its digits, any other one as [resp.AppendDouble] has it.
func (z *SortedSet) AppendScore(dst []byte, score float64) []byte {
	if n, ok := whole(score); ok && z.body == nil {
		return resp.AppendInt(dst, n)
	}
	return resp.AppendDouble(dst, score)
}

// scoreRoom is enough for the text of any score.
const scoreRoom = 32

// scoreItem makes a score ready to be packed; room has [scoreRoom] bytes.
func scoreItem(score float64, room []byte) pack.Item {
	if n, ok := whole(score); ok {
		return pack.IntItem(n)
	}
	if math.IsInf(score, 0) {
		return pack.ItemOf(resp.AppendDouble(room[:0], score))
	}
	return pack.ItemOf(strconv.AppendFloat(room[:0], score, 'g', -1, 64))
}

// Put gives a member a score, which is not NaN, and adds it if need be. It
// returns the score that it had before, if it was there. fits is false, and
// nothing was done, when the sorted set must Grow before. It is owned, and member
// is no view into it.
func (z *SortedSet) Put(member []byte, score float64, limit SortedSetLimit) (old float64, existed, fits bool) {
	if z.body != nil {
		old, existed = z.body.SetScore(member, score)
		return old, existed, true
	}
	it := pack.ItemOf(member)
	pos := pack.Find(z.packed, z.packed.First(), 1, &it)
	if pos < 0 {
		if !z.Fits(limit, 1, len(member), len(member)) {
			return 0, false, false
		}
		z.insert(member, score, &it)
		return 0, false, true
	}
	if old = z.scoreBehind(pos); old != score {
		z.packed = z.packed.Delete(pos, 2)
		z.insert(member, score, &it)
	}
	return old, true, true
}

// Fits says whether so many more members, of up to longest bytes and of so many
// bytes together, may be packed with those that are.
func (z *SortedSet) Fits(limit SortedSetLimit, count, longest, bytes int) bool {
	return longest <= limit.Value && z.Len()+count <= limit.Entries && len(z.packed)+bytes <= packedMax
}

// insert puts a new member into a packed sorted set.
func (z *SortedSet) insert(member []byte, score float64, it *pack.Item) {
	var room [scoreRoom]byte
	value := scoreItem(score, room[:])
	z.packed = z.packed.InsertPair(z.place(member, score), it, &value)
}

// place is the position before which a new member belongs. It is looked for from
// behind, as scores often grow.
func (z *SortedSet) place(member []byte, score float64) int {
	p := z.packed
	pos := p.End()
	for pos > p.First() {
		at := p.Prev(pos)
		s := packedScore(p, at)
		at = p.Prev(at)
		if s < score || s == score && compareMember(p.Get(at), member) < 0 {
			break
		}
		pos = at
	}
	return pos
}

func compareMember(e pack.Element, member []byte) int {
	var room [TextMax]byte
	return bytes.Compare(Text(e, room[:]), member)
}

// Remove takes a member out; false when it is not there. The sorted set is owned,
// and member is no view into it.
func (z *SortedSet) Remove(member []byte) bool {
	if z.body != nil {
		_, ok := z.body.RemoveMember(member)
		return ok
	}
	pos := z.find(member)
	if pos < 0 {
		return false
	}
	z.packed = z.packed.Delete(pos, 2)
	return true
}

// RemoveRange takes out the n members from a rank on; 0 <= from, from+n <= Len.
// The sorted set is owned.
func (z *SortedSet) RemoveRange(from, n int) {
	if z.body != nil {
		for range n {
			z.body.RemoveRank(from)
		}
		return
	}
	if n > 0 {
		z.packed = z.packed.Delete(z.packed.At(2*from), 2*n)
	}
}

// Grow makes a packed sorted set large, in an empty body.
func (z *SortedSet) Grow(body *store.Body) {
	var room [TextMax]byte
	z.Walk(0, z.Len(), false, func(member pack.Element, score float64) bool {
		body.SetScore(Text(member, room[:]), score)
		return true
	})
	z.packed, z.body = nil, body
}

// VisitSortedSet visits all members of a sorted set in order, until visit says no.
func VisitSortedSet(e *store.Entry, body *store.Body, visit func(member pack.Element, score float64) (more bool)) {
	z := SortedSetOf(e, body)
	z.Walk(0, z.Len(), false, visit)
}
