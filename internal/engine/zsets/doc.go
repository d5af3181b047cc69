// Package zsets has the handlers of the commands on sorted sets. [Handlers] maps
// each command's lower-case name to its handler.
//
// All ranges become ranges of ranks first (span.go), which both forms of a sorted
// set find in O(log n) or have few members. Effects name ranks where Redis's
// own arguments would leave room: what BYLEX finds among members of several
// scores depends on the form. The blocking commands are the plain ones that try,
// and wait by [engine.Ctx.Block] when there is nothing to take.
package zsets

import "github.com/bowline-kv/bowline/internal/engine"

// Handlers are the commands on sorted sets.
var Handlers = map[string]engine.Handler{
	"bzmpop":           bzmpop,
	"bzpopmax":         bzpopmax,
	"bzpopmin":         bzpopmin,
	"zadd":             zadd,
	"zcard":            zcard,
	"zcount":           zcount,
	"zdiff":            zdiff,
	"zdiffstore":       zdiffStore,
	"zincrby":          zincrby,
	"zinter":           zinter,
	"zintercard":       zinterCard,
	"zinterstore":      zinterStore,
	"zlexcount":        zlexCount,
	"zmpop":            zmpop,
	"zmscore":          zmscore,
	"zpopmax":          zpopmax,
	"zpopmin":          zpopmin,
	"zrandmember":      zrandMember,
	"zrange":           zrange,
	"zrangebylex":      zrangeByLex,
	"zrangebyscore":    zrangeByScore,
	"zrangestore":      zrangeStore,
	"zrank":            zrank,
	"zrem":             zrem,
	"zremrangebylex":   zremRangeByLex,
	"zremrangebyrank":  zremRangeByRank,
	"zremrangebyscore": zremRangeByScore,
	"zrevrange":        zrevRange,
	"zrevrangebylex":   zrevRangeByLex,
	"zrevrangebyscore": zrevRangeByScore,
	"zrevrank":         zrevRank,
	"zscan":            zscan,
	"zscore":           zscore,
	"zunion":           zunion,
	"zunionstore":      zunionStore,
}
