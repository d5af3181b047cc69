package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/resp"
)

func TestContract13SplitCommands(t *testing.T) {
	f, c := cluster3(t, Options{})
	ctx := t.Context()
	if r := c.Do(ctx, "MSET", keyA, "1", keyB, "2", keyC, "3", keyA, "4"); r.Err() != nil || string(r.v.Str) != "OK" {
		t.Fatalf("MSET: %+v", r)
	}
	list, err := c.Do(ctx, "MGET", keyC, keyA, "{foo}none", keyB, keyA).Pointers()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		if p == nil {
			got = append(got, "nil")
			continue
		}
		got = append(got, *p)
	}
	if want := []string{"3", "4", "nil", "2", "4"}; !slices.Equal(got, want) {
		t.Errorf("MGET gave %q, want %q", got, want)
	}
	for _, command := range []string{"EXISTS", "TOUCH", "DEL", "UNLINK"} {
		want := int64(3)
		if command == "UNLINK" {
			want = 0
		}
		if n, err := c.Do(ctx, command, keyA, keyB, keyC, "{foo}none").Int(); n != want || err != nil {
			t.Errorf("%s: %d, %v", command, n, err)
		}
	}
	if n := len(f.node("a:1").got("MGET")); n != 1 {
		t.Errorf("the keys of a slot went in %d commands", n)
	}
}

func TestContract13AnyPartsErrorIsThatOfTheWhole(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("b:2").script(withMap(map3, func(r *request) string {
		if r.is("MGET") || r.is("DEL") {
			return "-WRONGTYPE x\r\n"
		}
		return pass
	}))
	for _, command := range []string{"MGET", "DEL"} {
		r := c.Do(t.Context(), command, keyA, keyB, keyC)
		var server *resp.Error
		if !errors.As(r.Err(), &server) || server.Code() != "WRONGTYPE" || len(r.v.Elems) > 0 {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

func TestContract13GroupedPerNodeInOneWrite(t *testing.T) {
	f, c := cluster3(t, Options{ConnsPerNode: 1})
	set(t, c, keyA, "v")
	set(t, c, keyB, "v")
	set(t, c, keyC, "v")
	keys := []any{"MGET"}
	for i := range 300 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	for _, n := range f.nodes {
		n.forget()
	}
	if _, err := c.Do(t.Context(), keys...).Slice(); err != nil {
		t.Fatal(err)
	}
	for _, n := range f.nodes {
		conns := map[*fakeConn]bool{}
		for _, r := range n.got("MGET") {
			conns[r.conn] = true
		}
		if len(conns) != 1 {
			t.Errorf("%s: the parts came on %d connections", n.addr, len(conns))
		}
	}
}

func TestContract13TwentyThousandKeys(t *testing.T) {
	_, c := cluster3(t, Options{})
	pairs, keys := []any{"MSET"}, []string{}
	for i := range 20000 {
		key := fmt.Sprint("k", i)
		keys = append(keys, key)
		pairs = append(pairs, key, i)
	}
	if err := c.Do(t.Context(), pairs...).Err(); err != nil {
		t.Fatal(err)
	}
	list, err := c.Do(t.Context(), "MGET", keys).Ints()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range list {
		if int(n) != i {
			t.Fatalf("key %d has %d", i, n)
		}
	}
}

func TestContract14OtherCommandsAcrossSlotsSendNothing(t *testing.T) {
	f, c := cluster3(t, Options{})
	for _, n := range f.nodes {
		n.forget()
	}
	for _, args := range [][]any{
		{"RENAME", keyA, keyB}, {"COPY", keyA, keyB}, {"LMOVE", keyA, keyB, "LEFT", "LEFT"}, {"SMOVE", keyA, keyB, "m"},
		{"SINTERSTORE", keyA, keyB}, {"BITOP", "AND", keyA, keyB}, {"EVAL", "return 1", 2, keyA, keyB}, {"MSETNX", keyA, 1, keyB, 2},
		{"XREAD", "STREAMS", keyA, keyB, "0", "0"}, {"BLPOP", keyA, keyB, 1}, {"MSET", keyA, 1, keyB}, {"SORT", keyA, "STORE", keyB},
	} {
		if err := c.Do(t.Context(), args...).Err(); !errors.Is(err, ErrCrossSlot) || !strings.Contains(err.Error(), "CROSSSLOT") {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, n := range f.nodes {
		if got := n.gotAll(); len(got) > 0 {
			t.Errorf("%s got %q", n.addr, got)
		}
	}
}

func TestContract15CrossSlotPoliciesOfPipelines(t *testing.T) {
	for policy, want := range map[CrossSlot]string{
		CrossSlotError: "ok, cross slot, ok", CrossSlotFail: "cross slot, cross slot, cross slot", CrossSlotSend: "ok, server, ok",
	} {
		f, c := cluster3(t, Options{CrossSlot: policy})
		for _, n := range f.nodes {
			n.script(withMap(map3, func(r *request) string {
				if r.is("RENAME") {
					return "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
				}
				return pass
			}))
			n.forget()
		}
		p := c.Pipeline()
		p.Do("SET", keyA, "v")
		p.Do("RENAME", keyA, keyB)
		p.Do("GET", keyA)
		replies, err := p.Exec(t.Context())
		if err == nil {
			t.Errorf("policy %d: no error", policy)
		}
		var got []string
		for _, r := range replies {
			var server *resp.Error
			switch {
			case r.Err() == nil:
				got = append(got, "ok")
			case errors.Is(r.Err(), ErrCrossSlot):
				got = append(got, "cross slot")
			case errors.As(r.Err(), &server):
				got = append(got, "server")
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("policy %d: %s, want %s", policy, s, want)
		}
		if n := len(f.node("a:1").gotAll()); policy == CrossSlotFail && n > 0 {
			t.Errorf("%d commands were sent", n)
		}
		if n := len(f.node("a:1").got("RENAME")); policy == CrossSlotSend && n != 1 {
			t.Errorf("the node of the first key got RENAME %d times", n)
		}
	}
}

// TestContract16KeyVectors compares the key table with the vectors of the server.
func TestContract16KeyVectors(t *testing.T) {
	b, err := os.ReadFile("../testdata/key_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Args []string `json:"args"`
			Keys []string `json:"keys"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < 150 {
		t.Errorf("only %d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		q := newCall()
		q.fill(v.Args...)
		var got []string
		q.spec.keyPositions(q.args(), func(i int) bool {
			got = append(got, string(q.args().at(i)))
			return true
		})
		if !slices.Equal(got, v.Keys) {
			t.Errorf("%q: keys %q, want %q", v.Args, got, v.Keys)
		}
	}
}

func TestContract16EveryArgumentType(t *testing.T) {
	q := newCall()
	err := q.encode([]any{"X", "s", []byte{0, 0xff}, -1, int8(2), int16(3), int32(4), int64(5), uint(6), uint8(7), uint16(8),
		uint32(9), uint64(1<<64 - 1), float32(0.5), 1e100, true, false, []string{"a", "b"}, [][]byte{[]byte("c")}, []string{}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"X", "s", "\x00\xff", "-1", "2", "3", "4", "5", "6", "7", "8", "9", "18446744073709551615", "0.5", "1e+100",
		"1", "0", "a", "b", "c"}
	var got []string
	for i := range q.args().len() {
		got = append(got, string(q.args().at(i)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for _, bad := range [][]any{{}, {"GET", nil}, {"GET", struct{}{}}, {"GET", []any{"x"}}, {[]string{}}} {
		if err := newCall().encode(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// TestResp checks the encoder against the vectors of the wire.
func TestContract16WireVectors(t *testing.T) {
	b, err := os.ReadFile("../testdata/resp.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Encode []struct {
			Args  []string `json:"args"`
			Bytes string   `json:"bytes"`
		} `json:"encode"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, v := range file.Encode {
		if len(v.Args) == 0 || v.Bytes == "" {
			continue
		}
		q := newCall()
		q.fill(v.Args...)
		if string(q.wire) != v.Bytes {
			t.Errorf("%q became %q", v.Args, q.wire)
		}
		checked++
	}
	if checked == 0 {
		t.Error("no vector was checked")
	}
}
