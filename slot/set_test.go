package slot

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSetRefuses(t *testing.T) {
	for _, text := range []string{
		",", "1,", ",1", "-", "1-", "-1", "1-2-3", "16384", "0-16384", "99999999999999999999",
		"3-2", " 1", "1 ", "+1", "0x1", "1@0", "one", "1--2", "１",
	} {
		if s, err := ParseSet(text); err == nil {
			t.Errorf("ParseSet(%q) = %v, want an error", text, s)
		}
	}
}

func TestSetTextIsCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"5":                   "5",
		"5-5":                 "5",
		"1,0":                 "0-1",
		"0-100,200":           "0-100,200",
		"90-200,0-100,7":      "0-200",
		"0-16383":             "0-16383",
		"16383,0":             "0,16383",
		"63-64,127-128,00010": "10,63-64,127-128",
	} {
		s, err := ParseSet(text)
		if err != nil {
			t.Errorf("ParseSet(%q): %v", text, err)
		} else if got := s.String(); got != want {
			t.Errorf("ParseSet(%q) prints %q, want %q", text, got, want)
		}
	}
}

func TestSlotsBeyondTheLastAreIgnored(t *testing.T) {
	var s Set
	s.Add(Count)
	s.Add(65535)
	s.AddRange(Range{Count, 65535})
	s.AddRange(Range{9, 3})
	if !s.Empty() {
		t.Errorf("set holds %v", s)
	}
	s.AddRange(Range{16380, 65535})
	s.Remove(65535)
	s.RemoveRange(Range{16382, 65535})
	if s.String() != "16380-16381" || s.Has(65535) {
		t.Errorf("set holds %v", s)
	}
}

// naive is the model: what a Set means.
type naive map[ID]bool

func draw(t *rapid.T, label string) (Set, naive) {
	var s Set
	model := naive{}
	id := rapid.Custom(func(t *rapid.T) ID {
		// Half of the draws near borders of words and of the space.
		if rapid.Bool().Draw(t, "border") {
			return rapid.SampledFrom([]ID{0, 1, 62, 63, 64, 65, 127, 128, 16319, 16320, 16382, 16383}).Draw(t, "id")
		}
		return ID(rapid.IntRange(0, Count-1).Draw(t, "id"))
	})
	for range rapid.IntRange(0, 12).Draw(t, label) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		r := Range{min(a, b), max(a, b)}
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0:
			s.Add(a)
			model[a] = true
		case 1:
			s.Remove(a)
			delete(model, a)
		case 2:
			s.AddRange(r)
			for i := r.First; i <= r.Last; i++ {
				model[i] = true
			}
		case 3:
			s.RemoveRange(r)
			maps.DeleteFunc(model, func(i ID, _ bool) bool { return r.Has(i) })
		}
	}
	return s, model
}

func check(t *rapid.T, what string, s Set, model naive) {
	if s.Len() != len(model) || s.Empty() != (len(model) == 0) {
		t.Fatalf("%s has %d slots, the model %d", what, s.Len(), len(model))
	}
	for id := range ID(Count) {
		if s.Has(id) != model[id] {
			t.Fatalf("%s: slot %d is %v, in the model %v", what, id, s.Has(id), model[id])
		}
	}
	n := 0
	for id := range s.All() {
		if !model[id] {
			t.Fatalf("%s yields slot %d", what, id)
		}
		n++
	}
	if n != len(model) {
		t.Fatalf("%s yields %d slots of %d", what, n, len(model))
	}
}

func TestSetAlgebraEqualsThatOfMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, ma := draw(t, "steps a")
		b, mb := draw(t, "steps b")
		check(t, "a", a, ma)
		union, both, rest := maps.Clone(ma), maps.Clone(ma), maps.Clone(ma)
		maps.Copy(union, mb)
		maps.DeleteFunc(both, func(i ID, _ bool) bool { return !mb[i] })
		maps.DeleteFunc(rest, func(i ID, _ bool) bool { return mb[i] })
		check(t, "union", a.Union(b), union)
		check(t, "intersection", a.Intersect(b), both)
		check(t, "difference", a.Subtract(b), rest)
		if a.Equal(b) != maps.Equal(ma, mb) {
			t.Fatalf("Equal(%v, %v) = %v", a, b, a.Equal(b))
		}
	})
}

func TestSetRangesAreMaximalAndRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := draw(t, "steps")
		ranges := s.Ranges()
		for i, r := range ranges {
			if !r.Valid() || i > 0 && r.First <= ranges[i-1].Last+1 {
				t.Fatalf("ranges %v of %v", ranges, s)
			}
		}
		if !SetOf(ranges...).Equal(s) {
			t.Fatalf("%v makes ranges %v", s, ranges)
		}
		back, err := ParseSet(s.String())
		if err != nil || !back.Equal(s) {
			t.Fatalf("%v parses back to %v, %v", s, back, err)
		}
	})
}

func FuzzParseSet(f *testing.F) {
	for _, seed := range []string{"", "0-16383", "0-100,200", "5,5,5-9", "16384", "9-1", ",", "0-1@2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSet(text)
		if err != nil {
			if !s.Empty() {
				t.Fatalf("ParseSet(%q) = %v and error %v", text, s, err)
			}
			return
		}
		if back, err := ParseSet(s.String()); err != nil || !back.Equal(s) {
			t.Fatalf("%q prints %v, which parses to %v, %v", text, s, back, err)
		}
	})
}
