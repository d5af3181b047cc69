package keys

import (
	"errors"
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

func dump(c *engine.Ctx, args engine.Args) {
	e, found := c.Lookup(args[1])
	if !found {
		c.W.Null()
		return
	}
	c.W.Bulk(appendDump(c, nil, args[1], &e))
}

// appendDump appends the payload of DUMP.
func appendDump(c *engine.Ctx, dst, key []byte, e *store.Entry) []byte {
	start := len(dst)
	t, dst := value.AppendRDB(append(dst, 0), e, bodyOf(c, key, e), c.Config.Bool(config.RDBCompression))
	dst[start] = byte(t)
	return rdb.AppendFooter(dst, start, uint16(value.RDBVersion(e)))
}

// restoring is a RESTORE in progress.
type restoring struct {
	ttl      int64
	replace  bool
	absolute bool
	idle     int64 // seconds; -1: not given
	freq     int64 // -1: not given
}

func restore(c *engine.Ctx, args engine.Args) {
	key := args[1]
	r, text := parseRestore(args[4:])
	if text != "" {
		c.Error(text)
		return
	}
	if !r.replace {
		if _, exists := c.Find(key); exists {
			c.Error(reply.BusyKey)
			return
		}
	}
	var ok bool
	if r.ttl, ok = c.Int(args[2]); !ok {
		return
	}
	if r.ttl < 0 {
		c.Error(reply.InvalidTTL)
		return
	}
	if err := rdb.CheckDump(args[3]); err != nil {
		c.Error(reply.BadDump)
		return
	}
	if r.ttl != 0 && !r.absolute {
		if r.ttl > math.MaxInt64-c.Now {
			c.Error(reply.InvalidTTL)
			return
		}
		r.ttl += c.Now
	}
	r.apply(c, key, args[3])
}

// apply builds the value and gives it to the key.
func (r *restoring) apply(c *engine.Ctx, key, payload []byte) {
	b := builder(c, key)
	if err := rdb.ReadDump(payload, b); err != nil {
		if errors.Is(err, rdb.ErrUnsupported) {
			c.Error(reply.UnsupportedDump)
		} else {
			c.Error(reply.BadDumpFormat)
		}
		return
	}
	existed := r.replace && c.Delete(key)
	if r.ttl != 0 && r.ttl <= c.Now && !c.Applying {
		if existed {
			c.EmitDel(key)
			c.Notify(shard.NotifyGeneric, "del", key)
		}
		c.W.OK()
		return
	}
	n := b.Content()
	n.ExpireAt = r.ttl
	c.Put(key, &n)
	c.SetUse(key, r.idle, r.freq)
	var digits [20]byte
	c.Emit([]byte("RESTORE"), key, resp.AppendInt(digits[:0], r.ttl), payload, []byte("REPLACE"), []byte("ABSTTL"))
	c.Notify(shard.NotifyGeneric, "restore", key)
	c.W.OK()
}

// parseRestore reads the options; text is the error, "" when there is none.
func parseRestore(args [][]byte) (r restoring, text string) {
	r.idle, r.freq = -1, -1
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		var ok bool
		switch {
		case command.IsToken(args[i], "REPLACE"):
			r.replace = true
		case command.IsToken(args[i], "ABSTTL"):
			r.absolute = true
		case command.IsToken(args[i], "IDLETIME") && more && r.freq < 0:
			i++
			if r.idle, ok = resp.ParseInt(args[i]); !ok {
				return r, reply.NotInteger
			}
			if r.idle < 0 {
				return r, reply.InvalidIdleTime
			}
		case command.IsToken(args[i], "FREQ") && more && r.idle < 0:
			i++
			if r.freq, ok = resp.ParseInt(args[i]); !ok {
				return r, reply.NotInteger
			}
			if r.freq < 0 || r.freq > 255 {
				return r, reply.InvalidFreq
			}
		default:
			return r, reply.Syntax
		}
	}
	return r, ""
}

// builder makes values for a key.
func builder(c *engine.Ctx, key []byte) *value.Builder {
	return &value.Builder{Bodies: bodies{c, key}, Limits: engine.Limits(c.Config)}
}

// bodies implements [value.Bodies].
type bodies struct {
	c   *engine.Ctx
	key []byte
}

func (b bodies) NewBody() *store.Body                  { return b.c.NewBody(b.key) }
func (b bodies) NewSorted() *store.Body                { return b.c.NewSorted(b.key) }
func (b bodies) NewList(limit chain.Limit) *store.Body { return b.c.NewList(b.key, limit) }
