package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/shard"
)

// TestRedisLoadsCollectionsThatChangedWhileTheyWereWritten: their elements stand in
// the file in another order than Redis writes.
func TestRedisLoadsCollectionsThatChangedWhileTheyWereWritten(t *testing.T) {
	from, _ := startSaving(t)
	c := from.dial(t)
	const n = 20_000
	element := func(i int) string { return fmt.Sprintf("element:%06d", i) }
	for i := range n {
		c.Do("RPUSH", "list", element(i))
		c.Do("SADD", "set", element(i))
		c.Do("ZADD", "zset", strconv.Itoa(i/3), element(i))
		c.Do("HSET", "hash", element(i), element(i))
	}
	want := c.Do("DEBUG", "DIGEST")
	s := from.space.BeginSnapshot(shard.SnapshotOptions{Compress: true})
	steps := 0
	file, err := written(s, func() {
		for range 20 {
			steps++
			i := strconv.Itoa(steps * 7919 % n)
			e := element(steps * 7919 % n)
			expect(t, c, "OK", "LSET", "list", i, "other")
			c.Do("RPUSH", "list", "last", "last")
			c.Do("LPOP", "list", "2")
			c.Do("SREM", "set", e)
			c.Do("SADD", "set", "new:"+i)
			c.Do("ZADD", "zset", i+".5", e, "3", "new:"+i)
			c.Do("ZREMRANGEBYRANK", "zset", i, i)
			c.Do("HSET", "hash", e, "other", "new:"+i, "x")
			c.Do("HDEL", "hash", element((steps*7919+1)%n))
		}
	})
	handed := s.Progress().Handed
	s.Close()
	if err != nil || steps < 500 || handed == 0 {
		t.Fatalf("%d steps, %d bytes handed over, %v", steps, handed, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dump.rdb"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	redis := redistest.Start(t, "--dir", dir, "--dbfilename", "dump.rdb", "--logfile", "", "--enable-debug-command", "yes").Dial(t)
	if got := redis.Do("DEBUG", "DIGEST"); got != want {
		t.Errorf("redis-server has the digest %v, want %v", got, want)
	}
	for command, key := range map[string]string{"LLEN": "list", "SCARD": "set", "ZCARD": "zset", "HLEN": "hash"} {
		expect(t, redis, strconv.Itoa(n), command, key)
	}
	expect(t, redis, "["+element(8)+" "+element(9)+" "+element(10)+"]", "ZRANGE", "zset", "8", "10")
}

// TestASmallChangeHandsOverLittle bounds the work of one command during a snapshot by
// what it hands over and by the memory that it takes, whatever the size of the
// collection.
func TestASmallChangeHandsOverLittle(t *testing.T) {
	const (
		members   = 100_000
		handedMax = 64 << 10
		memoryMax = 256 << 10
	)
	from, _ := startSaving(t)
	c := from.dial(t)
	tests := []struct{ fill, change string }{
		{"HSET", "HSET k element:70000 x"}, {"HSET", "HSET k new x"}, {"HSET", "HDEL k element:7"}, {"HSET", "HINCRBY k new 5"},
		{"HSET", "HEXPIRE k 1000 FIELDS 1 element:9"}, {"HSET", "DEL k"}, {"HSET", "RENAME k k2"}, {"HSET", "EXPIRE k 1000"}, {"HSET", "SET k x"},
		{"SADD", "SADD k new"}, {"SADD", "SREM k element:7"}, {"SADD", "SPOP k 10"}, {"SADD", "UNLINK k"}, {"SADD", "SMOVE k k3 element:8"}, {"SADD", "MOVE k 1"},
		{"ZADD", "ZADD k 5 element:70000"}, {"ZADD", "ZADD k 5 new"}, {"ZADD", "ZREM k element:7"}, {"ZADD", "ZINCRBY k 5 element:8"},
		{"ZADD", "ZPOPMAX k 10"}, {"ZADD", "ZREMRANGEBYRANK k 5000 5010"}, {"ZADD", "DEL k"}, {"ZADD", "PEXPIRE k -1"},
		{"RPUSH", "LSET k 50000 x"}, {"RPUSH", "LPUSH k x"}, {"RPUSH", "RPUSH k x"}, {"RPUSH", "LPOP k"}, {"RPUSH", "LINSERT k AFTER element:500 x"},
		{"RPUSH", "LREM k 1 element:700"}, {"RPUSH", "LTRIM k 10 -10"}, {"RPUSH", "DEL k"}, {"RPUSH", "LMOVE k k4 LEFT RIGHT"}, {"RPUSH", "RENAME k k5"},
		{"RPUSH", "FLUSHALL"},
	}
	for _, tt := range tests {
		c.Do("FLUSHALL")
		fillElements(c, tt.fill, "k", members)
		from.space.NewTx().Tidy(1 << 30)
		s := from.space.BeginSnapshot(shard.SnapshotOptions{})
		before := from.space.PoolStats().InUse
		if reply, failed := c.Do(strings.Fields(tt.change)...).(redistest.Error); failed {
			t.Errorf("%s: %s", tt.change, reply)
		}
		handed, memory := s.Progress().Handed, from.space.PoolStats().InUse-before
		if handed > handedMax || memory > memoryMax {
			t.Errorf("%s of %d: %d bytes are handed over, %d bytes more in use", tt.change, members, handed, memory)
		}
		s.Close()
	}
}

// fillElements adds elements to a key, the command's way.
func fillElements(c *redistest.Conn, command, key string, n int) {
	const batch = 1000
	for first := 0; first < n; first += batch {
		args := []string{command, key}
		for i := first; i < first+batch; i++ {
			e := fmt.Sprintf("element:%d", i)
			switch command {
			case "HSET":
				args = append(args, e, e)
			case "ZADD":
				args = append(args, strconv.Itoa(i), e)
			default:
				args = append(args, e)
			}
		}
		c.Do(args...)
	}
}
