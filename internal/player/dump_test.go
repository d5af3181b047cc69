package player

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// dumped is a value that travels.
type dumped struct {
	write []string // the commands that make the key k
	read  []string // those that read it whole
}

var dumpedValues = []dumped{
	{[]string{"SET k hello"}, []string{"GET k"}},
	{[]string{"SET k 12345"}, []string{"GET k"}},
	{[]string{"SET k " + strings.Repeat("compressible", 300)}, []string{"GET k"}},
	{[]string{"RPUSH k a b 1 -70000 c"}, []string{"LRANGE k 0 -1"}},
	{manyTimes("RPUSH k element:%d", 3000), []string{"LRANGE k 0 -1"}},
	{[]string{"SADD k 1 2 3 70000"}, []string{"SORT k"}},
	{[]string{"SADD k a b 3"}, []string{"SORT k ALPHA"}},
	{manyTimes("SADD k member:%d", 2000), []string{"SORT k ALPHA"}},
	{[]string{"ZADD k 1.5 a -2 b inf c 7 d"}, []string{"ZRANGE k 0 -1 WITHSCORES"}},
	{manyTimes("ZADD k %[1]d.25 member:%[1]d", 1000), []string{"ZRANGE k 0 -1 WITHSCORES"}},
	{[]string{"HSET k f v g 7"}, []string{"HGETALL k"}},
	{manyTimes("HSET k field:%d v", 1000), []string{"HLEN k", "HGET k field:7", "HGET k field:999"}},
}

func manyTimes(format string, n int) (commands []string) {
	for i := range n {
		commands = append(commands, fmt.Sprintf(format, i))
	}
	return commands
}

// TestDumpsTravel moves values from either server to the other, and to itself.
func TestDumpsTravel(t *testing.T) { pair(t, 2).travel(t, dumpedValues) }

func (p Pair) travel(t *testing.T, values []dumped) {
	t.Helper()
	run := func(c *redistest.Conn, commands []string) (replies []string) {
		for _, cmd := range commands {
			replies = append(replies, fmt.Sprint(c.Do(strings.Fields(cmd)...)))
		}
		return replies
	}
	for _, v := range values {
		for _, from := range []*redistest.Conn{p.Oracle, p.Subject} {
			for _, to := range []*redistest.Conn{p.Oracle, p.Subject} {
				run(from, []string{"FLUSHALL"})
				run(to, []string{"FLUSHALL"})
				run(from, v.write)
				want := run(from, v.read)
				payload, ok := from.Do("DUMP", "k").(string)
				if !ok {
					t.Fatalf("%s: no payload", v.write[0])
				}
				run(to, []string{"FLUSHALL"})
				if got := fmt.Sprint(to.Do("RESTORE", "k", "33177117420000", payload, "ABSTTL")); got != "OK" {
					t.Errorf("%s: RESTORE: %.200s", v.write[0], got)
				}
				if got := run(to, v.read); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s became %.300v, want %.300v", v.write[0], got, want)
				}
				if got := fmt.Sprint(to.Do("PEXPIRETIME", "k")); got != "33177117420000" {
					t.Errorf("%s expires at %s", v.write[0], got)
				}
			}
		}
	}
}

// TestRestoreRefusesWhatRedisDoes compares the errors of RESTORE.
func TestRestoreRefusesWhatRedisDoes(t *testing.T) {
	forBothProtocols(t, func(t *testing.T, proto int) {
		p := pair(t, proto)
		p.Oracle.Do("SET", "k", "value")
		payload := p.Oracle.Do("DUMP", "k").(string)
		damaged := payload[:3] + "X" + payload[4:]
		for _, c := range []*redistest.Conn{p.Oracle, p.Subject} {
			c.Do("SET", "there", "1")
		}
		program := [][]string{
			{"DUMP", "none"}, {"RESTORE", "k1", "0", payload}, {"RESTORE", "k1", "0", payload}, {"RESTORE", "k1", "0", payload, "REPLACE"},
			{"RESTORE", "k2", "-1", payload}, {"RESTORE", "k2", "x", payload}, {"RESTORE", "k2", "0", damaged}, {"RESTORE", "k2", "0", ""},
			{"RESTORE", "k2", "0", payload[:9]}, {"RESTORE", "there", "0", damaged}, {"RESTORE", "there", "0", payload, "replace", "ABSTTL"},
			{"RESTORE", "k3", "0", payload, "FOO"}, {"RESTORE", "k3", "0", payload, "IDLETIME"}, {"RESTORE", "k3", "0", payload, "IDLETIME", "-1"},
			{"RESTORE", "k3", "0", payload, "IDLETIME", "x"}, {"RESTORE", "k3", "0", payload, "FREQ", "256"}, {"RESTORE", "k3", "0", payload, "FREQ", "1", "IDLETIME", "1"},
			{"RESTORE", "k3", "0", payload, "IDLETIME", "1000"}, {"RESTORE", "k4", "1", payload, "ABSTTL"}, {"EXISTS", "k4"},
			{"RESTORE", "k3", "1", payload, "ABSTTL", "REPLACE"}, {"EXISTS", "k3"}, {"GET", "k1"}, {"GET", "there"}, {"RESTORE", "k5", strconv.FormatInt(1<<40, 10), payload}, {"GET", "k5"},
		}
		if difference := p.Play(program); difference != "" {
			t.Error(difference)
		}
	})
}
