package resp

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// pingReplies is what a server answers to the commands of a case, all of them PING, and
// to its error.
func pingReplies(commands [][]string, err string) string {
	var w Writer
	for _, args := range commands {
		switch len(args) {
		case 0:
		case 1:
			w.Simple("PONG")
		default:
			w.BulkString(args[1])
		}
	}
	if err != "" {
		w.Error("ERR " + err)
	}
	return string(w.B)
}

// checkPing sends one stream and expects the replies to it; after an error, the end of
// the connection.
func checkPing(t *testing.T, c *redistest.Conn, wire string, commands [][]string, failure string) {
	t.Helper()
	c.Write([]byte(wire))
	want := pingReplies(commands, failure)
	var got []byte
	for len(got) < len(want) {
		reply := c.ReceiveRaw()
		if reply == nil {
			break
		}
		got = append(got, reply...)
	}
	if string(got) != want {
		t.Errorf("%.60q: redis-server answers %.200q, expected %.200q", wire, got, want)
		return
	}
	if failure != "" {
		if v, err := c.TryReceive(); err == nil {
			t.Errorf("%.60q: redis-server goes on with %v", wire, v)
		}
		return
	}
	if v := c.Do("PING"); v != redistest.Simple("PONG") {
		t.Errorf("%.60q: PING after it: %v", wire, v)
	}
}

func TestRedisAgreesOnRequests(t *testing.T) {
	srv := redistest.Start(t)
	for _, c := range commandCases {
		conn := srv.Dial(t)
		checkPing(t, conn, c.wire, c.commands, c.err)
		conn.Close()
	}
}

// The bounds themselves, in a server where they are small enough to try.
func TestRedisAgreesOnLimits(t *testing.T) {
	srv := redistest.Start(t, "--proto-max-bulk-len", "1mb")
	limits := Limits{MaxBulk: 1 << 20}
	largest := strings.Repeat("b", 1<<20)
	for _, wire := range []string{
		string(AppendCommandStrings(nil, "PING", largest)),
		"*2\r\n$4\r\nPING\r\n$1048577\r\n",
		"*1\r\n$536870913\r\n",
	} {
		got := readCommands(t, wire, limits, []int{len(wire)})
		checkPing(t, srv.Dial(t), wire, got.commands, got.err)
	}
}

func TestRedisAgreesOnLimitsBeforeAuthentication(t *testing.T) {
	srv := redistest.Start(t)
	srv.Dial(t).Do("CONFIG", "SET", "requirepass", "secret")
	word := strings.Repeat("b", 16384)
	auth := string(AppendCommandStrings(nil, "AUTH", "secret"))
	for _, c := range []struct{ wire, want string }{
		{"*10\r\n" + strings.Repeat("$4\r\nPING\r\n", 10), "-NOAUTH Authentication required.\r\n"},
		{"*11\r\n", ""},
		{"*2147483648\r\n", ""},
		{string(AppendCommandStrings(nil, "PING", word)), "-NOAUTH Authentication required.\r\n"},
		{"*2\r\n$4\r\nPING\r\n$16385\r\n", ""},
		{"*1\r\n$536870913\r\n", ""},
		// The wide limits are in force for the command after AUTH.
		{auth + string(AppendCommandStrings(nil, "PING", word+"c")), "+OK\r\n"},
	} {
		got := readCommands(t, c.wire, UnauthenticatedLimits, []int{len(c.wire)})
		want := c.want
		if want == "" {
			want = "-ERR " + got.err + "\r\n"
		}
		if reply := srv.Dial(t).RawBytes([]byte(c.wire)); string(reply) != want {
			t.Errorf("%.60q: redis-server answers %q, expected %q", c.wire, reply, want)
		}
	}
}

// A script that returns its arguments shows the words as redis-server sees them.
func TestRedisAgreesOnInlineWords(t *testing.T) {
	srv := redistest.Start(t)
	lines := make([]string, 0, 3000)
	for _, c := range inlineCases {
		lines = append(lines, c.line)
	}
	rng := rand.New(rand.NewPCG(7, 0))
	for range 2500 {
		const alphabet = `ab"'\x41nr` + " \t\v\f\r\xff" + `""''\\  `
		line := make([]byte, 1+rng.IntN(12))
		for i := range line {
			line[i] = alphabet[rng.IntN(len(alphabet))]
		}
		lines = append(lines, string(line))
	}
	conn := srv.Dial(t)
	var unbalanced int
	for _, line := range lines {
		var want Writer
		words, ok := splitLine([]byte(line), nil)
		if ok {
			want.Array(len(words))
			for _, word := range words {
				want.Bulk(word)
			}
		} else {
			unbalanced++
			want.Error("ERR " + errInlineQuotes.Error())
		}
		got := conn.RawBytes([]byte(`EVAL "return ARGV" 0 ` + line + "\r\n"))
		if string(got) != string(want.B) {
			t.Fatalf("%q: redis-server answers %q, expected %q", line, got, want.B)
		}
		if !ok {
			conn.Close()
			conn = srv.Dial(t)
		}
	}
	if unbalanced < 100 || unbalanced > len(lines)-100 {
		t.Errorf("%d of %d lines are unbalanced: the test tries one side only", unbalanced, len(lines))
	}
}

func TestRedisAgreesOnReplyTypes(t *testing.T) {
	srv := redistest.Start(t, "--enable-debug-command", "yes")
	for _, proto := range []int{2, 3} {
		conn := srv.Dial(t)
		conn.Do("HELLO", strconv.Itoa(proto))
		for name, write := range map[string]func(w *Writer){
			"string":  func(w *Writer) { w.BulkString("Hello World") },
			"integer": func(w *Writer) { w.Int(12345) },
			"double":  func(w *Writer) { w.Double(3.141) },
			"null":    func(w *Writer) { w.Null() },
			"array": func(w *Writer) {
				w.Array(3)
				writeInts(w, 0, 1, 2)
			},
			"set": func(w *Writer) {
				w.Set(3)
				writeInts(w, 0, 1, 2)
			},
			"map": func(w *Writer) {
				w.Map(3)
				for i := range 3 {
					w.Int(int64(i))
					w.Bool(i == 1)
				}
			},
			"attrib": func(w *Writer) {
				if w.Attribute(1) {
					w.BulkString("key-popularity")
					w.Array(2)
					w.BulkString("key:123")
					w.Int(90)
				}
				w.BulkString("Some real reply following the attribute")
			},
			"verbatim": func(w *Writer) { w.Verbatim("txt", "This is a verbatim\nstring") },
			"true":     func(w *Writer) { w.Bool(true) },
			"false":    func(w *Writer) { w.Bool(false) },
			"bignum":   func(w *Writer) { w.BigNumber("1234567999999999999999999999999999999") },
		} {
			want := Writer{Proto: proto}
			write(&want)
			got := conn.Raw("DEBUG", "PROTOCOL", name)
			// The attributes and the value count as one reply or as two, by reader.
			for len(got) < len(want.B) && strings.HasPrefix(string(want.B), string(got)) {
				got = append(got, conn.ReceiveRaw()...)
			}
			if string(got) != string(want.B) {
				t.Errorf("RESP%d %s: redis-server answers %q, expected %q", proto, name, got, want.B)
			}
			var r ReplyReader
			if _, n, err := r.Next(got); err != nil || n != len(got) {
				t.Errorf("RESP%d %s: read with %v after %d of %d bytes", proto, name, err, n, len(got))
			}
		}
	}
}

func writeInts(w *Writer, list ...int64) {
	for _, n := range list {
		w.Int(n)
	}
}

func TestRedisAgreesOnLineEndsInErrors(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	var want Writer
	want.Error("ERR unknown command 'a\r\nb', with args beginning with: ")
	if got := conn.Raw("a\r\nb"); string(got) != string(want.B) {
		t.Errorf("redis-server answers %q, expected %q", got, want.B)
	}
	want = Writer{}
	want.Null()
	want.NullArray()
	got := conn.Raw("GET", "missing")
	if got = append(got, conn.Raw("BLPOP", "missing", "0.001")...); string(got) != string(want.B) {
		t.Errorf("redis-server answers %q, expected %q", got, want.B)
	}
}

func TestRedisAgreesOnDoubles(t *testing.T) {
	srv := redistest.Start(t)
	rng := rand.New(rand.NewPCG(11, 0))
	numbers := []float64{0, 1, -1, 0.5, 0.1, 1e15, 1e16, 1e17, 1e21, 1e-4, 1e-5, 1 << 53, 1<<53 + 2, 123456789012345678,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.Pi * 1e16, math.Pi * 1e17}
	for range 600 {
		numbers = append(numbers,
			rng.NormFloat64(),
			math.Trunc(rng.NormFloat64()*1e16),
			math.Round(rng.NormFloat64()*1e5)/100,
			rng.NormFloat64()*math.Pow(10, float64(rng.IntN(600)-300)))
	}
	for _, proto := range []int{2, 3} {
		conn := srv.Dial(t)
		conn.Do("HELLO", strconv.Itoa(proto))
		for _, f := range numbers {
			conn.Do("ZADD", "z", strconv.FormatFloat(f, 'g', -1, 64), "member")
			want := Writer{Proto: proto}
			want.Double(f)
			if got := conn.Raw("ZSCORE", "z", "member"); string(got) != string(want.B) {
				t.Errorf("RESP%d %v: redis-server answers %q, expected %q", proto, f, got, want.B)
			}
		}
	}
}
