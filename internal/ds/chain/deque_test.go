package chain

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestADequeIsASlice does random changes to a deque and to a slice.
func TestADequeIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deque
		var list []node
		next := uint32(0)
		where := func(t *rapid.T) int {
			return rapid.SampledFrom([]int{0, len(list), len(list) / 2, len(list) / 3}).Draw(t, "where")
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert some": func(t *rapid.T) {
				i := where(t)
				for range rapid.IntRange(1, 20).Draw(t, "count") {
					next++
					d.insert(i, node{count: next})
					list = slices.Insert(list, i, node{count: next})
				}
			},
			"remove": func(t *rapid.T) {
				i := where(t)
				j := min(i+rapid.IntRange(0, 30).Draw(t, "count"), len(list))
				d.remove(i, j)
				list = slices.Delete(list, i, j)
				if most := 4 * (len(list) + dequeMin); cap(d.all) > most {
					t.Fatalf("room for %d nodes, %d are there", cap(d.all), len(list))
				}
			},
			"": func(t *rapid.T) {
				if d.len() != len(list) {
					t.Fatalf("%d nodes, want %d", d.len(), len(list))
				}
				for i := range list {
					if *d.at(i) != list[i] {
						t.Fatalf("node %d is %+v, want %+v", i, *d.at(i), list[i])
					}
				}
			},
		})
	})
}
