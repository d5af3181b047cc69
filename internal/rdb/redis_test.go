package rdb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// someValue is commands that make a key k, and what it then is, with sets and hashes
// in an order of their own.
type someValue struct {
	commands [][]string
	want     string
}

// someValues are of every encoding that redis-server 7.0 writes.
var someValues = []someValue{
	{[][]string{{"SET", "k", "hello"}}, `string: "hello"`},
	{[][]string{{"SET", "k", ""}}, `string: ""`},
	{[][]string{{"SET", "k", "12"}}, `string: "12"`},
	{[][]string{{"SET", "k", "-300"}}, `string: "-300"`},
	{[][]string{{"SET", "k", "-2147483648"}}, `string: "-2147483648"`},
	{[][]string{{"SET", "k", "2147483648"}}, `string: "2147483648"`},
	{[][]string{{"SET", "k", strings.Repeat("abc", 2000)}}, fmt.Sprintf(`string: "%s"`, strings.Repeat("abc", 2000))},
	{[][]string{{"SET", "k", "v", "PXAT", "33177117420000"}}, `string: "v"`},
	{[][]string{{"RPUSH", "k", "a", "1", "-70000"}}, `list: "a" "1" "-70000"`},
	{[][]string{{"CONFIG", "SET", "list-max-listpack-size", "2"}, {"RPUSH", "k", "a", "b", "c", "d", strings.Repeat("x", 9000)}, {"CONFIG", "SET", "list-max-listpack-size", "-2"}},
		fmt.Sprintf(`list: "a" "b" "c" "d" "%s"`, strings.Repeat("x", 9000))},
	{[][]string{{"SADD", "k", "3", "1", "2"}}, `set: "1" "2" "3"`},
	{[][]string{{"SADD", "k", "1", "70000", "-5000000000"}}, `set: "-5000000000" "1" "70000"`},
	{[][]string{{"SADD", "k", "b", "a"}}, `set: "a" "b"`},
	{[][]string{{"ZADD", "k", "1.5", "a", "-2", "b", "inf", "c", "1e100", "d"}}, `zset: "b"@-2 "a"@1.5 "d"@1e+100 "c"@+Inf`},
	{[][]string{{"ZADD", "k", "1.5", strings.Repeat("m", 100), "2", "7"}}, fmt.Sprintf(`zset: "7"@2 "%s"@1.5`, strings.Repeat("m", 100))},
	{[][]string{{"HSET", "k", "f", "v", "g", "7"}}, `hash: "f"="v" "g"="7"`},
	{[][]string{{"HSET", "k", "f", strings.Repeat("v", 100)}}, fmt.Sprintf(`hash: "f"="%s"`, strings.Repeat("v", 100))},
}

// sorted puts the elements of what has no order into one.
func sorted(s string) string {
	if strings.HasPrefix(s, "set:") || strings.HasPrefix(s, "hash:") || strings.HasPrefix(s, "zset:") && strings.Contains(s, "mmm") {
		words := strings.Split(s, " ")
		slices.Sort(words[1:])
		return strings.Join(words, " ")
	}
	return s
}

func TestDumpsOfRedisAreRead(t *testing.T) {
	c := redistest.Start(t).Dial(t)
	for _, v := range someValues {
		c.Do("DEL", "k")
		for _, cmd := range v.commands {
			c.Do(cmd...)
		}
		payload := []byte(c.Do("DUMP", "k").(string))
		if err := CheckDump(payload); err != nil {
			t.Errorf("%s: %v", v.want[:min(40, len(v.want))], err)
		}
		g := newGathered()
		if err := ReadDump(payload, g); err != nil {
			t.Errorf("%s: %v", v.want[:min(40, len(v.want))], err)
		}
		if got := sorted(g.keys[""]); got != v.want {
			t.Errorf("read %.200s, want %.200s", got, v.want)
		}
		// What was read is in memory of its own, and any damage is noticed.
		for i := range payload {
			payload[i] ^= 0x40
			if CheckDump(payload) == nil {
				t.Fatalf("a flip in byte %d is not noticed", i)
			}
			payload[i] ^= 0x40
		}
	}
}

// fillKeys makes a key of each value, in as many databases.
func fillKeys(c *redistest.Conn, values []someValue, databases int) {
	for i, v := range values {
		c.Do("SELECT", fmt.Sprint(i%databases))
		for _, cmd := range v.commands {
			c.Do(cmd...)
		}
		c.Do("RENAME", "k", fmt.Sprintf("{k}%d", i))
	}
}

// checkFile reads a file with the keys of [fillKeys], and gives the fields of its head.
func checkFile(t *testing.T, file []byte, values []someValue, databases int) (aux map[string]string) {
	t.Helper()
	g := newGathered()
	aux = map[string]string{}
	o := Options{Aux: func(name, value []byte) error { aux[string(name)] = string(value); return nil }}
	if err := Read(bytes.NewReader(file), g, o); err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		want := v.want
		if v.commands[0][0] == "SET" && len(v.commands[0]) > 3 {
			want = "until 33177117420000 " + want
		}
		name := fmt.Sprintf("%d/{k}%d", i%databases, i)
		if got := sorted(g.keys[name]); got != want {
			t.Errorf("%s is %.200s, want %.200s", name, got, want)
		}
	}
	if len(g.keys) != len(values) {
		t.Errorf("%d keys, want %d", len(g.keys), len(values))
	}
	return aux
}

// saved is the file that a server writes of what it has.
func saved(t *testing.T, c *redistest.Conn, dir string) []byte {
	t.Helper()
	if reply := fmt.Sprint(c.Do("SAVE")); reply != "OK" {
		t.Fatalf("SAVE: %v", reply)
	}
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAFileOfRedisIsRead(t *testing.T) {
	dir := t.TempDir()
	c := redistest.Start(t, "--dir", dir).Dial(t)
	fillKeys(c, someValues, 3)
	if aux := checkFile(t, saved(t, c, dir), someValues, 3); aux["redis-ver"] == "" || aux["redis-bits"] != "64" {
		t.Errorf("fields are %v", aux)
	}
}

// TestRedisLoadsWhatIsWritten writes one key of each form by hand and lets
// redis-server load the file.
func TestRedisLoadsWhatIsWritten(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, VersionWritten)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(w.Aux("bowline-ver", "test"))
	check(w.Database(0, 5, 1))
	long := bytes.Repeat([]byte("0123456789"), 300)
	check(w.Key(&Key{Name: []byte("s"), IdleSeconds: -1, Freq: -1, ExpireAt: 33177117420000}, TypeString))
	check(w.Append(func(b []byte) []byte { return AppendString(b, long, true) }))
	check(w.Key(&Key{Name: []byte("l"), IdleSeconds: 5, Freq: -1}, TypeList))
	check(w.Append(func(b []byte) []byte {
		b = AppendLen(b, 3)
		for _, v := range []string{"1", "-70000", "x"} {
			b = AppendString(b, []byte(v), true)
		}
		return b
	}))
	check(w.Key(&Key{Name: []byte("z"), IdleSeconds: -1, Freq: 3}, TypeZSet2))
	check(w.Append(func(b []byte) []byte {
		b = AppendScore(AppendString(AppendLen(b, 2), []byte("a"), true), 1.5)
		return AppendScore(AppendString(b, []byte("b"), true), -3)
	}))
	check(w.Close())
	if w.Len() != int64(file.Len()) {
		t.Errorf("%d bytes were counted, %d written", w.Len(), file.Len())
	}
	dir := t.TempDir()
	check(os.WriteFile(filepath.Join(dir, "dump.rdb"), file.Bytes(), 0o600))
	c := redistest.Start(t, "--dir", dir).Dial(t)
	for want, cmd := range map[string]string{
		string(long): "GET s", "33177117420000": "PEXPIRETIME s", "[1 -70000 x]": "LRANGE l 0 -1", "[b -3 a 1.5]": "ZRANGE z 0 -1 WITHSCORES",
	} {
		if got := fmt.Sprint(c.Do(strings.Fields(cmd)...)); got != want {
			t.Errorf("%s: %s, want %s", cmd, got, want)
		}
	}
	g := newGathered()
	check(Read(&file, g, Options{}))
	if got := g.keys["0/l"]; got != `list: "1" "-70000" "x"` {
		t.Errorf("the list is %s", got)
	}
}
