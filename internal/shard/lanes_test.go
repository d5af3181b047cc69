package shard

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/bowline-kv/bowline/slot"
)

// numbered is an item of a slot, by its number among those.
type numbered struct {
	id   slot.ID
	n    int
	text []byte
}

func TestLanesKeepTheOrderOfASlot(t *testing.T) {
	var mu sync.Mutex
	next := map[slot.ID]int{}
	lanes := NewLanes(math.MaxInt, func(_ int, items []numbered) error {
		mu.Lock()
		defer mu.Unlock()
		for _, i := range items {
			if next[i.id] != i.n {
				return fmt.Errorf("slot %d: item %d comes where %d is next", i.id, i.n, next[i.id])
			}
			next[i.id]++
			if want := fmt.Appendf(nil, "%d/%d", i.id, i.n); !bytes.HasPrefix(i.text, want) {
				return fmt.Errorf("slot %d: item %d has the text %.20q", i.id, i.n, i.text)
			}
		}
		return nil
	})
	long := bytes.Repeat([]byte("x"), 3000)
	for round := range 3 {
		for n := range 200 {
			for id := slot.ID(0); id < 130; id += 13 {
				b := lanes.At(id)
				b.Items = append(b.Items, numbered{id, round*200 + n, b.Keep(append(fmt.Appendf(nil, "%d/%d ", id, round*200+n), long...))})
			}
		}
		if err := lanes.Wait(); err != nil {
			t.Fatal(err)
		}
		if len(next) != 10 || next[13] != (round+1)*200 {
			t.Fatalf("round %d: %d slots, %d items of one", round, len(next), next[13])
		}
		if round == 1 { // they may be used again
			if err := lanes.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(lanes.Close(), lanes.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLanesStopAtAnError(t *testing.T) {
	broken := errors.New("broken")
	var ran []int
	lanes := NewLanes(1, func(_ int, items []int) error {
		for _, i := range items {
			if i == 1000 {
				return broken
			}
			ran = append(ran, i)
		}
		return nil
	})
	for i := range 5000 {
		b := lanes.At(slot.ID(i % slot.Count))
		b.Items = append(b.Items, i)
	}
	if err := lanes.Close(); !errors.Is(err, broken) || len(ran) != 1000 {
		t.Errorf("%d items were executed, the error is %v", len(ran), err)
	}
}
