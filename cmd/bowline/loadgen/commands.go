package loadgen

import "strconv"

// command is a kind of command that a mix can have.
type command struct {
	name string
	// build appends the command's arguments, its name included.
	build func(g *generator, args []any) []any
}

const (
	// keysOfOne is how many keys MGET and MSET have.
	keysOfOne = 10
	// membersMax is how many fields and members a hash, set or sorted set gets.
	membersMax = 1000
	// rangeLen is how many elements LRANGE and ZRANGE ask for.
	rangeLen = 10
	// expireSeconds is the time to live that EXPIRE and SETEX set.
	expireSeconds = 60
)

// The prefixes keep types apart, so that no command finds a key of another type.
const (
	stringKey  = "bench:string:"
	counterKey = "bench:counter:"
	hashKey    = "bench:hash:"
	listKey    = "bench:list:"
	setKey     = "bench:set:"
	zsetKey    = "bench:zset:"
)

// table has every command that a mix can have.
var table = []command{
	{"get", func(g *generator, a []any) []any { return append(a, "GET", g.key(stringKey)) }},
	{"set", func(g *generator, a []any) []any { return append(a, "SET", g.key(stringKey), g.value()) }},
	{"setex", func(g *generator, a []any) []any {
		return append(a, "SETEX", g.key(stringKey), expireSeconds, g.value())
	}},
	{"mget", func(g *generator, a []any) []any {
		a = append(a, "MGET")
		for range keysOfOne {
			a = append(a, g.key(stringKey))
		}
		return a
	}},
	{"mset", func(g *generator, a []any) []any {
		a = append(a, "MSET")
		for range keysOfOne {
			a = append(a, g.key(stringKey), g.value())
		}
		return a
	}},
	{"del", func(g *generator, a []any) []any { return append(a, "DEL", g.key(stringKey)) }},
	{"exists", func(g *generator, a []any) []any { return append(a, "EXISTS", g.key(stringKey)) }},
	{"expire", func(g *generator, a []any) []any { return append(a, "EXPIRE", g.key(stringKey), expireSeconds) }},
	{"incr", func(g *generator, a []any) []any { return append(a, "INCR", g.key(counterKey)) }},
	{"hset", func(g *generator, a []any) []any { return append(a, "HSET", g.key(hashKey), g.member(), g.value()) }},
	{"hget", func(g *generator, a []any) []any { return append(a, "HGET", g.key(hashKey), g.member()) }},
	{"lpush", func(g *generator, a []any) []any { return append(a, "LPUSH", g.key(listKey), g.value()) }},
	{"rpush", func(g *generator, a []any) []any { return append(a, "RPUSH", g.key(listKey), g.value()) }},
	{"lpop", func(g *generator, a []any) []any { return append(a, "LPOP", g.key(listKey)) }},
	{"rpop", func(g *generator, a []any) []any { return append(a, "RPOP", g.key(listKey)) }},
	{"lrange", func(g *generator, a []any) []any { return append(a, "LRANGE", g.key(listKey), 0, rangeLen-1) }},
	{"sadd", func(g *generator, a []any) []any { return append(a, "SADD", g.key(setKey), g.member()) }},
	{"sismember", func(g *generator, a []any) []any { return append(a, "SISMEMBER", g.key(setKey), g.member()) }},
	{"zadd", func(g *generator, a []any) []any {
		return append(a, "ZADD", g.key(zsetKey), g.rand.IntN(1_000_000), g.member())
	}},
	{"zscore", func(g *generator, a []any) []any { return append(a, "ZSCORE", g.key(zsetKey), g.member()) }},
	{"zrange", func(g *generator, a []any) []any { return append(a, "ZRANGE", g.key(zsetKey), 0, rangeLen-1) }},
	{"ping", func(_ *generator, a []any) []any { return append(a, "PING") }},
}

// Commands lists the commands that a mix can have.
func Commands() []string {
	var names []string
	for i := range table {
		names = append(names, table[i].name)
	}
	return names
}

func lookup(name string) *command {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// member is a field of a hash, or an element of a set.
func (g *generator) member() string { return "member:" + strconv.Itoa(g.rand.IntN(membersMax)) }
