// Package lists has the handlers of the commands on lists. [Handlers] maps each
// command's lower-case name to its handler.
//
// The blocking commands are the plain ones that try, and wait by
// [engine.Ctx.Block] when there is nothing to take. Their effect is the plain
// command.
package lists

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the commands on lists.
var Handlers = map[string]engine.Handler{
	"blmove":     blmove,
	"blmpop":     blmpop,
	"blpop":      blpop,
	"brpop":      brpop,
	"brpoplpush": brpoplpush,
	"lindex":     lindex,
	"linsert":    linsert,
	"llen":       llen,
	"lmove":      lmove,
	"lmpop":      lmpop,
	"lpop":       lpop,
	"lpos":       lpos,
	"lpush":      lpush,
	"lpushx":     lpushx,
	"lrange":     lrange,
	"lrem":       lrem,
	"lset":       lset,
	"ltrim":      ltrim,
	"rpop":       rpop,
	"rpoplpush":  rpoplpush,
	"rpush":      rpush,
	"rpushx":     rpushx,
}
