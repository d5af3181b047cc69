package chain

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
)

func TestRemoveTakesTheFirstOrTheLastOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		c := New(pool, LimitOf(rapid.SampledFrom([]int{-1, 1, 3, 50}).Draw(t, "limit")))
		list := rapid.SliceOfN(rapid.SampledFrom([][]byte{[]byte("1"), []byte("a"), bytes.Repeat([]byte("b"), 700), bytes.Repeat([]byte("c"), 5000)}), 0, 60).Draw(t, "list")
		for _, v := range list {
			c.PushBack(v)
		}
		wanted := rapid.SampledFrom([]string{"1", "a", "none"}).Draw(t, "value")
		most := rapid.IntRange(0, 20).Draw(t, "most")
		back := rapid.Bool().Draw(t, "back")
		if back {
			slices.Reverse(list)
		}
		removed := 0
		var left [][]byte
		for _, v := range list {
			if string(v) == wanted && removed < most {
				removed++
				continue
			}
			left = append(left, v)
		}
		if back {
			slices.Reverse(left)
		}
		it := pack.ItemOf([]byte(wanted))
		if n := c.Remove(&it, most, back); n != removed {
			t.Fatalf("%d removed, want %d", n, removed)
		}
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
		if c.Len() != len(left) {
			t.Fatalf("%d are left, want %d", c.Len(), len(left))
		}
		for i, v := range left {
			if !c.Get(c.At(i)).Equal(v) {
				t.Fatalf("element %d is wrong", i)
			}
		}
	})
}
