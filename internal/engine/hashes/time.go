package hashes

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// What the commands on times answer for a field.
const (
	noField   = -2
	noTime    = -1 // it does not expire
	unchanged = 0  // a condition is not met
	done      = 1
	deleted   = 2 // the new time is over already
)

// timeMax is the last time, in unix milliseconds, that a field may have: as in
// Redis, whose files keep 46 bits.
const timeMax = 1<<46 - 1

// fieldTime reads a time for fields, in unix milliseconds; when ok is false the
// error was written.
func fieldTime(c *engine.Ctx, arg []byte, u engine.Unit) (at int64, ok bool) {
	n, ok := c.Int(arg)
	if !ok {
		return 0, false
	}
	if n < 0 {
		c.Error(reply.FieldExpireSign)
		return 0, false
	}
	if at, ok = u.Absolute(n, c.Now); !ok || at > timeMax {
		c.Error(reply.InvalidExpire(c.Name))
		return 0, false
	}
	return at, true
}

// fieldsFrom reads FIELDS numfields field [field ...] from argument number at on;
// when ok is false the error was written, for a bad number the given one.
func fieldsFrom(c *engine.Ctx, args engine.Args, at int, badNumber string) (fields [][]byte, ok bool) {
	if !command.IsToken(args[at], "FIELDS") {
		c.Error(reply.FieldsMissing)
		return nil, false
	}
	if at+1 == len(args) {
		c.Error(reply.WrongArgs(c.Name))
		return nil, false
	}
	n, ok := resp.ParseInt(args[at+1])
	if !ok || n < 1 {
		c.Error(badNumber)
		return nil, false
	}
	if fields = args[at+2:]; n != int64(len(fields)) {
		c.Error(reply.FieldsMismatch)
		return nil, false
	}
	return fields, true
}

func hexpire(c *engine.Ctx, args engine.Args)    { setTimes(c, args, engine.Seconds) }
func hpexpire(c *engine.Ctx, args engine.Args)   { setTimes(c, args, engine.Millis) }
func hexpireAt(c *engine.Ctx, args engine.Args)  { setTimes(c, args, engine.SecondsAt) }
func hpexpireAt(c *engine.Ctx, args engine.Args) { setTimes(c, args, engine.MillisAt) }

func setTimes(c *engine.Ctx, args engine.Args, u engine.Unit) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	at, ok := fieldTime(c, args[2], u)
	if !ok {
		return
	}
	allows, next := condition(args)
	fields, ok := fieldsFrom(c, args, next, reply.NumFieldsPositive)
	if !ok {
		return
	}
	c.W.Array(len(fields))
	ed.changeTimes()
	t := newTimes(&ed, at)
	for _, field := range fields {
		_, old, exists := ed.Get(field)
		switch {
		case !exists:
			c.W.Int(noField)
		case !allows(old, at):
			c.W.Int(unchanged)
		default:
			c.W.Int(t.set(field))
		}
	}
	t.save()
}

// condition reads the option of HEXPIRE and its family, and gives what it says of
// an old time, 0 being never, and a new one, and the number of the next argument.
func condition(args engine.Args) (allows func(old, at int64) bool, next int) {
	switch option := args[3]; {
	case command.IsToken(option, "NX"):
		return func(old, _ int64) bool { return old == 0 }, 4
	case command.IsToken(option, "XX"):
		return func(old, _ int64) bool { return old != 0 }, 4
	case command.IsToken(option, "GT"):
		return func(old, at int64) bool { return old != 0 && at > old }, 4
	case command.IsToken(option, "LT"):
		return func(old, at int64) bool { return old == 0 || at < old }, 4
	}
	return func(_, _ int64) bool { return true }, 3
}

// times gives fields of a hash, which is owned for times, one and the same time;
// those it is over for are deleted.
type times struct {
	ed      *edit
	at      int64 // unix milliseconds
	changed [][]byte
}

func newTimes(ed *edit, at int64) times { return times{ed: ed, at: at} }

// over says whether the time is over.
func (t *times) over() bool { return t.at <= t.ed.c.Now }

// set sets the time of a field that is there, and gives what HEXPIRE answers.
func (t *times) set(field []byte) int64 {
	t.changed = append(t.changed, field)
	if t.over() {
		t.ed.Delete(field)
		return deleted
	}
	t.ed.SetTime(field, t.at)
	return done
}

// Words of effects.
var (
	nameHDel       = []byte("HDEL")
	nameHPersist   = []byte("HPERSIST")
	nameHPExpireAt = []byte("HPEXPIREAT")
)

// save saves the hash and tells what was done, if anything was.
func (t *times) save() {
	c, key := t.ed.c, t.ed.key
	var digits, count [20]byte
	switch {
	case len(t.changed) == 0:
		return
	case t.over():
		c.Emit(append([][]byte{nameHDel, key}, t.changed...)...)
		c.Notify(shard.NotifyHash, "hdel", key)
	default:
		c.Emit(append([][]byte{
			nameHPExpireAt, key, resp.AppendInt(digits[:0], t.at), nameFields, resp.AppendInt(count[:0], int64(len(t.changed))),
		}, t.changed...)...)
		c.Notify(shard.NotifyHash, "hexpire", key)
	}
	t.ed.save()
}

func httl(c *engine.Ctx, args engine.Args) {
	tellTimes(c, args, func(at int64) int64 { return nextSecond(at - c.Now) })
}

func hpttl(c *engine.Ctx, args engine.Args) {
	tellTimes(c, args, func(at int64) int64 { return at - c.Now })
}

func hexpireTime(c *engine.Ctx, args engine.Args) { tellTimes(c, args, nextSecond) }

func hpexpireTime(c *engine.Ctx, args engine.Args) {
	tellTimes(c, args, func(at int64) int64 { return at })
}

// nextSecond rounds up.
func nextSecond(millis int64) int64 { return (millis + 999) / 1000 }

func tellTimes(c *engine.Ctx, args engine.Args, answer func(at int64) int64) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	fields, ok := fieldsFrom(c, args, 2, reply.FieldsPositive)
	if !ok {
		return
	}
	c.W.Array(len(fields))
	for _, field := range fields {
		_, at, exists := h.Get(field)
		switch {
		case !exists:
			c.W.Int(noField)
		case at == 0:
			c.W.Int(noTime)
		default:
			c.W.Int(answer(at))
		}
	}
}

func hpersist(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	fields, ok := fieldsFrom(c, args, 2, reply.FieldsPositive)
	if !ok {
		return
	}
	c.W.Array(len(fields))
	ed.changeTimes()
	var changed [][]byte
	for _, field := range fields {
		_, at, exists := ed.Get(field)
		switch {
		case !exists:
			c.W.Int(noField)
		case at == 0:
			c.W.Int(noTime)
		default:
			ed.SetTime(field, 0)
			changed = append(changed, field)
			c.W.Int(done)
		}
	}
	ed.persisted(changed)
}

// persisted saves a hash some fields of which don't expire any more, if there are
// such.
func (ed *edit) persisted(fields [][]byte) {
	if len(fields) == 0 {
		return
	}
	var count [20]byte
	ed.c.Emit(append([][]byte{nameHPersist, ed.key, nameFields, resp.AppendInt(count[:0], int64(len(fields)))}, fields...)...)
	ed.c.Notify(shard.NotifyHash, "hpersist", ed.key)
	ed.save()
}
