// Package hashes has the handlers of the commands on hashes. [Handlers] maps each
// command's lower-case name to its handler.
//
// A field whose time is over is missing to every command at once; it is removed,
// with an effect, by whoever expires keys (see package shard). So a node that
// applies effects may find a field where the writer found none: effects are such
// that both have the same afterwards.
package hashes

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the commands on hashes.
var Handlers = map[string]engine.Handler{
	"hdel":         hdel,
	"hexists":      hexists,
	"hexpire":      hexpire,
	"hexpireat":    hexpireAt,
	"hexpiretime":  hexpireTime,
	"hget":         hget,
	"hgetall":      hgetall,
	"hgetdel":      hgetdel,
	"hgetex":       hgetex,
	"hincrby":      hincrBy,
	"hincrbyfloat": hincrByFloat,
	"hkeys":        hkeys,
	"hlen":         hlen,
	"hmget":        hmget,
	"hmset":        hmset,
	"hpersist":     hpersist,
	"hpexpire":     hpexpire,
	"hpexpireat":   hpexpireAt,
	"hpexpiretime": hpexpireTime,
	"hpttl":        hpttl,
	"hrandfield":   hrandfield,
	"hscan":        hscan,
	"hset":         hset,
	"hsetex":       hsetex,
	"hsetnx":       hsetnx,
	"hstrlen":      hstrlen,
	"httl":         httl,
	"hvals":        hvals,
}
