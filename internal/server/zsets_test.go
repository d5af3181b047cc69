package server_test

import (
	"slices"
	"testing"
)

// TestSortedSetsOfLaterVersions keeps what redis-server 7.0 does not have, by hand.
func TestSortedSetsOfLaterVersions(t *testing.T) {
	c := newConsole(t)
	c.script(`
		ZADD z 1 a 2.5 b 3 c => :3
		ZRANK z b WITHSCORE => *2 :1 $3 2.5
		ZRANK z b withscore => *2 :1 $3 2.5
		ZREVRANK z c WITHSCORE => *2 :0 $1 3
		ZRANK z none WITHSCORE => *-1
		ZRANK none a WITHSCORE => *-1
		ZRANK z none => $-1
		ZRANK z a FOO => -ERR syntax error
		ZRANK z a WITHSCORE x => -ERR wrong number of arguments for 'zrank' command
		SET s v => +OK
		ZRANK s a FOO => -ERR syntax error
		ZRANK s a WITHSCORE => -WRONGTYPE Operation against a key holding the wrong kind of value
		ZSCAN z 0 NOSCORES => *2 $1 0 *3 $1 a $1 b $1 c
		ZSCAN z 0 noscores MATCH [bc] COUNT 5 => *2 $1 0 *2 $1 b $1 c
		ZSCAN z 0 NOVALUES => -ERR NOVALUES option can only be used in HSCAN
	`)
	c.run("HELLO", "3")
	c.script(`
		ZRANK z b WITHSCORE => *2 :1 ,2.5
		ZRANK z none WITHSCORE => _
		ZRANK z none => _
	`)
}

// TestEffectsOfSortedSets: they don't depend on chance, the clock, or on the form
// that a sorted set has.
func TestEffectsOfSortedSets(t *testing.T) {
	c := newConsole(t)
	c.script(`
		ZADD z 1 a 2 b 3 c 4 d 5 e 6 f => :6
		ZADD z 1 a => :0
		ZADD z GT CH 0 a 9 b => :1
		ZADD z INCR 0.1 a => $18 1.1000000000000001
		ZADD z NX INCR 1 a => $-1
		ZINCRBY z 2 a => $18 3.1000000000000001
		ZINCRBY z inf a => $3 inf
		ZINCRBY z -inf a => -ERR resulting score is not a number (NaN)
		ZREM z none => :0
		ZREM z a none => :1
		ZPOPMIN z => *2 $1 c $1 3
		ZPOPMAX z 1 => *2 $1 b $1 9
		BZPOPMIN none z 0 => *3 $1 z $1 d $1 4
		ZMPOP 2 none z MAX COUNT 5 => *2 $1 z *2 *2 $1 f $1 6 *2 $1 e $1 5
		ZADD y 0 a 0 b 0 c 0 d => :4
		ZREMRANGEBYLEX y [b (d => :2
		ZREMRANGEBYLEX y [x + => :0
		ZREMRANGEBYSCORE y 1 2 => :0
		ZRANGESTORE x y + - BYLEX REV LIMIT 0 1 => :1
		ZRANGESTORE x y 5 6 => :0
		ZRANGESTORE x y 5 6 => :0
		ZUNIONSTORE x 2 y y WEIGHTS 1 2 => :2
		ZINTERSTORE x 2 y none => :0
		ZDIFFSTORE x 1 none => :0
		ZREMRANGEBYSCORE y -inf +inf => :2
	`)
	want := []string{
		"ZADD z 1 a 2 b 3 c 4 d 5 e 6 f",
		"ZADD z GT CH 0 a 9 b",
		"ZADD z 1.1000000000000001 a",
		"ZADD z 3.1000000000000001 a",
		"ZADD z inf a",
		"ZREM z a none",
		"ZREMRANGEBYRANK z 0 0",
		"ZREMRANGEBYRANK z 3 3",
		"ZREMRANGEBYRANK z 0 0",
		"ZREMRANGEBYRANK z 0 1",
		"ZADD y 0 a 0 b 0 c 0 d",
		"ZREMRANGEBYRANK y 1 2",
		"ZRANGESTORE x y 1 1",
		"DEL x",
		"ZUNIONSTORE x 2 y y WEIGHTS 1 2",
		"DEL x",
		"ZREMRANGEBYRANK y 0 1",
	}
	if got := c.effects(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestALargeSortedSetIsFoundByRanks compares ranges of one that needs inner nodes.
func TestALargeSortedSetIsFoundByRanks(t *testing.T) {
	c := newConsole(t)
	c.script(`
		CONFIG SET zset-max-listpack-entries 3 => +OK
		ZADD z 1 a 2 b 3 c 4 d => :4
		OBJECT ENCODING z => $8 skiplist
		ZRANGE z 1 2 => *2 $1 b $1 c
		ZRANGE z 1 2 REV => *2 $1 c $1 b
		ZRANGEBYSCORE z (1 +inf LIMIT 1 1 => *1 $1 c
		ZREVRANGEBYSCORE z +inf (1 LIMIT 1 1 => *1 $1 c
		ZRANGESTORE y z 1 3 => :3
		OBJECT ENCODING y => $8 listpack
		COPY z w => :1
		ZREMRANGEBYRANK w 0 1 => :2
		ZRANGE w 0 -1 WITHSCORES => *4 $1 c $1 3 $1 d $1 4
		OBJECT ENCODING w => $8 skiplist
		ZPOPMIN w 10 => *4 $1 c $1 3 $1 d $1 4
		EXISTS w => :0
	`)
}
