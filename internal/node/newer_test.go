package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// fillTimed makes hashes with fields that expire, packed and not, and others that had
// such fields.
func fillTimed(c *redistest.Conn) {
	for _, n := range []int{3, 1500} {
		key := "timed" + strconv.Itoa(n)
		for i := range n {
			field := "field:" + strconv.Itoa(i)
			c.Do("HSET", key, field, strings.Repeat("v", i%60))
			if i%3 != 0 {
				c.Do("HPEXPIREAT", key, strconv.Itoa(33177117420000+i*1000), "FIELDS", "1", field)
			}
		}
	}
	c.Do("HSETEX", "all", "PXAT", "33177117420000", "FIELDS", "2", "a", "1", "b", "2")
	c.Do("HSETEX", "persisted", "PXAT", "33177117420000", "FIELDS", "2", "a", "1", "b", "2")
	c.Do("HPERSIST", "persisted", "FIELDS", "2", "a", "b")
}

// contentOf reads all that a server has, key by key; timed says that it knows of
// fields that expire. Digests would not do: since 7.2 they have scores of fewer digits.
func contentOf(t *testing.T, c *redistest.Conn, timed bool) map[string]string {
	t.Helper()
	c.Do("HELLO", "3")
	content := map[string]string{}
	for _, db := range []string{"0", "9"} {
		c.Do("SELECT", db)
		for _, key := range c.Do("KEYS", "*").([]any) {
			key := key.(string)
			what := fmt.Sprint(c.Do("PEXPIRETIME", key)) + " "
			switch kind := c.Do("TYPE", key); kind {
			case redistest.Simple("string"):
				what += fmt.Sprint(c.Do("GET", key))
			case redistest.Simple("list"):
				what += fmt.Sprint(c.Do("LRANGE", key, "0", "-1"))
			case redistest.Simple("zset"):
				what += fmt.Sprint(c.Do("ZRANGE", key, "0", "-1", "WITHSCORES"))
			case redistest.Simple("set"):
				what += fmt.Sprint(sortedStrings(c.Do("SMEMBERS", key).(redistest.Set)))
			case redistest.Simple("hash"):
				fields := sortedStrings(c.Do("HKEYS", key).([]any))
				what += fmt.Sprint(fields, c.Do(append([]string{"HMGET", key}, fields...)...))
				if timed {
					what += fmt.Sprint(c.Do(append([]string{"HPEXPIRETIME", key, "FIELDS", strconv.Itoa(len(fields))}, fields...)...))
				}
			default:
				t.Errorf("%s is of type %v", key, kind)
			}
			content[db+"/"+key] = what
		}
	}
	return content
}

func sortedStrings(values []any) (texts []string) {
	for _, v := range values {
		texts = append(texts, v.(string))
	}
	slices.Sort(texts)
	return texts
}

func sameContent(t *testing.T, from, to *redistest.Conn, timed bool) {
	t.Helper()
	want, got := contentOf(t, from, timed), contentOf(t, to, timed)
	for key, what := range want {
		if got[key] != what {
			t.Errorf("%s is %.300s, want %.300s", key, got[key], what)
		}
	}
	if len(want) < 2010 || len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
}

// TestNewerRedis8LoadsASnapshotOfOurs also lets its own tool look at the file.
func TestNewerRedis8LoadsASnapshotOfOurs(t *testing.T) {
	dir := t.TempDir()
	n, err := startFiles(t, nil, "dir", dir, "dbfilename", "ours.rdb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	c := dial(t, n)
	fillAll(c)
	fillTimed(c)
	expect(t, c, "OK", "SAVE")
	if tool := os.Getenv("BOWLINE_REDIS8_CHECK_RDB"); tool != "" {
		if out, err := exec.Command(tool, filepath.Join(dir, "ours.rdb")).CombinedOutput(); err != nil || !strings.Contains(string(out), "Checksum OK") {
			t.Errorf("%v:\n%s", err, out)
		}
	}
	redis := redistest.Redis8.Start(t, "--dir", dir, "--dbfilename", "ours.rdb", "--logfile", "").Dial(t)
	sameContent(t, c, redis, true)
}

func TestNewerANodeStartsFromASnapshotOfRedis8(t *testing.T) {
	dir := t.TempDir()
	redis := redistest.Redis8.Start(t, "--dir", dir, "--logfile", "").Dial(t)
	fillAll(redis)
	fillTimed(redis)
	expect(t, redis, "OK", "SAVE")
	n, err := startFiles(t, nil, "dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	sameContent(t, redis, dial(t, n), true)
}

// TestNewerSnapshotsTravelBetweenValkey8AndOurs goes both ways.
func TestNewerSnapshotsTravelBetweenValkey8AndOurs(t *testing.T) {
	dir := t.TempDir()
	valkey := redistest.Valkey8.Start(t, "--dir", dir, "--logfile", "").Dial(t)
	fillAll(valkey)
	expect(t, valkey, "OK", "SAVE")
	n, err := startFiles(t, nil, "dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	c := dial(t, n)
	sameContent(t, valkey, c, false)
	expect(t, c, "OK", "SAVE")
	again := redistest.Valkey8.Start(t, "--dir", dir, "--logfile", "").Dial(t)
	sameContent(t, c, again, false)
}
