package server_test

import (
	"slices"
	"testing"
)

// TestFieldsExpire keeps what redis-server before 7.4 does not have, by hand.
func TestFieldsExpire(t *testing.T) {
	c := newConsole(t)
	c.script(`
		HSET h a 1 b 2 c 3 d 4 => :4
		HEXPIRE h 100 FIELDS 3 a b none => *3 :1 :1 :-2
		OBJECT ENCODING h => $10 listpackex
		HTTL h FIELDS 3 a c none => *3 :100 :-1 :-2
		HPTTL h FIELDS 1 a => *1 :100000
		HPEXPIRE h 1500 NX FIELDS 2 a c => *2 :0 :1
		HPEXPIRE h 1600 XX FIELDS 2 c d => *2 :1 :0
		HPEXPIRE h 1000 GT FIELDS 3 a c d => *3 :0 :0 :0
		HPEXPIRE h 1700 GT FIELDS 1 c => *1 :1
		HPEXPIRE h 1600 LT FIELDS 2 c d => *2 :1 :1
		HTTL h FIELDS 1 c => *1 :2
		HEXPIRETIME h FIELDS 1 c => *1 :1800000002
		HPEXPIRETIME h FIELDS 1 c => *1 :1800000001600
		HPERSIST h FIELDS 3 d none b => *3 :1 :-2 :1
		HPERSIST h FIELDS 1 b => *1 :-1
		HPERSIST none FIELDS 1 b => *1 :-2
		HTTL none FIELDS 1 b => *1 :-2
		HEXPIRE none 5 FIELDS 1 b => *1 :-2
		# a time that is over
		HEXPIRE h 0 FIELDS 2 d none => *2 :2 :-2
		HEXISTS h d => :0
		HPEXPIREAT h 1 FIELDS 1 c => *1 :2
		HKEYS h => *2 $1 a $1 b
		HEXPIREAT h 1900000000 FIELDS 1 b => *1 :1
		# hidden as soon as it is over
		after 100000
		HGET h a => $-1
		HMGET h a b => *2 $-1 $1 2
		HEXISTS h a => :0
		HSTRLEN h a => :0
		HLEN h => :1
		HGETALL h => *2 $1 b $1 2
		HKEYS h => *1 $1 b
		HVALS h => *1 $1 2
		HRANDFIELD h => $1 b
		HRANDFIELD h 5 WITHVALUES => *2 $1 b $1 2
		HSCAN h 0 => *2 $1 0 *2 $1 b $1 2
		HSCAN h 0 NOVALUES => *2 $1 0 *1 $1 b
		HDEL h a => :0
		HTTL h FIELDS 1 a => *1 :-2
		HPERSIST h FIELDS 1 a => *1 :-2
		HEXPIRE h 9 FIELDS 1 a => *1 :-2
		HSETNX h a 5 => :1
		HTTL h FIELDS 1 a => *1 :-1
		# increments keep times, others don't
		HEXPIRE h 100 FIELDS 1 a => *1 :1
		HINCRBY h a 2 => :7
		HINCRBYFLOAT h a 0.5 => $3 7.5
		HTTL h FIELDS 1 a => *1 :100
		HSET h a 8 => :0
		HTTL h FIELDS 1 a => *1 :-1
		HPEXPIRE h 5 FIELDS 1 a => *1 :1
		after 5
		HINCRBY h a 2 => :2
		HTTL h FIELDS 1 a => *1 :-1
		# refused
		HEXPIRE h -1 FIELDS 1 a => -ERR invalid expire time, must be >= 0
		HEXPIRE h x FIELDS 1 a => -ERR value is not an integer or out of range
		HPEXPIREAT h 70368744177664 FIELDS 1 a => -ERR invalid expire time in 'hpexpireat' command
		HEXPIRE h 9223372036854775807 FIELDS 1 a => -ERR invalid expire time in 'hexpire' command
		HEXPIRE h 1 NX XX FIELDS 1 a => -ERR Mandatory argument FIELDS is missing or not at the right position
		HEXPIRE h 1 FIELDS 0 a => -ERR Parameter ` + "`numFields`" + ` should be greater than 0
		HEXPIRE h 1 FIELDS 2 a => -ERR The ` + "`numfields`" + ` parameter must match the number of arguments
		HTTL h FIELDS x a => -ERR Number of fields must be a positive integer
		HTTL h a 1 a => -ERR Mandatory argument FIELDS is missing or not at the right position
		SET s v
		HEXPIRE s x FIELDS 1 a => -WRONGTYPE Operation against a key holding the wrong kind of value
		HTTL s FIELDS 1 a => -WRONGTYPE Operation against a key holding the wrong kind of value
		HPERSIST s FIELDS 1 a => -WRONGTYPE Operation against a key holding the wrong kind of value
		HGETEX s FIELDS 1 a => -WRONGTYPE Operation against a key holding the wrong kind of value
		HSETEX s FIELDS 1 a b => -WRONGTYPE Operation against a key holding the wrong kind of value
		HGETDEL s FIELDS 1 a => -WRONGTYPE Operation against a key holding the wrong kind of value
	`)
}

// TestFieldsExpireInLargeHashes is the same where fields are members of a table.
func TestFieldsExpireInLargeHashes(t *testing.T) {
	c := newConsole(t)
	c.script(`
		CONFIG SET hash-max-listpack-entries 0
		HSET h a 1 b 2 c 3 => :3
		OBJECT ENCODING h => $9 hashtable
		HPEXPIRE h 50 FIELDS 2 a b => *2 :1 :1
		HPEXPIRE h 40 LT FIELDS 2 b c => *2 :1 :1
		OBJECT ENCODING h => $9 hashtable
		after 40
		HLEN h => :1
		HGETALL h => *2 $1 a $1 1
		HRANDFIELD h 3 => *1 $1 a
		HRANDFIELD h -2 => *2 $1 a $1 a
		HSCAN h 0 => *2 $1 0 *2 $1 a $1 1
		HPERSIST h FIELDS 2 a b => *2 :1 :-2
		HSET h b 5 => :1
		after 60
		HGETALL h => *4 $1 a $1 1 $1 b $1 5
		expire
		HGETALL h => *4 $1 a $1 1 $1 b $1 5
		HDEL h a b c => :2
		EXISTS h => :0
	`)
}

// TestHashesForgetThatTheyHadTimes removes the last time, in both forms.
func TestHashesForgetThatTheyHadTimes(t *testing.T) {
	for _, entries := range []string{"0", "512"} {
		for _, last := range []string{"HPERSIST h FIELDS 1 a", "HSET h a 2", "HDEL h a", "HGETEX h PERSIST FIELDS 1 a", "HGETDEL h FIELDS 1 a"} {
			c := newConsole(t)
			c.run("CONFIG", "SET", "hash-max-listpack-entries", entries)
			c.script("HSET h a 1 b 2\n HEXPIRE h 9 FIELDS 1 a => *1 :1\n" + last)
			tx := c.space.NewTx()
			tx.LockAll()
			if e, ok := tx.Find([]byte("h")); !ok || e.Timed {
				t.Errorf("entries %s, after %s: there %v, timed %v", entries, last, ok, e.Timed)
			}
			tx.Unlock()
		}
	}
}

func TestHashesOfLaterVersions(t *testing.T) {
	c := newConsole(t)
	c.script(`
		HSETEX h EX 10 FIELDS 2 a 1 b 2 => :1
		HTTL h FIELDS 2 a b => *2 :10 :10
		HSETEX h FNX FIELDS 2 b 5 c 6 => :0
		HSETEX h FXX FIELDS 2 b 5 c 6 => :0
		HSETEX none FXX FIELDS 1 b 5 => :0
		EXISTS none => :0
		HSETEX h FXX KEEPTTL FIELDS 2 a 3 b 4 => :1
		HTTL h FIELDS 2 a b => *2 :10 :10
		HSETEX h FNX PXAT 1900000000000 FIELDS 1 c 6 => :1
		HPEXPIRETIME h FIELDS 1 c => *1 :1900000000000
		HSETEX h FIELDS 1 a 7 => :1
		HTTL h FIELDS 1 a => *1 :-1
		HSETEX h PXAT 1 FIELDS 2 b 5 d 6 => :1
		HGETALL h => *4 $1 c $1 6 $1 a $1 7
		HSETEX new EXAT 1 FIELDS 1 a 1 => :1
		EXISTS new => :0
		HSETEX h EX 0 FIELDS 2 a 1 c 1 => :1
		EXISTS h => :0
		# options
		HSETEX h EX 1 PX 1 FIELDS 1 a 1 => -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
		HSETEX h FNX FXX FIELDS 1 a 1 => -ERR Only one of FXX or FNX arguments can be specified
		HSETEX h KEEPTTL EX 1 FIELDS 1 a 1 => -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
		HSETEX h EX -1 FIELDS 1 a 1 => -ERR invalid expire time, must be >= 0
		HSETEX h foo FIELDS 1 a 1 => -ERR unknown argument: foo
		HSETEX h FIELDS 0 a 1 => -ERR invalid number of fields
		HSETEX h FIELDS 2 a 1 => -ERR wrong number of arguments for 'hsetex' command
		HSETEX h FNX EX 1 FIELDS 1 => -ERR wrong number of arguments for 'hsetex' command
		# reading with a change of times
		HSET h a 1 b 2 c 3
		HGETEX h FIELDS 2 a none => *2 $1 1 $-1
		HGETEX h EX 10 FIELDS 3 a b none => *3 $1 1 $1 2 $-1
		HTTL h FIELDS 3 a b c => *3 :10 :10 :-1
		HGETEX h PERSIST FIELDS 2 a c => *2 $1 1 $1 3
		HTTL h FIELDS 2 a b => *2 :-1 :10
		HGETEX h PXAT 1 FIELDS 1 a => *1 $1 1
		HGETEX none EX 10 FIELDS 2 a b => *2 $-1 $-1
		HGETEX h FIELDS 2 a => -ERR The ` + "`numfields`" + ` parameter must match the number of arguments
		HGETEX h EX 10 FIELDS => -ERR wrong number of arguments for 'hgetex' command
		HGETEX h EX x FIELDS 1 a => -ERR value is not an integer or out of range
		HLEN h => :2
		# and with deletion
		HGETDEL h FIELDS 2 b none => *2 $1 2 $-1
		HGETDEL h FIELDS 2 c c => *2 $1 3 $-1
		EXISTS h => :0
		HGETDEL h FIELDS 1 c => *1 $-1
		HGETDEL h FOO 1 c => -ERR Mandatory argument FIELDS is missing or not at the right position
	`)
}

// TestEffectsOfHashesAreCanonical wants absolute times, results, and only what was done.
func TestEffectsOfHashesAreCanonical(t *testing.T) {
	c := newConsole(t)
	c.script(`
		HSET h a 1 b 2 c 3
		HSETNX h a 5
		HSETNX h d 4
		HINCRBY h a 10
		HINCRBYFLOAT h b 0.5
		HEXPIRE h 10 FIELDS 2 a none
		HEXPIRE h 5 GT FIELDS 2 a c
		HINCRBY h a 1
		HGETEX h PX 500 FIELDS 2 b none
		HGETEX h PERSIST FIELDS 2 b c
		HSETEX h FNX EX 1 FIELDS 1 e 5
		HSETEX h KEEPTTL FIELDS 2 a 1 f 2
		HSETEX h PXAT 1 FIELDS 2 f 1 g 2
		HPEXPIRE h 0 FIELDS 1 d
		HGETDEL h FIELDS 2 c none
		HDEL h none
		after 1000
		HINCRBY h e 2
		HPEXPIRE h 5 FIELDS 1 e
		after 5
		expire
		HPERSIST h FIELDS 2 a b
		DEL h
	`)
	want := []string{
		"HSET h a 1 b 2 c 3", "HSET h d 4", "HSET h a 11", "HSET h b 2.5",
		"HPEXPIREAT h 1800000010000 FIELDS 1 a", "HSETEX h KEEPTTL FIELDS 1 a 12",
		"HPEXPIREAT h 1800000000500 FIELDS 1 b", "HPERSIST h FIELDS 1 b",
		"HSETEX h PXAT 1800000001000 FIELDS 1 e 5", "HSETEX h KEEPTTL FIELDS 1 a 1", "HSET h f 2",
		"HDEL h f", "HDEL h d", "HDEL h c", "HSET h e 2", "HPEXPIREAT h 1800000001005 FIELDS 1 e", "HDEL h e",
		"HPERSIST h FIELDS 1 a", "DEL h",
	}
	if got := c.effects(); !slices.Equal(got, want) {
		t.Errorf("effects\n  got  %q\n  want %q", got, want)
	}
}

// TestFieldsKeepTheirTimesOnTheWay moves and copies hashes in both forms.
func TestFieldsKeepTheirTimesOnTheWay(t *testing.T) {
	for _, entries := range []string{"0", "512"} {
		c := newConsole(t)
		c.run("CONFIG", "SET", "hash-max-listpack-entries", entries)
		c.script(`
			HSET h a 1 b 2
			HPEXPIRE h 50 FIELDS 1 a => *1 :1
			RENAME h {x}h => +OK
			COPY {x}h {x}copy => :1
			COPY {x}h h => :1
			MOVE {x}h 1 => :1
			HPTTL h FIELDS 2 a b => *2 :50 :-1
			HPTTL {x}copy FIELDS 2 a b => *2 :50 :-1
			EXPIRE h 100 => :1
			HPTTL h FIELDS 2 a b => *2 :50 :-1
			TTL h => :100
			PERSIST h => :1
			TTL h => :-1
			SELECT 1
			HPTTL {x}h FIELDS 2 a b => *2 :50 :-1
			after 50
			expire
			HLEN {x}h => :1
			SELECT 0
			HKEYS h => *1 $1 b
			HKEYS {x}copy => *1 $1 b
		`)
	}
}
