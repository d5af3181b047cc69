package player

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// zsetProgram makes random programs about few sorted sets.
type zsetProgram struct {
	t *rapid.T
	// equal: all scores are 0, so that ranges of members are defined in large
	// sorted sets too. lex: such ranges are asked for.
	equal, lex bool
}

var (
	zsetKeys    = []string{"z", "z", "z", "y", "y", "x", "set", "string", "none"}
	zsetOnly    = []string{"z", "y", "x", "none"} // never sets, whose forms differ by version
	zsetMembers = []string{"a", "b", "c", "d", "e", "f", "g", "1", "12", "-3", "007", "", "\xff", strings.Repeat("m", 64)}
	zsetLong    = strings.Repeat("m", 65) // too long to be packed
	zsetScores  = []string{"0", "1", "2", "2", "3", "-1.5", "0.1", "1e17", "inf", "-inf", "-0", "2.5e-9", "9007199254740993"}
	zsetEnds    = []string{"-inf", "+inf", "0", "(1", "1", "2", "(2", "3", "(0.1", "-1.5", "x", "", "(inf"}
	zsetLexEnds = []string{"-", "+", "[a", "(a", "[c", "(d", "[1", "(f", "[", "(\xff", "[12", "x", ""}
	zsetRanks   = []string{"0", "1", "2", "-1", "-2", "5", "100", "-100", "x"}
	zsetCounts  = []string{"0", "1", "2", "3", "100", "-1", "x"}
	zsetTimes   = []string{"1", "33177117420000"} // long ago and far away
)

func (p *zsetProgram) pick(from []string) string { return rapid.SampledFrom(from).Draw(p.t, "one") }

func (p *zsetProgram) chance(one int) bool { return rapid.IntRange(1, one).Draw(p.t, "chance") == 1 }

func (p *zsetProgram) some(from ...string) []string {
	var chosen []string
	for _, s := range from {
		if p.chance(4) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

func (p *zsetProgram) score() string {
	if p.equal {
		return "0"
	}
	return p.pick(zsetScores)
}

// member draws one that keeps the sorted set packed where that matters.
func (p *zsetProgram) member() string {
	if (p.equal || !p.lex) && p.chance(20) {
		return zsetLong
	}
	return p.pick(zsetMembers)
}

func (p *zsetProgram) times(most int, draw func() []string) (all []string) {
	for range rapid.IntRange(1, most).Draw(p.t, "times") {
		all = append(all, draw()...)
	}
	return all
}

func (p *zsetProgram) keys() []string {
	keys := p.times(3, func() []string { return []string{p.pick(zsetKeys)} })
	return append([]string{strconv.Itoa(len(keys))}, keys...)
}

// command draws one command.
func (p *zsetProgram) command() []string {
	draws := []func() []string{p.add, p.add, p.add, p.remove, p.read, p.span, p.pop, p.other}
	if !p.equal {
		draws = append(draws, p.increment, p.combine)
	}
	args := rapid.SampledFrom(draws).Draw(p.t, "kind")()
	if p.chance(30) {
		args = append(args, p.pick(someNoise))
	}
	return args
}

func (p *zsetProgram) add() []string {
	args := append([]string{"ZADD", p.pick(zsetKeys)}, p.some("NX", "xx", "GT", "LT", "CH")...)
	if p.chance(6) && !p.equal {
		args = append(args, "INCR")
	}
	return append(args, p.times(6, func() []string { return []string{p.score(), p.member()} })...)
}

func (p *zsetProgram) increment() []string {
	return []string{"ZINCRBY", p.pick(zsetKeys), p.score(), p.member()}
}

func (p *zsetProgram) remove() []string {
	key := p.pick(zsetKeys)
	switch rapid.IntRange(0, 4).Draw(p.t, "by") {
	case 0:
		return []string{"ZREMRANGEBYRANK", key, p.pick(zsetRanks), p.pick(zsetRanks)}
	case 1:
		return []string{"ZREMRANGEBYSCORE", key, p.pick(zsetEnds), p.pick(zsetEnds)}
	case 2:
		if p.lex {
			return []string{"ZREMRANGEBYLEX", key, p.pick(zsetLexEnds), p.pick(zsetLexEnds)}
		}
	}
	return append([]string{"ZREM", key}, p.times(4, func() []string { return []string{p.member()} })...)
}

func (p *zsetProgram) read() []string {
	key := p.pick(zsetKeys)
	switch rapid.IntRange(0, 8).Draw(p.t, "what") {
	case 0:
		return []string{"ZCARD", key}
	case 1:
		return []string{"ZSCORE", key, p.member()}
	case 2:
		return []string{"ZRANK", key, p.member()}
	case 3:
		return []string{"ZREVRANK", key, p.member()}
	case 4:
		return []string{"ZCOUNT", key, p.pick(zsetEnds), p.pick(zsetEnds)}
	case 5:
		if p.lex {
			return []string{"ZLEXCOUNT", key, p.pick(zsetLexEnds), p.pick(zsetLexEnds)}
		}
	case 6:
		return append([]string{"ZRANDMEMBER", key}, p.some("3", "WITHSCORES")...)
	case 7:
		return []string{"ZSCAN", key, "0", "COUNT", "10000", "MATCH", p.pick([]string{"*", "a", "[a-c]", "*m", ""})}
	}
	return append([]string{"ZMSCORE", key}, p.times(4, func() []string { return []string{p.member()} })...)
}

// limit adds a LIMIT, but not to ranges of members with several scores, which
// are not defined: Redis counts those beyond the end, too.
func (p *zsetProgram) limit(args []string) []string {
	lex := strings.HasSuffix(args[0], "LEX") || args[len(args)-1] == "BYLEX"
	if (p.equal || !lex) && p.chance(2) {
		args = append(args, "LIMIT", p.pick(zsetCounts), p.pick(zsetCounts))
	}
	return args
}

// span draws a reading of a range.
func (p *zsetProgram) span() []string {
	args := []string{"ZRANGE", p.pick(zsetKeys)}
	// What becomes of the sign of -0 depends on when the result got large.
	if p.lex && p.chance(4) {
		args = []string{"ZRANGESTORE", p.pick(zsetKeys), p.pick(zsetKeys)}
	}
	switch rapid.IntRange(0, 5).Draw(p.t, "form") {
	case 0:
		args = append(args, p.pick(zsetRanks), p.pick(zsetRanks))
	case 1:
		args = p.limit(append(args, p.pick(zsetEnds), p.pick(zsetEnds), "BYSCORE"))
	case 2:
		if !p.lex {
			return []string{"ZREVRANGE", p.pick(zsetKeys), p.pick(zsetRanks), p.pick(zsetRanks)}
		}
		args = p.limit(append(args, p.pick(zsetLexEnds), p.pick(zsetLexEnds), "BYLEX"))
	case 3:
		args = p.limit([]string{p.pick([]string{"ZRANGEBYSCORE", "ZREVRANGEBYSCORE"}), p.pick(zsetKeys), p.pick(zsetEnds), p.pick(zsetEnds)})
	case 4:
		if p.lex {
			return p.limit([]string{p.pick([]string{"ZRANGEBYLEX", "ZREVRANGEBYLEX"}), p.pick(zsetKeys), p.pick(zsetLexEnds), p.pick(zsetLexEnds)})
		}
		fallthrough
	default:
		return append([]string{p.pick([]string{"ZRANGE", "ZREVRANGE"}), p.pick(zsetKeys), "0", "-1"}, p.some("WITHSCORES")...)
	}
	return append(args, p.some("REV", "WITHSCORES")...)
}

func (p *zsetProgram) pop() []string {
	side := p.pick([]string{"MIN", "MAX"})
	switch rapid.IntRange(0, 15).Draw(p.t, "pop") {
	case 0, 3, 4:
		return append(append([]string{"ZMPOP"}, p.keys()...), side, "COUNT", p.pick(zsetCounts))
	case 1: // waiting takes time
		return append(append([]string{"BZMPOP", "0.001"}, p.keys()...), side)
	case 2:
		return []string{"BZPOP" + side, p.pick(zsetKeys), p.pick(zsetKeys), "0.001"}
	}
	return append([]string{"ZPOP" + side, p.pick(zsetKeys)}, p.some(p.pick(zsetCounts))...)
}

func (p *zsetProgram) combine() []string {
	keys := p.keys()
	weights := func(args []string) []string {
		if p.chance(3) {
			args = append(args, "WEIGHTS")
			for range keys[1:] {
				args = append(args, p.score())
			}
		}
		if p.chance(3) {
			args = append(args, "AGGREGATE", p.pick([]string{"SUM", "MIN", "MAX", "max"}))
		}
		return args
	}
	operation := p.pick([]string{"ZUNION", "ZINTER", "ZDIFF"})
	switch rapid.IntRange(0, 3).Draw(p.t, "form") {
	case 0:
		return append(append([]string{"ZINTERCARD"}, keys...), p.some("LIMIT", "2")...)
	case 1:
		args := append([]string{operation + "STORE", p.pick(zsetKeys)}, keys...)
		if operation == "ZDIFF" {
			return args
		}
		return weights(args)
	}
	args := append([]string{operation}, keys...)
	if operation != "ZDIFF" {
		args = weights(args)
	}
	return append(args, p.some("WITHSCORES")...)
}

// other draws what is not about sorted sets alone.
func (p *zsetProgram) other() []string {
	key := p.pick(zsetKeys)
	switch rapid.IntRange(0, 11).Draw(p.t, "other") {
	case 0:
		return []string{"PEXPIREAT", key, p.pick(zsetTimes)}
	case 1:
		return []string{"PEXPIRETIME", key}
	case 2:
		return []string{"DEL", key}
	case 3:
		return []string{"SET", "string", "v"}
	case 4, 5:
		return append([]string{"SADD", "set"}, p.times(3, func() []string { return []string{p.member()} })...)
	case 6:
		return []string{"COPY", p.pick(zsetOnly), p.pick(zsetKeys), "REPLACE"}
	case 7:
		return []string{"RENAME", p.pick(zsetOnly), p.pick(zsetKeys)}
	case 8:
		return []string{"TYPE", key}
	case 9:
		return []string{"DEL", "set"}
	}
	return []string{"OBJECT", "ENCODING", p.pick(zsetOnly)}
}

// zsetPrograms makes programs of up to n commands, for packed sorted sets, for
// large ones, and for large ones of equal scores.
func zsetPrograms(n int) *rapid.Generator[[][]string] {
	return rapid.Custom(func(t *rapid.T) [][]string {
		p := &zsetProgram{t: t, lex: true}
		entries := "128"
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 0:
			p.lex, entries = false, p.pick([]string{"0", "1", "3", "5"})
		case 1:
			p.equal, entries = true, p.pick([]string{"0", "1", "3", "5"})
		}
		program := [][]string{{"CONFIG", "SET", "zset-max-listpack-entries", entries}}
		for range rapid.IntRange(1, n).Draw(t, "length") {
			program = append(program, p.command())
		}
		for _, key := range zsetOnly {
			program = append(program, []string{"TYPE", key}, []string{"ZRANGE", key, "0", "-1", "WITHSCORES"}, []string{"OBJECT", "ENCODING", key})
		}
		return program
	})
}

// TestRandomSortedSetsAnswerAsRedis also compares keyspace notifications, and
// counts of lookups.
func TestRandomSortedSetsAnswerAsRedis(t *testing.T) {
	const length = 60
	setChecks(t, *steps/length/4)
	programs := zsetPrograms(length)
	forBothProtocols(t, func(t *testing.T, proto int) {
		oracle := redistest.Start(t, "--enable-debug-command", "yes")
		subject := startBowline(t, "network", driverFor[proto], "enable-debug-command", "yes")
		p := Pair{Oracle: oracle.Dial(t), Subject: redistest.Dial(t, "tcp", subject)}
		for _, c := range []*redistest.Conn{p.Oracle, p.Subject} {
			c.Do("HELLO", strconv.Itoa(proto))
			c.Do("CONFIG", "SET", "notify-keyspace-events", "KEAnm")
		}
		want := listen(t, oracle.Dial(t), proto, "PSUBSCRIBE", "*")
		got := listen(t, redistest.Dial(t, "tcp", subject), proto, "PSUBSCRIBE", "*")
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			last := fmt.Sprintf("end of program %d", n)
			program := append(programs.Draw(t, "program"), []string{"DEBUG", "DIGEST"}, []string{"FLUSHALL"}, []string{"PUBLISH", "end", last})
			difference := p.Play(program)
			a, b := withoutExpired(heard(t, want, last)), withoutExpired(heard(t, got, last))
			if difference != "" {
				t.Fatal(difference)
			}
			if want, got := lookups(p.Oracle), lookups(p.Subject); want != got {
				t.Fatalf("redis-server counts %s, bowline %s", want, got)
			}
			if a != b {
				t.Fatalf("redis-server says\n%sbowline says\n%s", a, b)
			}
		})
	})
}
