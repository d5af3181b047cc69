package main

import (
	"bytes"
	"testing"

	"github.com/bowline-kv/bowline/resp"
)

func TestTemplatesMakeWholeCommands(t *testing.T) {
	for _, w := range append([]workload{deletion}, workloads...) {
		tmpl := w.template(16)
		const depth = 3
		pipeline := tmpl.repeat(depth)
		n := numbers{state: 1, keys: 100, order: orderOnce}
		for i := range depth {
			tmpl.fill(pipeline, i, &n)
		}
		var r resp.CommandReader
		rest := pipeline
		for i := range depth {
			args, _, consumed, err := r.Next(rest, nil)
			if err != nil {
				t.Fatalf("%s: command %d of the pipeline: %v", w.name, i, err)
			}
			rest = rest[consumed:]
			if len(args) != len(w.words) || string(args[0]) != w.words[0] {
				t.Errorf("%s sends %q", w.name, args)
			}
			if len(args[1]) != 16 {
				t.Errorf("%s sends the key %q, want 16 bytes", w.name, args[1])
			}
			for _, a := range args {
				if bytes.ContainsAny(a, "{}") {
					t.Errorf("%s sends the mark %q", w.name, a)
				}
			}
		}
		if len(rest) > 0 {
			t.Errorf("%s: %d bytes behind the last command", w.name, len(rest))
		}
	}
}

func TestFillWritesTheNumberOfTheKey(t *testing.T) {
	tmpl := findWorkload("MSET10").template(3)
	pipeline := tmpl.repeat(2)
	n := numbers{order: orderOnce, next: 41}
	tmpl.fill(pipeline, 1, &n)
	for _, want := range []string{"key:000000000041\r\n$3\r\nvvv\r\n", "key:000000000050\r\n$3\r\nvvv\r\n"} {
		if !bytes.Contains(pipeline, []byte(want)) {
			t.Errorf("%q lacks %q", pipeline, want)
		}
	}
	if !bytes.HasPrefix(pipeline, tmpl.bytes) {
		t.Error("the first command was changed too")
	}
}

func TestOrdersVisitTheirKeys(t *testing.T) {
	const keys = 10_000
	once, most := numbers{order: orderOnce}, numbers{order: orderMost}
	for want := range uint64(keys) {
		if got := once.nextKey(); got != want {
			t.Fatalf("key %d came where %d was due", got, want)
		}
	}
	count := countMost(keys)
	if count < keys*88/100 || count > keys*92/100 {
		t.Errorf("%d of %d keys are most of them", count, keys)
	}
	last := uint64(0)
	for i := range count {
		key := most.nextKey()
		if kept(key) || i > 0 && key <= last || key >= keys {
			t.Fatalf("key %d came after %d", key, last)
		}
		last = key
	}
	random := numbers{state: 7, keys: 50, order: orderRandom}
	seen := map[uint64]bool{}
	for range 2000 {
		seen[random.nextKey()] = true
	}
	if len(seen) != 50 || !seen[0] || !seen[49] {
		t.Errorf("%d of 50 keys came in 2000 draws", len(seen))
	}
}

func TestBothServersGetTheSameCommands(t *testing.T) {
	tmpl := findWorkload("ZADD").template(0)
	one, other := tmpl.repeat(20), tmpl.repeat(20)
	for _, p := range [][]byte{one, other} {
		n := numbers{state: 3, keys: 1000, order: orderRandom}
		for i := range 20 {
			tmpl.fill(p, i, &n)
		}
	}
	if !bytes.Equal(one, other) {
		t.Error("the same seed made different commands")
	}
}
