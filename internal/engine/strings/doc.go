// Package strings has the handlers of the string commands. [Handlers] maps each
// command's lower-case name to its handler.
package strings

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the string commands.
var Handlers = map[string]engine.Handler{
	"append":      appendTo,
	"decr":        decr,
	"decrby":      decrBy,
	"delifeq":     delIfEqual,
	"get":         get,
	"getdel":      getDel,
	"getex":       getEx,
	"getrange":    getRange,
	"getset":      getSet,
	"incr":        incr,
	"incrby":      incrBy,
	"incrbyfloat": incrByFloat,
	"lcs":         lcs,
	"mget":        mGet,
	"mset":        mSet,
	"msetnx":      mSetNX,
	"psetex":      pSetEx,
	"set":         set,
	"setex":       setEx,
	"setnx":       setNX,
	"setrange":    setRange,
	"strlen":      strLen,
	"substr":      getRange,
}
