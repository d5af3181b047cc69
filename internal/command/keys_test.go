package command

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestKeysAppendsToWhatIsThere(t *testing.T) {
	prefix := []KeyRef{{7, KeyRO}}
	for _, request := range []string{"get a", "mget a b", "zunion 2 a b", "sort a", "zunion x a b", "ping", "eval s 0"} {
		args := toArgs(strings.Fields(request))
		out, err := FindAny(args).Keys(args, slices.Clone(prefix))
		if len(out) < 1 || out[0] != prefix[0] || err != nil && len(out) != 1 {
			t.Errorf("%s: %v, %v", request, out, err)
		}
	}
}

func TestKeysSurvivesShortRequests(t *testing.T) {
	for s := range All() {
		for n := range 4 {
			args := make([][]byte, n)
			refs, err := s.Keys(args, nil)
			checkRefs(t, s, args, refs, err)
		}
	}
}

func checkRefs(t *testing.T, s *Spec, args [][]byte, refs []KeyRef, err error) {
	t.Helper()
	if err != nil && len(refs) > 0 {
		t.Fatalf("%s %q: keys %v and %v", s.Name, args, refs, err)
	}
	if err != nil && !errors.Is(err, ErrNoKeys) && !errors.Is(err, ErrInvalidArgs) {
		t.Fatalf("%s %q: %v", s.Name, args, err)
	}
	if errors.Is(err, ErrNoKeys) == s.HasKeys() {
		t.Fatalf("%s: has keys %v, but %v", s.Name, s.HasKeys(), err)
	}
	for _, r := range refs {
		if r.Index < 1 || r.Index >= len(args) {
			t.Fatalf("%s %q: key at %d", s.Name, args, r.Index)
		}
	}
	// Every specification yields an argument at most once.
	if len(refs) > len(args)*max(1, len(s.KeySpecs)) {
		t.Fatalf("%s %q: %d keys", s.Name, args, len(refs))
	}
}

// TestKeysAgreesWithLegacyRange: where the old first-last-step range can say
// where the keys are, the rules say the same, for every number of arguments.
func TestKeysAgreesWithLegacyRange(t *testing.T) {
	compared := 0
	for s := range All() {
		if s.FirstKey == 0 || s.Flags.Has(FlagMovablekeys) {
			continue
		}
		for n := 1; n < 12; n++ {
			if !s.CheckArity(n) {
				continue
			}
			args := slices.Repeat([][]byte{[]byte("x")}, n)
			last := s.LastKey
			if last < 0 {
				last += n
			}
			var want, got []int
			for i := s.FirstKey; i <= last; i += s.KeyStep {
				want = append(want, i)
			}
			refs, err := s.Keys(args, nil)
			for _, r := range refs {
				got = append(got, r.Index)
			}
			if err != nil || !slices.Equal(want, got) {
				t.Errorf("%s with %d arguments: %v, %v; the range says %v", s.Name, n, got, err, want)
			}
			compared++
		}
	}
	if compared < 500 {
		t.Errorf("only %d forms were compared", compared)
	}
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{
		"2 a b", "9999999999 a", "-1 a", "0", "STREAMS a b 0 0", "a KEYS b", "a STORE b STOREDIST c", "\x00 a \x00",
		"a GET b BY c LIMIT 0 1 STORE d", "h 6379  0 10 AUTH2 u p KEYS a b",
	} {
		for _, id := range []ID{IDGet, IDZunion, IDEval, IDXread, IDMigrate, IDSort, IDGeoradius, IDBitfield, IDLmpop} {
			f.Add(uint16(id), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, id uint16, text []byte) {
		s := Get(ID(int(id) % Count))
		words := bytes.Split(text, []byte(" "))
		args := append(toArgs(strings.Split(s.Name, "|")), words...)
		refs, err := s.Keys(args, nil)
		checkRefs(t, s, args, refs, err)
		// The rule only depends on the arguments: the same again, into room.
		again, err2 := s.Keys(args, make([]KeyRef, 0, len(refs)))
		if !slices.Equal(refs, again) || !errors.Is(err, err2) {
			t.Fatalf("%s %q: %v %v, then %v %v", s.Name, args, refs, err, again, err2)
		}
	})
}

// FuzzReply: COMMAND answers anything with one whole reply.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		"", "INFO get", "DOCS set nosuch", "LIST FILTERBY PATTERN [a-", "GETKEYS eval s 1 a", "GETKEYSANDFLAGS sort a STORE b",
		"x\r\ny", "HELP", "COUNT",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		args := []string{"COMMAND"}
		if len(text) > 0 {
			args = append(args, strings.Split(string(text), " ")...)
		}
		if len(args) > 50 {
			return
		}
		decodeReply(ask(2, args...))
		if len(ask(3, args...)) == 0 {
			t.Fatal("no reply")
		}
	})
}

func TestKeysAllocatesNothing(t *testing.T) {
	room := make([]KeyRef, 0, 8)
	for _, request := range []string{
		"get a", "mset a 1 b 2", "zunionstore d 2 a b", "xread count 1 streams a b 0 0", "set a 1 ex 5 get",
		"sort a by x store d", "migrate h p k 0 1", "eval s 1 a", "georadius a 1 2 3 m store d", "object encoding a", "ping",
	} {
		args := toArgs(strings.Fields(request))
		s := FindAny(args)
		if n := testing.AllocsPerRun(100, func() { s.Keys(args, room) }); n != 0 {
			t.Errorf("%s: %v allocations", request, n)
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	for _, request := range []string{
		"get a", "set a 1", "mget a b c d e f g h", "zunionstore d 2 a b", "xread count 1 streams a b 0 0",
	} {
		args := toArgs(strings.Fields(request))
		s, room := FindAny(args), make([]KeyRef, 0, 8)
		b.Run(strings.ReplaceAll(request, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Keys(args, room)
			}
		})
	}
}
