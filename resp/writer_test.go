package resp

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestWriterSpeaksBothProtocols(t *testing.T) {
	for _, c := range []struct {
		name       string
		write      func(w *Writer)
		two, three string
	}{
		{"ok", func(w *Writer) { w.OK() }, "+OK\r\n", "+OK\r\n"},
		{"simple", func(w *Writer) { w.Simple("QUEUED") }, "+QUEUED\r\n", "+QUEUED\r\n"},
		{"simple with line ends", func(w *Writer) { w.Simple("a\r\nb") }, "+a  b\r\n", "+a  b\r\n"},
		{"error", func(w *Writer) { w.Error("ERR a\nb") }, "-ERR a b\r\n", "-ERR a b\r\n"},
		{"bulk error", func(w *Writer) { w.BulkError("E a\nb") }, "-E a b\r\n", "!5\r\nE a\nb\r\n"},
		{"int", func(w *Writer) { w.Int(-1234) }, ":-1234\r\n", ":-1234\r\n"},
		{"digit", func(w *Writer) { w.Int(7) }, ":7\r\n", ":7\r\n"},
		{"bulk", func(w *Writer) { w.Bulk([]byte("a\r\n")) }, "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"},
		{"nil bulk", func(w *Writer) { w.Bulk(nil) }, "$0\r\n\r\n", "$0\r\n\r\n"},
		{"bulk string", func(w *Writer) { w.BulkString("twelve bytes") }, "$12\r\ntwelve bytes\r\n", "$12\r\ntwelve bytes\r\n"},
		{"null", func(w *Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
		{"null array", func(w *Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
		{"array", func(w *Writer) { w.Array(1234) }, "*1234\r\n", "*1234\r\n"},
		{"map", func(w *Writer) { w.Map(3) }, "*6\r\n", "%3\r\n"},
		{"set", func(w *Writer) { w.Set(3) }, "*3\r\n", "~3\r\n"},
		{"push", func(w *Writer) { w.Push(3) }, "*3\r\n", ">3\r\n"},
		{"double", func(w *Writer) { w.Double(1.5) }, "$3\r\n1.5\r\n", ",1.5\r\n"},
		{"infinity", func(w *Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
		{"true", func(w *Writer) { w.Bool(true) }, ":1\r\n", "#t\r\n"},
		{"false", func(w *Writer) { w.Bool(false) }, ":0\r\n", "#f\r\n"},
		{"big number", func(w *Writer) { w.BigNumber("-12") }, "$3\r\n-12\r\n", "(-12\r\n"},
		{"verbatim", func(w *Writer) { w.Verbatim("txt", "a\nb") }, "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n"},
		{"short format", func(w *Writer) { w.Verbatim("t", "") }, "$0\r\n\r\n", "=4\r\nt  :\r\n"},
		{"long format", func(w *Writer) { w.Verbatim("text", "") }, "$0\r\n\r\n", "=4\r\ntex:\r\n"},
		{"attribute", func(w *Writer) {
			if w.Attribute(1) {
				w.Int(1)
				w.Int(2)
			}
			w.Int(3)
		}, ":3\r\n", "|1\r\n:1\r\n:2\r\n:3\r\n"},
		{"raw", func(w *Writer) { w.Raw([]byte("*0\r\n")) }, "*0\r\n", "*0\r\n"},
		{"invalid value", func(w *Writer) { w.Value(&Value{}) }, "$-1\r\n", "_\r\n"},
		{"half a pair", func(w *Writer) { w.Value(&Value{Kind: KindMap, Elems: make([]Value, 1)}) }, "*0\r\n", "%0\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for proto, want := range map[int]string{0: c.two, 2: c.two, 3: c.three} {
				w := Writer{B: []byte("before"), Proto: proto}
				if c.write(&w); string(w.B) != "before"+want {
					t.Errorf("RESP%d: %q, want %q", proto, w.B, want)
				}
			}
		})
	}
}

func TestInsertedHeadersAreAsAnnouncedOnes(t *testing.T) {
	for _, proto := range []int{2, 3} {
		for _, n := range []int{0, 1, 9, 10, 1000} {
			for kind, f := range map[string]struct{ announce, insert func(w *Writer, at int) }{
				"array": {func(w *Writer, _ int) { w.Array(n) }, func(w *Writer, at int) { w.InsertArray(at, n) }},
				"map":   {func(w *Writer, _ int) { w.Map(n) }, func(w *Writer, at int) { w.InsertMap(at, n) }},
				"set":   {func(w *Writer, _ int) { w.Set(n) }, func(w *Writer, at int) { w.InsertSet(at, n) }},
			} {
				before, after := Writer{Proto: proto}, Writer{Proto: proto}
				before.OK()
				after.OK()
				at := len(after.B)
				f.announce(&before, at)
				for i := range n {
					before.Int(int64(i))
					after.Int(int64(i))
				}
				f.insert(&after, at)
				if string(before.B) != string(after.B) {
					t.Errorf("%s of %d: %q, want %q", kind, n, after.B, before.B)
				}
			}
		}
	}
}

func TestDoublesAreWrittenAsRedisWritesThem(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "-0"},
		{3, "3"},
		{-17, "-17"},
		{3.141, "3.141"},
		{0.1, "0.10000000000000001"},
		{0.0001, "0.0001"},
		{0.00001, "1.0000000000000001e-05"},
		{1e16, "10000000000000000"},
		{1e17, "1e+17"},
		{1.5e17, "1.5e+17"},
		{123456789012345678, "1.2345678901234568e+17"},
		{1 << 53, "9007199254740992"},
		{-(1 << 53) - 2, "-9007199254740994"},
		{1e300, "1.0000000000000001e+300"},
		{5e-324, "4.9406564584124654e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.NaN(), "nan"},
	} {
		if got := AppendDouble(nil, c.f); string(got) != c.want {
			t.Errorf("%v: %q, want %q", c.f, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		got, err := strconv.ParseFloat(string(AppendDouble(nil, f)), 64)
		if err != nil || got != f {
			t.Fatalf("%v: %v %v", f, got, err)
		}
	})
}

func TestWritingAllocatesNothing(t *testing.T) {
	value := []byte("some value")
	for _, proto := range []int{2, 3} {
		w := Writer{B: make([]byte, 0, 4096), Proto: proto}
		n := testing.AllocsPerRun(100, func() {
			w.B = w.B[:0]
			w.Array(9)
			w.Map(12)
			w.OK()
			w.Simple("QUEUED")
			w.Error("ERR no")
			w.Int(-123456)
			w.Bulk(value)
			w.BulkString("some string")
			w.Null()
			w.Double(0.1)
			w.Double(12)
			w.Bool(true)
			w.Verbatim("txt", "some text")
			w.InsertArray(10, 3)
		})
		if n != 0 {
			t.Errorf("RESP%d: %v allocations", proto, n)
		}
	}
}
