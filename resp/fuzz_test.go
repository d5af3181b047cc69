package resp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pieces yields the ends of the pieces in which n bytes arrive.
func pieces(n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 1))
	longest := 1 + rng.IntN(40)
	var ends []int
	for at := 0; at < n; {
		at = min(n, at+1+rng.IntN(longest))
		ends = append(ends, at)
	}
	return ends
}

// readCommands feeds in to a reader in pieces. Each call sees the bytes at a new
// address, as if the buffer had been moved.
func readCommands(t *testing.T, in string, l Limits, ends []int) outcome {
	r := CommandReader{Limits: l}
	var out outcome
	var arena [][]byte
	var held [][][]byte
	defer func() {
		for i := range held {
			if got := asStrings(held[i]); !slices.Equal(got, out.commands[i]) {
				t.Fatalf("command %d of a batch changed from %q to %q", i, out.commands[i], got)
			}
		}
	}()
	for _, end := range ends {
		for out.consumed < end {
			args, rest, n, err := r.Next([]byte(in[out.consumed:end]), arena)
			if errors.Is(err, ErrIncomplete) {
				if r.Missing() < 1 || r.Missing() > MissingMax {
					t.Fatalf("missing %d bytes", r.Missing())
				}
				break
			}
			if err != nil {
				out.err = err.Error()
				return out
			}
			if n <= 0 || len(rest) != len(arena)+len(args) {
				t.Fatalf("n %d, arena %d, rest %d, args %d", n, len(arena), len(rest), len(args))
			}
			arena = rest
			held = append(held, args)
			out.commands = append(out.commands, asStrings(args))
			out.consumed += n
		}
	}
	return out
}

func asStrings(args [][]byte) []string {
	var out []string
	for _, a := range args {
		out = append(out, string(a))
	}
	return out
}

func sameOutcome(a, b outcome) bool {
	return a.err == b.err && a.consumed == b.consumed && slices.EqualFunc(a.commands, b.commands, slices.Equal)
}

// checkCommands holds the reader, fed at once and in pieces, against the naive decoder.
func checkCommands(t *testing.T, in string, seed uint64) {
	small := Limits{MaxBulk: 120, MaxArgs: 12, MaxInline: 40}
	unauthenticated := small
	unauthenticated.Unauthenticated = true
	for _, l := range []Limits{DefaultLimits, small, unauthenticated} {
		want := naiveCommands(in, l)
		if got := readCommands(t, in, l, []int{len(in)}); !sameOutcome(got, want) {
			t.Fatalf("%q at once\n got %+v\nwant %+v", in, got, want)
		}
		if got := readCommands(t, in, l, pieces(len(in), seed)); !sameOutcome(got, want) {
			t.Fatalf("%q in pieces\n got %+v\nwant %+v", in, got, want)
		}
	}
}

func FuzzCommandReader(f *testing.F) {
	for i, c := range commandCases {
		if len(c.wire) < 2000 { // long seeds slow the search down
			f.Add([]byte(c.wire), uint64(i))
		}
	}
	for i, c := range inlineCases {
		f.Add([]byte(c.line+"\r\n"), uint64(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		checkCommands(t, string(in), seed)
	})
}

// checkReplies holds the reader, fed at once and in pieces, against the naive decoder,
// and what it reads against what is read when it is written again.
func checkReplies(t *testing.T, in []byte, seed uint64) {
	for _, l := range []ReplyReader{{}, {MaxBulk: 40, MaxElems: 9, MaxDepth: 3}} {
		p := naiveReply{in: in, maxBulk: orDefault(l.MaxBulk, 512<<20), maxElems: orDefault(l.MaxElems, 1<<26),
			maxDepth: orDefault(l.MaxDepth, 128)}
		want, wantErr := p.value(0)
		for _, ends := range [][]int{{len(in)}, pieces(len(in), seed)} {
			r := ReplyReader{MaxBulk: l.MaxBulk, MaxElems: l.MaxElems, MaxDepth: l.MaxDepth}
			got, n, err := readReply(t, &r, in, ends)
			if (err == nil) != (wantErr == nil) || errors.Is(err, ErrIncomplete) != errors.Is(wantErr, ErrIncomplete) {
				t.Fatalf("%q: error %v, want %v", in, err, wantErr)
			}
			if err == nil && (n != p.pos || !got.Equal(&want)) {
				t.Fatalf("%q:\n got %+v (%d bytes)\nwant %+v (%d bytes)", in, got, n, want, p.pos)
			}
			if err == nil {
				checkArena(t, in[:n], &want, int(seed%8))
			}
			if err == nil {
				checkRewritten(t, &got)
			}
		}
	}
}

func readReply(t *testing.T, r *ReplyReader, in []byte, ends []int) (v Value, n int, err error) {
	err = ErrIncomplete
	for _, end := range ends {
		v, n, err = r.Next(slices.Clone(in[:end]))
		if !errors.Is(err, ErrIncomplete) {
			return v, n, err
		}
		if r.Missing() < 1 || r.Missing() > MissingMax {
			t.Fatalf("missing %d bytes", r.Missing())
		}
	}
	return v, n, err
}

func checkRewritten(t *testing.T, v *Value) {
	w := Writer{Proto: 3}
	w.Value(v)
	var r ReplyReader
	again, n, err := r.Next(w.B)
	if err != nil || n != len(w.B) {
		t.Fatalf("%q, written again: %v after %d bytes", w.B, err, n)
	}
	// A line feed alone is read as content, but never written.
	if !again.Equal(v) && !hasLineFeed(v) {
		t.Fatalf("written again as %q:\n got %+v\nwant %+v", w.B, again, *v)
	}
}

func hasLineFeed(v *Value) bool {
	if (v.Kind == KindSimple || v.Kind == KindError) && slices.Contains(v.Str, '\n') {
		return true
	}
	for _, list := range [][]Value{v.Elems, v.Attributes()} {
		for i := range list {
			if hasLineFeed(&list[i]) {
				return true
			}
		}
	}
	return false
}

// checkArena reads a whole reply, its elements into an arena of a size that they fit
// into or do not, behind what somebody else has there.
func checkArena(t *testing.T, in []byte, want *Value, size int) {
	t.Helper()
	var r ReplyReader
	dirty := Value{Kind: KindVerbatim, Str: []byte("old"), Attrs: &[]Value{{Kind: KindInt}}}
	arena := make([]Value, size+1)
	for i := range arena {
		arena[i] = dirty
	}
	var v Value
	n, rest, err := r.NextIn(&v, in, arena[:1])
	if err != nil || n != len(in) || !v.Equal(want) {
		t.Fatalf("%q into %d elements:\n got %+v (%d bytes, %v)\nwant %+v", in, size, v, n, err, *want)
	}
	_, elems := want.size()
	if lent := len(rest) - 1; lent != 0 && lent != elems || lent == 0 && elems > 0 && elems <= size {
		t.Fatalf("%q into %d elements: %d lent of %d", in, size, lent, elems)
	}
	for i := range arena {
		if (i == 0 || i >= len(rest)) && !arena[i].Equal(&dirty) {
			t.Fatalf("%q into %d elements: wrote element %d", in, size, i)
		}
	}
}

func FuzzReplyReader(f *testing.F) {
	for i, c := range replyCases {
		f.Add([]byte(c.wire), uint64(i))
	}
	for i, c := range replyRefusals {
		f.Add([]byte(c.wire), uint64(i))
	}
	f.Fuzz(checkReplies)
}

// Streams put together from fragments reach deeper than random bytes.
func TestStreamsOfFragments(t *testing.T) {
	requests := strings.Split("*1\r\n *2\r\n *3\r\n *0\r\n *-1\r\n *12\r\n *13\r\n $0\r\n\r\n $3\r\nGET\r\n $12\r\nabcdefghijkl\r\n "+
		"$2\r\n $-1\r\n $121\r\n PING\r\n \"a\\x41\"\n 'b \r \n \r\n $ * \x00", " ")
	replies := strings.Split("+a\r\n -E\r\n :12\r\n $1\r\nx\r\n $10\r\nabcdefghij\r\n $-1\r\n *0\r\n *1\r\n *2\r\n *-1\r\n %1\r\n "+
		"~2\r\n >1\r\n |1\r\n |0\r\n _\r\n #t\r\n ,1.5\r\n (12\r\n =5\r\ntxt:a\r\n !1\r\nE\r\n \r \n : $41\r\n", " ")
	rng := rand.New(rand.NewPCG(3, 0))
	for i := range 20_000 {
		var in, out strings.Builder
		for range 1 + rng.IntN(10) {
			in.WriteString(requests[rng.IntN(len(requests))])
			out.WriteString(replies[rng.IntN(len(replies))])
		}
		checkCommands(t, in.String(), uint64(i))
		checkReplies(t, []byte(out.String()), uint64(i))
	}
}

func FuzzParseInt(f *testing.F) {
	for _, c := range parseIntCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, ok := ParseInt(in)
		want, wantOK := naiveInt(string(in))
		if ok != wantOK || ok && got != want {
			t.Fatalf("%q: %d %v, want %d %v", in, got, ok, want, wantOK)
		}
	})
}
