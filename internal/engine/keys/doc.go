// Package keys has the handlers of the commands on keys of any type.
// [Handlers] maps each command's lower-case name to its handler.
package keys

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the commands on keys.
var Handlers = map[string]engine.Handler{
	"copy":            copyKey,
	"dbsize":          dbSize,
	"dump":            dump,
	"del":             del,
	"exists":          exists,
	"expire":          expire,
	"expireat":        expireAt,
	"expiretime":      expireTime,
	"flushall":        flushAll,
	"flushdb":         flushDB,
	"keys":            matching,
	"move":            move,
	"object|encoding": objectEncoding,
	"object|freq":     objectFreq,
	"object|idletime": objectIdleTime,
	"object|refcount": objectRefCount,
	"persist":         persist,
	"pexpire":         pExpire,
	"pexpireat":       pExpireAt,
	"pexpiretime":     pExpireTime,
	"pttl":            pTTL,
	"randomkey":       randomKey,
	"rename":          rename,
	"renamenx":        renameNX,
	"restore":         restore,
	"scan":            scan,
	"sort":            sort,
	"sort_ro":         sortRO,
	"swapdb":          swapDB,
	"touch":           touch,
	"ttl":             ttl,
	"type":            typeOf,
	"unlink":          del,
}
