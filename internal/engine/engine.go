// Package engine is what command handlers are written against: the context of
// one command, its arguments, and their parsing. The handlers themselves stand
// in a package per family below it.
//
// A handler is a plain function. It runs under the locks of its keys, reads and
// changes the key space through the [Ctx], writes exactly one reply, and emits
// the effect of what it changed in canonical form. It knows nothing of sockets,
// disks or clusters. Arguments and views of values die with the call: what must
// stay is copied.
package engine

import (
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// Args are a command's arguments, its name first.
type Args = [][]byte

// Handler executes one command. The number of arguments was checked against the
// command table.
type Handler func(c *Ctx, args Args)

// Ctx is what one command runs in. It belongs to one goroutine and is used
// again for the next command.
type Ctx struct {
	// Tx is the hold on the key space; it carries the time and the database.
	*shard.Tx
	// W takes the reply.
	W *resp.Writer
	// Name is the command's name in lower case, for error texts.
	Name string
	// Config holds the settings.
	Config *config.Config
	// Clustered says whether the node is a member of a cluster.
	Clustered func() bool
	// ReadsAnyKey says whether the client may read, by the command with these
	// arguments, keys that they don't name.
	ReadsAnyKey func(args Args) bool
	// Applying: the command is a record's effect, which was judged where it was
	// written. Limits of this node are not asked.
	Applying bool
	// MayBlock: the command may wait for another client; see [Ctx.Block].
	MayBlock bool
	// Serving: the command waited, and something has come for it, perhaps.
	Serving bool
	// NowMicros is Tx.Now with more precision: unix microseconds.
	NowMicros int64

	wait     Wait
	blocked  bool
	scratch  []byte
	scratch2 []byte
}

// Error writes an error reply; text is one of package reply.
func (c *Ctx) Error(text string) { c.W.Error(text) }

// StringForRead finds a string and counts the hit or miss. When ok is false the
// reply was already written: a null, or an error for a value of another type.
func (c *Ctx) StringForRead(key []byte) (e store.Entry, ok bool) {
	e, found := c.Lookup(key)
	if !found {
		c.W.Null()
		return e, false
	}
	return e, c.isString(e)
}

// StringForWrite finds a string that is about to be changed. When ok is false
// the reply, an error for a value of another type, was already written.
func (c *Ctx) StringForWrite(key []byte) (e store.Entry, found, ok bool) {
	e, found = c.Find(key)
	if !found {
		return e, false, true
	}
	return e, true, c.isString(e)
}

func (c *Ctx) isString(e store.Entry) bool { return c.is(&e, store.String) }

// Read finds a value of a type and counts the hit or miss. When ok is false the
// error, for a value of another type, was already written.
func (c *Ctx) Read(key []byte, typ store.Type) (e store.Entry, found, ok bool) {
	e, found = c.Lookup(key)
	return e, found, !found || c.is(&e, typ)
}

// Write is Read for a value that is about to be changed, which counts nothing.
func (c *Ctx) Write(key []byte, typ store.Type) (e store.Entry, found, ok bool) {
	e, found = c.Find(key)
	return e, found, !found || c.is(&e, typ)
}

func (c *Ctx) is(e *store.Entry, typ store.Type) bool {
	if e.Type != typ {
		c.Error(reply.WrongType)
		return false
	}
	return true
}

// Empty deletes a key whose collection has lost its last element.
func (c *Ctx) Empty(key []byte) {
	c.Delete(key)
	c.Notify(shard.NotifyGeneric, "del", key)
}

// StoreNothing replies for a command whose result is empty, and deletes the key that was to
// hold it: also, as Redis does, when its time is over already.
func (c *Ctx) StoreNothing(dst []byte) {
	if c.Delete(dst) {
		c.Notify(shard.NotifyGeneric, "del", dst)
		c.EmitDel(dst)
	}
	c.W.Int(0)
}

// Value writes the value of a string that was found under a key. A large one is
// not copied under the lock.
func (c *Ctx) Value(key []byte, e store.Entry) {
	if len(e.Value) >= store.PinnedMin {
		if p, ok := c.Pin(key, e); ok {
			c.W.BulkRef(p.Bytes, p.Release)
			return
		}
	}
	c.W.Bulk(e.Value)
}

// appliedStringMax is far above what nodes allow, and bounds what a damaged
// record can ask for.
const appliedStringMax = 4 << 30

// StringMax is the longest string that a command may make, in bytes.
func (c *Ctx) StringMax() int64 {
	if c.Applying {
		return appliedStringMax
	}
	return c.Config.Int(config.ProtoMaxBulkLen)
}

// InCluster says whether a command must keep to what a cluster allows.
func (c *Ctx) InCluster() bool { return !c.Applying && c.Clustered() }

// Int parses an argument. When ok is false the error was already written.
func (c *Ctx) Int(arg []byte) (n int64, ok bool) {
	n, ok = resp.ParseInt(arg)
	if !ok {
		c.Error(reply.NotInteger)
	}
	return n, ok
}

// Scratch gives an empty buffer that is valid until the command ends; the
// handler gives the grown one back with [Ctx.KeepScratch].
func (c *Ctx) Scratch() []byte { return c.scratch[:0] }

// Scratch2 is Scratch for a second buffer, which is kept by KeepScratch2.
func (c *Ctx) Scratch2() []byte { return c.scratch2[:0] }

// KeepScratch2: see [Ctx.Scratch2].
func (c *Ctx) KeepScratch2(b []byte) {
	if cap(b) <= scratchKept {
		c.scratch2 = b
	}
}

// scratchKept is the largest scratch buffer that survives its command.
const scratchKept = 64 << 10

// KeepScratch keeps a buffer for the next command.
func (c *Ctx) KeepScratch(b []byte) {
	if cap(b) <= scratchKept {
		c.scratch = b
	}
}
