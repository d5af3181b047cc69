package chain

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
)

// gather appends the elements of the next nodes of an image to got.
func gather(im *Image, nodes int, got [][]byte) (all [][]byte, more bool) {
	for i := range nodes {
		elements, count, ok := im.Peek(i)
		if !ok {
			return got, im.Pass(i)
		}
		for at := 0; at < len(elements); at = pack.Next(elements, at) {
			got = append(got, pack.Get(elements, at).AppendTo(nil))
			count--
		}
		if count != 0 {
			panic("the number of elements is another")
		}
	}
	return got, im.Pass(nodes)
}

// TestAnImageIsTheChainAtItsMoment changes a chain between the steps of a reader.
func TestAnImageIsTheChainAtItsMoment(t *testing.T) {
	number := rapid.IntRange(0, 1<<16)
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.SampledFrom(limits).Draw(t, "limit"))
		defer m.pool.Close()
		change := func(label string, most int) {
			for range rapid.IntRange(0, most).Draw(t, label) {
				command := rapid.IntRange(0, len(commands)-2).Draw(t, "command") // the last is Release
				if err := m.step(command, number.Draw(t, "i"), number.Draw(t, "n"), number.Draw(t, "v")); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "images") {
			change("before", 30)
			want := slices.Clone(m.list)
			kept := 0
			im := m.chain.Image(func(bytes int) { kept += bytes })
			if im.Nodes() != m.chain.Nodes() {
				t.Fatalf("%d nodes of %d", im.Nodes(), m.chain.Nodes())
			}
			var got [][]byte
			givenUp := rapid.IntRange(0, 200).Draw(t, "steps")
			more := true
			for more && givenUp > 0 {
				change("between", 3)
				before := len(got)
				if got, more = gather(im, rapid.IntRange(1, 3).Draw(t, "nodes"), got); more && len(got) == before {
					t.Fatal("the reader does not get on")
				}
				givenUp--
			}
			if im.End(); kept != 0 {
				t.Fatalf("%d bytes are kept at the end", kept)
			}
			if more {
				want = want[:len(got)]
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("read %d elements, want %d", len(got), len(want))
			}
			if err := m.check(); err != nil { // with what memory is in use
				t.Fatal(err)
			}
		}
	})
}

func TestAChangeCopiesTheNodesThatItTouches(t *testing.T) {
	m := newModel(-2)
	defer m.pool.Close()
	for range 100_000 {
		m.chain.PushBack([]byte("element"))
	}
	before, kept := m.pool.Stats().InUse, 0
	im := m.chain.Image(func(bytes int) { kept += bytes })
	defer im.End()
	m.chain.Set(m.chain.At(50_000), []byte("other"))
	m.chain.PushFront([]byte("first"))
	for range 100 {
		m.chain.DropBack()
	}
	if grown := m.pool.Stats().InUse - before; grown > 4*2*page.Size || kept > 4*2*page.Size || kept == 0 {
		t.Errorf("%d bytes more are in use, %d are kept", grown, kept)
	}
	for im.Pass(1) {
	}
	if kept != 0 || m.pool.Stats().InUse > before+2*page.Size {
		t.Errorf("%d bytes are kept, %d in use, %d before", kept, m.pool.Stats().InUse, before)
	}
}
