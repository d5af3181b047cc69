// Package sets has the handlers of the commands on sets. [Handlers] maps each
// command's lower-case name to its handler.
//
// What is chosen by chance is emitted as what was done: SPOP as SREM or DEL. A
// set that is stored by SINTERSTORE and its like is emitted as the command: it
// depends on nothing but its sources.
package sets

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the commands on sets.
var Handlers = map[string]engine.Handler{
	"sadd":        sadd,
	"scard":       scard,
	"sdiff":       sdiff,
	"sdiffstore":  sdiffStore,
	"sinter":      sinter,
	"sintercard":  sinterCard,
	"sinterstore": sinterStore,
	"sismember":   sismember,
	"smembers":    smembers,
	"smismember":  smismember,
	"smove":       smove,
	"spop":        spop,
	"srandmember": srandmember,
	"srem":        srem,
	"sscan":       sscan,
	"sunion":      sunion,
	"sunionstore": sunionStore,
}
