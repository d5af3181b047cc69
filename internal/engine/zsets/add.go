package zsets

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

var nameZAdd = []byte("ZADD")

// addOptions are those of ZADD.
type addOptions struct {
	nx, xx, gt, lt bool
	countsChanges  bool // CH
	increments     bool // INCR
	pairs          [][]byte
	added, updated int
	score          float64 // INCR: what it became
	done           bool    // INCR: the conditions were met
	scores         []float64
}

// scoresKept is how many scores need no memory of the heap.
const scoresKept = 16

func zadd(c *engine.Ctx, args engine.Args) { add(c, args, addOptions{}) }

// zincrby is ZADD with INCR.
func zincrby(c *engine.Ctx, args engine.Args) { add(c, args, addOptions{increments: true}) }

func add(c *engine.Ctx, args engine.Args, o addOptions) {
	if !o.parse(c, args) {
		return
	}
	var room [scoresKept]float64
	o.scores = room[:0]
	for i := 0; i < len(o.pairs); i += 2 {
		score, ok := engine.ParseFloat(o.pairs[i])
		if !ok {
			c.Error(reply.NotFloat)
			return
		}
		o.scores = append(o.scores, score)
	}
	if !o.apply(c, args[1]) {
		return
	}
	switch {
	case !o.increments && o.countsChanges:
		c.W.Int(int64(o.added + o.updated))
	case !o.increments:
		c.W.Int(int64(o.added))
	case o.done:
		c.W.Double(o.score)
	default:
		c.W.Null()
	}
	if o.added+o.updated > 0 && !o.increments {
		c.Emit(args...)
	}
}

// parse reads what stands before the scores; false when the error was written.
func (o *addOptions) parse(c *engine.Ctx, args engine.Args) bool {
	at := 2
	for ; at < len(args) && o.option(args[at]); at++ {
	}
	o.pairs = args[at:]
	switch {
	case len(o.pairs) == 0 || len(o.pairs)%2 != 0:
		c.Error(reply.Syntax)
	case o.nx && o.xx:
		c.Error(reply.AddNXConflict)
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		c.Error(reply.AddGTConflict)
	case o.increments && len(o.pairs) > 2:
		c.Error(reply.AddIncrementOne)
	default:
		return true
	}
	return false
}

// option reads one option; false when it is none.
func (o *addOptions) option(arg []byte) bool {
	if len(arg) < 2 || len(arg) > 4 || arg[0] < 'A' {
		return false // most scores
	}
	for _, known := range [...]struct {
		word string
		on   *bool
	}{{"NX", &o.nx}, {"XX", &o.xx}, {"GT", &o.gt}, {"LT", &o.lt}, {"CH", &o.countsChanges}, {"INCR", &o.increments}} {
		if command.IsToken(arg, known.word) {
			*known.on = true
			return true
		}
	}
	return false
}

// apply changes the sorted set; false when the error was written.
func (o *addOptions) apply(c *engine.Ctx, key []byte) bool {
	ed, ok := open(c, key)
	switch {
	case !ok:
		return false
	case !ed.found && o.xx:
		return true
	}
	ed.change()
	for i, score := range o.scores {
		if !o.one(&ed, o.pairs[2*i+1], score) {
			return false
		}
	}
	if o.added+o.updated == 0 {
		if packed, _ := ed.Content(); packed != nil {
			c.KeepScratch(packed)
		}
		return true
	}
	ed.save()
	event := "zadd"
	if o.increments {
		event = "zincr"
		var text [32]byte
		c.Emit(nameZAdd, key, resp.AppendDouble(text[:0], o.score), o.pairs[1])
	}
	c.Notify(shard.NotifyZSet, event, key)
	return true
}

// one adds or changes one member as the options say; false when the error was
// written.
func (o *addOptions) one(ed *edit, member []byte, score float64) bool {
	if o.nx || o.xx || o.gt || o.lt || o.increments {
		old, existed := ed.Score(member)
		if o.increments && existed && !o.nx {
			if score += old; math.IsNaN(score) {
				ed.c.Error(reply.ScoreNaN)
				return false
			}
		}
		if existed && (o.nx || o.lt && score >= old || o.gt && score <= old) || !existed && o.xx {
			return true
		}
	}
	o.score, o.done = score, true
	old, existed := ed.put(member, score)
	switch {
	case !existed:
		o.added++
	case old != score:
		o.updated++
	}
	return true
}
