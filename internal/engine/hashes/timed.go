package hashes

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func hgetdel(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	fields, ok := fieldsFrom(c, args, 2, reply.FieldsPositive)
	if !ok {
		return
	}
	c.W.Array(len(fields))
	ed.change()
	var gone [][]byte
	for _, field := range fields {
		if writeField(c, &ed.Hash, field) {
			ed.Delete(field)
			gone = append(gone, field)
		}
	}
	if len(gone) == 0 {
		return
	}
	c.Emit(append([][]byte{nameHDel, ed.key}, gone...)...)
	c.Notify(shard.NotifyHash, "hdel", ed.key)
	ed.save()
}

func hgetex(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	at, next, ok := int64(0), 2, false
	unit, timed := engine.UnitOption(args[2])
	persist := command.IsToken(args[2], "PERSIST")
	switch {
	case timed:
		if at, ok = fieldTime(c, args[3], unit); !ok {
			return
		}
		next = 4
	case persist:
		next = 3
	}
	fields, ok := fieldsFrom(c, args, next, reply.FieldsPositive)
	if !ok {
		return
	}
	c.W.Array(len(fields))
	if !timed && !persist {
		for _, field := range fields {
			writeField(c, &ed.Hash, field)
		}
		return
	}
	ed.changeTimes()
	t := newTimes(&ed, at)
	for _, field := range fields {
		_, old, _ := ed.Get(field)
		switch exists := writeField(c, &ed.Hash, field); {
		case exists && timed:
			t.set(field)
		case exists && old != 0:
			ed.SetTime(field, 0)
			t.changed = append(t.changed, field)
		}
	}
	if timed {
		t.save()
	} else {
		ed.persisted(t.changed)
	}
}

// setOptions are those of HSETEX.
type setOptions struct {
	timed, keep      bool
	onlyNew, onlyOld bool
	at               int64 // if timed, in unix milliseconds
	pairs            [][]byte
}

func hsetex(c *engine.Ctx, args engine.Args) {
	o, ok := parseSetEx(c, args)
	if !ok {
		return
	}
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	for i := 0; i < len(o.pairs) && (o.onlyNew || o.onlyOld); i += 2 {
		if _, _, exists := ed.Get(o.pairs[i]); exists == o.onlyNew {
			c.W.Int(0)
			return
		}
	}
	switch {
	case !o.timed:
		ed.setKeeping(&o)
	case o.at <= c.Now:
		ed.setOver(&o)
	default:
		ed.setTimed(&o)
	}
	c.W.Int(1)
}

// parseSetEx reads the arguments of HSETEX; when ok is false the error was written.
func parseSetEx(c *engine.Ctx, args engine.Args) (o setOptions, ok bool) {
	for i := 2; i < len(args); i++ {
		unit, timed := engine.UnitOption(args[i])
		keep := command.IsToken(args[i], "KEEPTTL")
		isNew, isOld := command.IsToken(args[i], "FNX"), command.IsToken(args[i], "FXX")
		switch {
		case command.IsToken(args[i], "FIELDS"):
			o.pairs, ok = pairsFrom(c, args, i)
			return o, ok
		case (timed || keep) && (o.timed || o.keep):
			c.Error(reply.FieldTimes)
			return o, false
		case (isNew || isOld) && (o.onlyNew || o.onlyOld):
			c.Error(reply.FieldConditions)
			return o, false
		case timed && i+1 == len(args):
			c.Error(reply.FieldTimeMissing)
			return o, false
		case timed:
			i++
			o.timed = true
			if o.at, ok = fieldTime(c, args[i], unit); !ok {
				return o, false
			}
		case keep:
			o.keep = true
		case isNew || isOld:
			o.onlyNew, o.onlyOld = isNew, isOld
		default:
			c.Error(reply.UnknownArgument(args[i]))
			return o, false
		}
	}
	c.Error(reply.FieldsMissing)
	return o, false
}

// pairsFrom reads FIELDS numfields field value [field value ...] from argument
// number at on; when ok is false the error was written.
func pairsFrom(c *engine.Ctx, args engine.Args, at int) (pairs [][]byte, ok bool) {
	if at >= len(args)-3 {
		c.Error(reply.WrongArgs(c.Name))
		return nil, false
	}
	n, ok := resp.ParseInt(args[at+1])
	if !ok || n < 1 || n > math.MaxInt32 {
		c.Error(reply.FieldsNumber)
		return nil, false
	}
	if pairs = args[at+2:]; len(pairs)%2 != 0 || n != int64(len(pairs)/2) {
		c.Error(reply.WrongArgs(c.Name))
		return nil, false
	}
	return pairs, true
}

// setKeeping sets fields that keep their times, or lose them.
func (ed *edit) setKeeping(o *setOptions) {
	c := ed.c
	ed.change()
	for i := 0; i < len(o.pairs); i += 2 {
		field, v := o.pairs[i], o.pairs[i+1]
		_, at, _ := ed.Get(field)
		ed.set(field, v, o.keep)
		if o.keep {
			emitField(c, ed.key, field, v, at != 0)
		}
	}
	ed.save()
	if !o.keep {
		c.Emit(append([][]byte{nameHSet, ed.key}, o.pairs...)...)
	}
	c.Notify(shard.NotifyHash, "hset", ed.key)
}

var namePXAT = []byte("PXAT")

// setTimed sets fields that expire.
func (ed *edit) setTimed(o *setOptions) {
	c := ed.c
	ed.changeTimes()
	for i := 0; i < len(o.pairs); i += 2 {
		ed.set(o.pairs[i], o.pairs[i+1], false)
		ed.SetTime(o.pairs[i], o.at)
	}
	ed.save()
	var digits, count [20]byte
	c.Emit(append([][]byte{
		nameHSetEx, ed.key, namePXAT, resp.AppendInt(digits[:0], o.at), nameFields, resp.AppendInt(count[:0], int64(len(o.pairs)/2)),
	}, o.pairs...)...)
	c.Notify(shard.NotifyHash, "hset", ed.key)
	c.Notify(shard.NotifyHash, "hexpire", ed.key)
}

// setOver sets fields whose time is over already: they are gone.
func (ed *edit) setOver(o *setOptions) {
	c := ed.c
	ed.change()
	var gone [][]byte
	for i := 0; i < len(o.pairs); i += 2 {
		if ed.Delete(o.pairs[i]) {
			gone = append(gone, o.pairs[i])
		}
	}
	if !ed.found { // for a moment it was there
		c.Notify(shard.NotifyNew, "new", ed.key)
	}
	c.Notify(shard.NotifyHash, "hset", ed.key)
	c.Notify(shard.NotifyHash, "hdel", ed.key)
	switch {
	case len(gone) > 0:
		c.Emit(append([][]byte{nameHDel, ed.key}, gone...)...)
		ed.save()
	case !ed.found:
		c.Notify(shard.NotifyGeneric, "del", ed.key)
	}
}
