package resp

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func text(k Kind, s string) Value       { return Value{Kind: k, Str: []byte(s)} }
func bulk(s string) Value               { return text(KindBulk, s) }
func number(n int64) Value              { return Value{Kind: KindInt, Int: n} }
func list(k Kind, elems ...Value) Value { return Value{Kind: k, Elems: elems} }
func double(f float64) Value            { return Double(f) }
func verbatim(ext, s string) Value {
	return Value{Kind: KindVerbatim, Ext: [3]byte([]byte(ext)), Str: []byte(s)}
}
func attributed(v Value, a ...Value) Value { v.Attrs = &a; return v }

var null = Value{Kind: KindNull}

var replyCases = []struct {
	wire string
	want Value
}{
	{"+OK\r\n", text(KindSimple, "OK")},
	{"+\r\n", text(KindSimple, "")},
	{"-ERR no\r\n", text(KindError, "ERR no")},
	{":0\r\n", number(0)},
	{":-7\r\n", number(-7)},
	{":+7\r\n", number(7)},
	{":9223372036854775807\r\n", number(math.MaxInt64)},
	{":-9223372036854775808\r\n", number(math.MinInt64)},
	{"$0\r\n\r\n", bulk("")},
	{"$5\r\na\r\nbc\r\n", bulk("a\r\nbc")},
	{"$12\r\nabcdefghijkl\r\n", bulk("abcdefghijkl")},
	{"$120\r\n" + strings.Repeat("z", 120) + "\r\n", bulk(strings.Repeat("z", 120))},
	{"$-1\r\n", null},
	{"*-1\r\n", null},
	{"_\r\n", null},
	{"*0\r\n", list(KindArray)},
	{"*2\r\n$1\r\na\r\n:1\r\n", list(KindArray, bulk("a"), number(1))},
	{"*3\r\n*0\r\n*1\r\n*-1\r\n-E x\r\n", list(KindArray, list(KindArray), list(KindArray, null), text(KindError, "E x"))},
	{"*2\r\n*2\r\n:1\r\n*1\r\n:2\r\n:3\r\n",
		list(KindArray, list(KindArray, number(1), list(KindArray, number(2))), number(3))},
	{"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n",
		list(KindMap, text(KindSimple, "a"), number(1), text(KindSimple, "b"), list(KindArray, number(2)))},
	{"%0\r\n", list(KindMap)},
	{"~2\r\n:1\r\n:2\r\n", list(KindSet, number(1), number(2))},
	{">2\r\n$7\r\nmessage\r\n$1\r\nx\r\n", list(KindPush, bulk("message"), bulk("x"))},
	{",3.25\r\n", double(3.25)},
	{",10\r\n", double(10)},
	{",1e+17\r\n", double(1e17)},
	{",-0\r\n", double(math.Copysign(0, -1))},
	{",inf\r\n", double(math.Inf(1))},
	{",-inf\r\n", double(math.Inf(-1))},
	{",nan\r\n", double(math.NaN())},
	{",-nan\r\n", double(math.NaN())},
	{"#t\r\n", Value{Kind: KindBool, Int: 1}},
	{"#f\r\n", Value{Kind: KindBool}},
	{"(-123456789012345678901234567890\r\n", text(KindBigNumber, "-123456789012345678901234567890")},
	{"=8\r\ntxt:a\r\nb\r\n", verbatim("txt", "a\r\nb")},
	{"=4\r\nmkd:\r\n", verbatim("mkd", "")},
	{"!7\r\nERR \r\nx\r\n", text(KindBulkError, "ERR \r\nx")},
	{"|1\r\n+k\r\n:1\r\n$1\r\nv\r\n", attributed(bulk("v"), text(KindSimple, "k"), number(1))},
	{"|0\r\n:5\r\n", number(5)},
	{"|1\r\n:1\r\n:2\r\n|1\r\n:3\r\n:4\r\n:5\r\n", attributed(number(5), number(1), number(2), number(3), number(4))},
	{"*2\r\n|1\r\n+k\r\n*1\r\n:9\r\n:1\r\n:2\r\n",
		list(KindArray, attributed(number(1), text(KindSimple, "k"), list(KindArray, number(9))), number(2))},
	{"|1\r\n|1\r\n:1\r\n:2\r\n+k\r\n:3\r\n*1\r\n:4\r\n",
		attributed(list(KindArray, number(4)), attributed(text(KindSimple, "k"), number(1), number(2)), number(3))},
	{"*1\r\n|1\r\n:1\r\n:2\r\n*0\r\n", list(KindArray, attributed(list(KindArray), number(1), number(2)))},
}

func TestRepliesAreRead(t *testing.T) {
	for _, c := range replyCases {
		var r ReplyReader
		buf := []byte(c.wire + "+next\r\n")
		got, n, err := r.Next(buf)
		if err != nil || n != len(c.wire) {
			t.Errorf("%q: %v after %d bytes", c.wire, err, n)
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%q:\n%s", c.wire, diff)
		}
		clone := got.Clone()
		clear(buf)
		if diff := cmp.Diff(c.want, clone, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%q, cloned:\n%s", c.wire, diff)
		}
	}
}

// Every reply, cut at every byte, asks for more, for no more than is missing, and is read
// when it comes.
func TestRepliesCutAnywhereAreIncomplete(t *testing.T) {
	for _, c := range replyCases {
		for cut := range len(c.wire) {
			var r ReplyReader
			if _, n, err := r.Next([]byte(c.wire[:cut])); !errors.Is(err, ErrIncomplete) || n != 0 {
				t.Fatalf("%q: %d %v", c.wire[:cut], n, err)
			}
			if r.Missing() < 1 || r.Missing() > len(c.wire)-cut {
				t.Fatalf("%q: %d bytes are said to be missing, it is %d", c.wire[:cut], r.Missing(), len(c.wire)-cut)
			}
			got, n, err := r.Next([]byte(c.wire))
			if err != nil || n != len(c.wire) || !got.Equal(&c.want) {
				t.Fatalf("%q after %q: %+v %d %v", c.wire, c.wire[:cut], got, n, err)
			}
		}
		checkReplies(t, []byte(c.wire), 5)
	}
}

var replyRefusals = []struct {
	wire string
	want error
}{
	{"x\r\n", errReplyType},
	{"\r\n", errReplyType},
	{"+a\rb\r\n", errReplyLineEnd},
	{"$1\r\nabc", errReplyLineEnd},
	{"$1\r\na\rx", errReplyLineEnd},
	{":\r\n", errReplyNumber},
	{":1x\r\n", errReplyNumber},
	{":01\r\n", errReplyNumber},
	{":+-1\r\n", errReplyNumber},
	{":9223372036854775808\r\n", errReplyNumber},
	{"$x\r\n", errReplyLength},
	{"$-2\r\n", errReplyLength},
	{"$01\r\na\r\n", errReplyLength},
	{"$+1\r\na\r\n", errReplyLength},
	{"*-2\r\n", errReplyLength},
	{"%-1\r\n", errReplyLength},
	{"~-1\r\n", errReplyLength},
	{"=-1\r\n", errReplyLength},
	{"!-1\r\n", errReplyLength},
	{"$536870913\r\n", errReplyBulk},
	{"*67108865\r\n", errReplyElems},
	{"%33554433\r\n", errReplyElems},
	{"%9223372036854775807\r\n", errReplyElems},
	{"*2\r\n*67108864\r\n", errReplyElems},
	{"_x\r\n", errReplyNull},
	{"#x\r\n", errReplyBool},
	{"#\r\n", errReplyBool},
	{"#tt\r\n", errReplyBool},
	{",\r\n", errReplyNumber},
	{",0x1p4\r\n", errReplyNumber},
	{",1_0\r\n", errReplyNumber},
	{",infinity\r\n", errReplyNumber},
	{",1e999\r\n", errReplyNumber},
	{"(\r\n", errReplyNumber},
	{"(-\r\n", errReplyNumber},
	{"(1a\r\n", errReplyNumber},
	{"=3\r\ntxt\r\n", errReplyVerbatim},
	{"=5\r\ntxtxx\r\n", errReplyVerbatim},
	{"$?\r\n;1\r\na\r\n", errReplyStreamed},
	{"*?\r\n:1\r\n.\r\n", errReplyStreamed},
	{"%?\r\n.\r\n", errReplyStreamed},
	{";1\r\na\r\n", errReplyStreamed},
	{".\r\n", errReplyStreamed},
	{":" + strings.Repeat("1", 65), errReplyLine},
	{"*1\r\nx", errReplyType},
	{strings.Repeat("*1\r\n", 129) + ":1\r\n", errReplyDepth},
	{strings.Repeat("|1\r\n", 129), errReplyDepth},
}

func TestMalformedRepliesAreRefused(t *testing.T) {
	for _, c := range replyRefusals {
		var r ReplyReader
		_, n, err := r.Next([]byte(c.wire))
		if !errors.Is(err, c.want) || n != 0 {
			t.Errorf("%.60q: %v after %d bytes, want %v", c.wire, err, n, c.want)
		}
		checkReplies(t, []byte(c.wire), 5)
	}
}

func TestEndlessLinesAreRefused(t *testing.T) {
	var r ReplyReader
	line := []byte("+" + strings.Repeat("a", lineMax))
	if _, _, err := r.Next(line); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a line of the limit: %v", err)
	}
	if _, _, err := r.Next(append(line, 'a')); !errors.Is(err, errReplyLine) {
		t.Errorf("a line over the limit: %v", err)
	}
}

func TestNestingUpToTheLimitIsRead(t *testing.T) {
	var r ReplyReader
	v, _, err := r.Next([]byte(strings.Repeat("*1\r\n", 128) + "*0\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	for p := &v; len(p.Elems) > 0; p = &p.Elems[0] {
		depth++
	}
	if depth != 128 {
		t.Errorf("%d levels", depth)
	}
}

func TestReplyClaimsReserveNothing(t *testing.T) {
	for _, wire := range []string{"*67108864\r\n", "$536870912\r\nabc", "%30000000\r\n+a\r\n"} {
		var r ReplyReader
		buf := []byte(wire)
		r.Next(buf) // the stack of open aggregates stays with the reader
		if n := testing.AllocsPerRun(10, func() {
			r.Reset()
			r.Next(buf)
		}); n != 0 {
			t.Errorf("%q: %v allocations", wire, n)
		}
		if r.Missing() != MissingMax {
			t.Errorf("%q: missing %d", wire, r.Missing())
		}
	}
}

func TestReplyAllocations(t *testing.T) {
	for _, c := range []struct {
		wire string
		want float64
	}{
		{"+OK\r\n", 0},
		{":12\r\n", 0},
		{"$3\r\nabc\r\n", 0},
		{",1.5\r\n", 0},
		{"*0\r\n", 0},
		{"*3\r\n*2\r\n:1\r\n:2\r\n%1\r\n+a\r\n+b\r\n$1\r\na\r\n", 1},
	} {
		var r ReplyReader
		buf := []byte(c.wire)
		r.Next(buf)
		if n := testing.AllocsPerRun(10, func() { r.Next(buf) }); n != c.want {
			t.Errorf("%q: %v allocations, want %v", c.wire, n, c.want)
		}
		var v Value
		arena := make([]Value, 0, 7)
		if n := testing.AllocsPerRun(10, func() { r.NextIn(&v, buf, arena) }); n != 0 {
			t.Errorf("%q into an arena: %v allocations", c.wire, n)
		}
	}
}

func TestErrorRepliesBecomeErrors(t *testing.T) {
	for _, c := range []struct{ wire, text, code string }{
		{"-MOVED 1 127.0.0.1:1\r\n", "MOVED 1 127.0.0.1:1", "MOVED"},
		{"!9\r\nWRONG a\r\n\r\n", "WRONG a\r\n", "WRONG"},
		{"-ERR\r\n", "ERR", "ERR"},
		{"-\r\n", "", ""},
	} {
		var r ReplyReader
		buf := []byte(c.wire)
		v, _, err := r.Next(buf)
		if err != nil {
			t.Fatal(err)
		}
		err = v.Err()
		clear(buf)
		var e *Error
		if !errors.As(err, &e) || e.Error() != c.text || e.Code() != c.code || !v.IsError() {
			t.Errorf("%q: %v", c.wire, err)
		}
	}
	if v := bulk("ERR"); v.Err() != nil || v.IsError() || v.IsNull() || !null.IsNull() {
		t.Error("a string is no error")
	}
}

func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := KindInvalid; k <= KindAttribute; k++ {
		if name := k.String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		} else {
			seen[name] = true
		}
	}
	if Kind(200).String() != "unknown" {
		t.Error("a number beyond the kinds has a name")
	}
}

// anyValue draws a value of at most the given depth, in the form that reading gives.
func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := []Kind{KindSimple, KindError, KindInt, KindBulk, KindNull, KindDouble, KindBool, KindBigNumber,
			KindVerbatim, KindBulkError}
		if depth > 0 {
			kinds = append(kinds, KindArray, KindMap, KindSet, KindPush)
		}
		v := Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch v.Kind {
		case KindSimple, KindError:
			v.Str = []byte(rapid.StringMatching(`[^\r\n]{0,20}`).Draw(t, "line"))
		case KindInt:
			v.Int = rapid.Int64().Draw(t, "int")
		case KindDouble:
			v = Double(rapid.Float64().Draw(t, "float"))
		case KindBool:
			v.Int = int64(rapid.IntRange(0, 1).Draw(t, "bool"))
		case KindBigNumber:
			v.Str = []byte(rapid.StringMatching(`-?[0-9]{1,40}`).Draw(t, "bignum"))
		case KindVerbatim:
			v.Ext = [3]byte([]byte(rapid.SampledFrom([]string{"txt", "mkd", "x  "}).Draw(t, "ext")))
			fallthrough
		case KindBulk, KindBulkError:
			v.Str = rapid.SliceOfN(rapid.Byte(), 0, 150).Draw(t, "bytes")
		case KindArray, KindSet, KindPush:
			v.Elems = values(depth, 0, 4).Draw(t, "elems")
		case KindMap:
			v.Elems = values(depth, 0, 2).Draw(t, "keys")
			v.Elems = append(v.Elems, v.Elems...)
		}
		if depth > 0 && rapid.IntRange(0, 5).Draw(t, "with attributes") == 0 {
			attrs := values(depth, 2, 2).Draw(t, "attrs")
			v.Attrs = &attrs
		}
		return v
	})
}

func values(depth, least, most int) *rapid.Generator[[]Value] {
	return rapid.SliceOfN(anyValue(depth-1), least, most)
}

func TestWrittenValuesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		w := Writer{Proto: 3}
		w.Value(&v)
		var r ReplyReader
		got, n, err := r.Next(w.B)
		if err != nil || n != len(w.B) || !got.Equal(&v) {
			t.Fatalf("%q: %+v %d %v", w.B, got, n, err)
		}
		clone := got.Clone()
		again := Writer{Proto: 3}
		again.Value(&clone)
		if string(again.B) != string(w.B) {
			t.Fatalf("%q, then %q", w.B, again.B)
		}
		// RESP2 loses types, but what it writes is whole and stable.
		two := Writer{}
		two.Value(&v)
		flat, n, err := r.Next(two.B)
		if err != nil || n != len(two.B) {
			t.Fatalf("%q: %d %v", two.B, n, err)
		}
		second := Writer{}
		second.Value(&flat)
		if string(second.B) != string(two.B) {
			t.Fatalf("%q, then %q", two.B, second.B)
		}
	})
}

func TestValuesDiffer(t *testing.T) {
	all := []Value{null, number(1), number(2), bulk("a"), bulk("b"), text(KindSimple, "a"), double(1), double(math.NaN()),
		list(KindArray), list(KindArray, null), list(KindSet, null), list(KindArray, null, null), verbatim("txt", "a"),
		verbatim("mkd", "a"), attributed(null, null, null)}
	for i := range all {
		for j := range all {
			if all[i].Equal(&all[j]) != (i == j) {
				t.Error(strconv.Itoa(i) + " and " + strconv.Itoa(j))
			}
		}
	}
}
