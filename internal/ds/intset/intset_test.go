package intset

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"pgregory.net/rapid"
)

func values() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-40000, 40000), rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt16, math.MaxInt16, math.MinInt32, math.MaxInt32, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64}))
}

// TestASetIsASortedList does random changes to a Set and to a sorted list.
func TestASetIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, list := New(), []int64{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				v := values().Draw(t, "value")
				i, found := slices.BinarySearch(list, v)
				size := s.SizeWith(v)
				var added bool
				if s, added = s.Add(v); added == found {
					t.Fatalf("Add(%d): %v", v, added)
				}
				if !found {
					list = slices.Insert(list, i, v)
					if len(s) != size {
						t.Fatalf("%d bytes with %d, want %d", len(s), v, size)
					}
				}
			},
			"remove": func(t *rapid.T) {
				v := values().Draw(t, "value")
				if len(list) > 0 && rapid.Bool().Draw(t, "present") {
					v = rapid.SampledFrom(list).Draw(t, "which")
				}
				i, found := slices.BinarySearch(list, v)
				var removed bool
				if s, removed = s.Remove(v); removed != found {
					t.Fatalf("Remove(%d): %v", v, removed)
				}
				if found {
					list = slices.Delete(list, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				if !s.Valid() || s.Len() != len(list) {
					t.Fatalf("%d values, want %d: %x", s.Len(), len(list), s)
				}
				for i, v := range list {
					if rank, ok := s.Rank(v); s.At(i) != v || rank != i || !ok || !s.Has(v) {
						t.Fatalf("value %d is %d, want %d; its rank is %d", i, s.At(i), v, rank)
					}
				}
				if n := len(list); n > 0 && (s.Min() != list[0] || s.Max() != list[n-1]) {
					t.Fatalf("from %d to %d, want %d to %d", s.Min(), s.Max(), list[0], list[n-1])
				}
				v := values().Draw(t, "looked for")
				want, found := slices.BinarySearch(list, v)
				if rank, ok := s.Rank(v); rank != want || ok != found {
					t.Fatalf("rank of %d: %d, %v", v, rank, ok)
				}
				if again, err := FromIntset(s.AppendIntset(nil)); err != nil || !bytes.Equal(again, s) {
					t.Fatalf("as an RDB intset and back: %x, %v", again, err)
				}
			},
		})
	})
}

func TestCorruptIntsetsAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":      {},
		"no width":   {0, 0, 0, 0, 0, 0, 0, 0},
		"width 3":    {3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0},
		"width 258":  {2, 1, 0, 0, 1, 0, 0, 0, 1, 0},
		"too short":  {2, 0, 0, 0, 2, 0, 0, 0, 1, 0},
		"too long":   {2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0},
		"descending": {2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 1, 0},
		"twice":      {2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0},
	} {
		if s, err := FromIntset(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %x, %v", name, s, err)
		}
	}
}

// TestRedisWritesTheSameBytes looks for our intsets in what DUMP gives.
func TestRedisWritesTheSameBytes(t *testing.T) {
	c := redistest.Start(t, "--rdbcompression", "no").Dial(t)
	for name, values := range map[string][]int64{
		"narrow": {3, -1, 2, math.MaxInt16, math.MinInt16},
		"middle": {3, math.MaxInt16 + 1, -7, math.MinInt32},
		"wide":   {0, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64},
	} {
		s, add := New(), []string{"SADD", name}
		for _, v := range values {
			s, _ = s.Add(v)
			add = append(add, strconv.FormatInt(v, 10))
		}
		c.Do(add...)
		dump, _ := c.Do("DUMP", name).(string)
		if !strings.Contains(dump, string(s.AppendIntset(nil))) {
			t.Errorf("DUMP of the %s set, %x, has not %x", name, dump, s.AppendIntset(nil))
		}
	}
}

// FuzzFromIntset reads hostile intsets and uses what passes the check.
func FuzzFromIntset(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 2, 0}, int64(5))
	f.Add([]byte{4, 0, 0, 0, 0, 0, 0, 0}, int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, input []byte, v int64) {
		if s := Set(bytes.Clone(input)); s.Valid() {
			s.Has(v)
		}
		s, err := FromIntset(bytes.Clone(input))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(s.AppendIntset(nil), input) {
			t.Fatalf("%x is written as %x", input, s.AppendIntset(nil))
		}
		if s, _ = s.Add(v); !s.Valid() || !s.Has(v) {
			t.Fatalf("after adding %d: %x", v, s)
		}
	})
}

func TestChangesInPlaceAllocateNothing(t *testing.T) {
	s := append(New(), make([]byte, 1000)...)[:1]
	allocs := testing.AllocsPerRun(100, func() {
		s, _ = s.Add(5)
		s, _ = s.Add(1)
		s, _ = s.Remove(5)
		s, _ = s.Remove(1)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
