package keys

import (
	"bytes"
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func rename(c *engine.Ctx, args engine.Args) {
	if renamed, ok := renameTo(c, args, true); ok && renamed {
		c.W.OK()
	}
}

func renameNX(c *engine.Ctx, args engine.Args) {
	renamed, ok := renameTo(c, args, false)
	switch {
	case !ok:
	case renamed && !bytes.Equal(args[1], args[2]):
		c.W.Int(1)
	default:
		c.W.Int(0)
	}
}

// renameTo does the work of both; when ok is false the error was written. A key
// that gets the name it has counts as renamed and does not change.
func renameTo(c *engine.Ctx, args engine.Args, replace bool) (renamed, ok bool) {
	from, to := args[1], args[2]
	if _, found := c.Find(from); !found {
		c.Error(reply.NoSuchKey)
		return false, false
	}
	if bytes.Equal(from, to) {
		return true, true
	}
	if _, found := c.Find(to); found && !replace {
		return false, true
	}
	c.MoveRecord(from, c.DB, to)
	c.Emit(args...)
	c.Notify(shard.NotifyGeneric, "rename_from", from)
	c.Notify(shard.NotifyGeneric, "rename_to", to)
	return true, true
}

func move(c *engine.Ctx, args engine.Args) {
	if c.InCluster() {
		c.Error(reply.ClusterMove)
		return
	}
	key := args[1]
	db, ok := database(c, args[2])
	if !ok {
		return
	}
	if db == c.DB {
		c.Error(reply.SameObject)
		return
	}
	if _, found := c.Find(key); !found {
		c.W.Int(0)
		return
	}
	if _, found := c.FindIn(db, key); found {
		c.W.Int(0)
		return
	}
	c.MoveRecord(key, db, key)
	c.Emit(args...)
	c.Notify(shard.NotifyGeneric, "move_from", key)
	c.NotifyIn(db, shard.NotifyGeneric, "move_to", key)
	c.W.Int(1)
}

// copyKey is COPY.
func copyKey(c *engine.Ctx, args engine.Args) {
	from, to, db, replace := args[1], args[2], c.DB, false
	for i := 3; i < len(args); i++ {
		switch {
		case command.IsToken(args[i], "REPLACE"):
			replace = true
		case command.IsToken(args[i], "DB") && i+1 < len(args):
			i++
			var ok bool
			if db, ok = database(c, args[i]); !ok {
				return
			}
		default:
			c.Error(reply.Syntax)
			return
		}
	}
	switch {
	case c.InCluster() && (db != 0 || c.DB != 0):
		c.Error(reply.ClusterCopy)
		return
	case db == c.DB && bytes.Equal(from, to):
		c.Error(reply.SameObject)
		return
	}
	if _, found := c.Lookup(from); !found {
		c.W.Int(0)
		return
	}
	if _, found := c.FindIn(db, to); found && !replace {
		c.W.Int(0)
		return
	}
	c.CopyRecord(from, db, to)
	c.Emit(args...)
	c.NotifyIn(db, shard.NotifyGeneric, "copy_to", to)
	c.W.Int(1)
}

// database reads the number of a database; when ok is false the error was
// written.
func database(c *engine.Ctx, arg []byte) (db int, ok bool) {
	n, ok := c.Int(arg)
	switch {
	case !ok:
		return 0, false
	case n < math.MinInt32 || n > math.MaxInt32:
		c.Error(reply.Outside(math.MinInt32, math.MaxInt32))
		return 0, false
	case n < 0 || n >= int64(c.Space().Databases()):
		c.Error(reply.DBIndex)
		return 0, false
	}
	return int(n), true
}

func swapDB(c *engine.Ctx, args engine.Args) {
	if c.InCluster() {
		c.Error(reply.ClusterSwapDB)
		return
	}
	var dbs [2]int
	for i, text := range [2]string{reply.FirstDBIndex, reply.SecondDBIndex} {
		n, ok := resp.ParseInt(args[i+1])
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			c.Error(text)
			return
		}
		dbs[i] = int(n)
	}
	for _, db := range dbs {
		if db < 0 || db >= c.Space().Databases() {
			c.Error(reply.DBIndex)
			return
		}
	}
	if dbs[0] != dbs[1] {
		c.SwapDB(dbs[0], dbs[1])
		c.Emit(args...)
	}
	c.W.OK()
}

func randomKey(c *engine.Ctx, _ engine.Args) {
	if key, ok := c.RandomKey(); ok {
		c.W.Bulk(key)
	} else {
		c.W.Null()
	}
}
