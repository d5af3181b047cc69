// Package strings has the handlers of the string commands. [Handlers] maps each
// command's lower-case name to its handler.
package strings

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the string commands.
var Handlers = map[string]engine.Handler{
	"append":      appendTo,
	"decr":        decr,
	"decrby":      decrBy,
	"get":         get,
	"getdel":      getDel,
	"getex":       getEx,
	"getset":      getSet,
	"incr":        incr,
	"incrby":      incrBy,
	"incrbyfloat": incrByFloat,
	"mget":        mGet,
	"mset":        mSet,
	"msetnx":      mSetNX,
	"psetex":      pSetEx,
	"set":         set,
	"setex":       setEx,
	"setnx":       setNX,
	"strlen":      strLen,
}
