package wal

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Fork is the start of a writer's reign over a stream.
type Fork struct {
	// Epoch is the number of the reign.
	Epoch uint64
	// ID is drawn at random for each start; no two are the same.
	ID uint64
	// First is the number of the first record of this writer.
	First Sequence
}

// History is the chain of forks that a stream went through, the newest last; First
// rises strictly. A writer that wrote nothing before the next one is not in it.
// The oldest forks are forgotten beyond historyMax.
type History []Fork

// historyMax bounds a history: it stands at the start of every segment.
const historyMax = 256

const forkSize = 24

// Contains says that a record is on this history: that the writer with this ID
// wrote the record of this number.
func (h History) Contains(seq Sequence, id uint64) bool {
	f, ok := h.Writer(seq)
	return ok && f.ID == id
}

// Writer gives the fork under which the record of this number was written; ok is
// false when that is not known.
func (h History) Writer(seq Sequence) (f Fork, ok bool) {
	for _, f := range slices.Backward(h) {
		if f.First <= seq {
			return f, true
		}
	}
	return Fork{}, false
}

// newest is the last fork; zero when there is none.
func (h History) newest() Fork {
	if len(h) == 0 {
		return Fork{}
	}
	return h[len(h)-1]
}

// until is the history before a record is written, which may be a fork.
func (h History) until(seq Sequence, fork bool) History {
	for len(h) > 0 && (h.newest().First > seq || fork && h.newest().First == seq) {
		h = h[:len(h)-1]
	}
	return h
}

// fork gives the history that goes on with f; h stays as it is.
func (h History) fork(f Fork) History {
	for len(h) > 0 && h[len(h)-1].First >= f.First {
		h = h[:len(h)-1]
	}
	if len(h) == historyMax {
		h = h[1:]
	}
	return append(slices.Clone(h), f)
}

func (h History) append(dst []byte) []byte {
	for _, f := range h {
		dst = binary.LittleEndian.AppendUint64(dst, f.Epoch)
		dst = binary.LittleEndian.AppendUint64(dst, f.ID)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(f.First))
	}
	return dst
}

// decodeHistory reads what append wrote.
func decodeHistory(b []byte) (History, error) {
	if len(b)%forkSize != 0 || len(b) > historyMax*forkSize {
		return nil, fmt.Errorf("a history of %d bytes", len(b))
	}
	var h History
	for ; len(b) > 0; b = b[forkSize:] {
		f := Fork{
			Epoch: binary.LittleEndian.Uint64(b),
			ID:    binary.LittleEndian.Uint64(b[8:]),
			First: Sequence(binary.LittleEndian.Uint64(b[16:])),
		}
		if len(h) > 0 && f.First <= h[len(h)-1].First {
			return nil, fmt.Errorf("a history that goes from %d to %d", h[len(h)-1].First, f.First)
		}
		h = append(h, f)
	}
	return h, nil
}

// state is how far a stream has come.
type state struct {
	last    Sequence
	history History
}

// cuts says that a record takes back others.
func (s *state) cuts(r Record) bool {
	return r.Kind == kindBase || r.Kind == kindFork && r.Seq <= s.last
}

// apply goes on by one record; an error says why it can't be the next one.
func (s *state) apply(r Record) error {
	switch r.Kind {
	case KindEffects, KindSlots:
		if r.Seq != s.last+1 {
			return fmt.Errorf("sequence %d of shard %d follows %d", r.Seq, r.Shard, s.last)
		}
		s.last = r.Seq
		return nil
	case kindFork:
		h, err := decodeHistory(r.Payload)
		if err != nil || len(h) != 1 || h[0].First != r.Seq || r.Seq == 0 || r.Seq > s.last+1 {
			return fmt.Errorf("a fork of shard %d at %d follows %d", r.Shard, r.Seq, s.last)
		}
		s.last, s.history = r.Seq-1, s.history.fork(h[0])
		return nil
	case kindOpening, kindBase:
		h, err := decodeHistory(r.Payload)
		if err != nil {
			return fmt.Errorf("shard %d: %w", r.Shard, err)
		}
		if r.Kind == kindOpening && (r.Seq != s.last || !slices.Equal(h, s.history)) {
			return fmt.Errorf("shard %d is at %d where a segment begins with %d", r.Shard, s.last, r.Seq)
		}
		s.last, s.history = r.Seq, h
		return nil
	}
	return fmt.Errorf("a record of unknown kind %d", r.Kind)
}

// stateSum tells states of all streams from others, by the last record of each and who
// writes it.
type stateSum uint64

func (sum stateSum) add(s state) stateSum {
	for _, w := range [2]uint64{uint64(s.last), s.history.newest().ID} {
		sum = (sum ^ stateSum(w)) * 0x9e3779b97f4a7c15
		sum ^= sum >> 32
	}
	return sum
}

func (sum stateSum) fold() uint32 { return uint32(sum ^ sum>>32) }

// eras says which records of a stream were taken back. The forks and bases in the
// log part it into eras, 0 before the first of them; a record of an era is void when
// its number is not below the bound of that era.
type eras []Sequence

const noBound = ^Sequence(0)

// cut begins a new era, of which first is the first sequence.
func (e eras) cut(first Sequence) eras {
	// Bounds never fall from one era to the next.
	for i := len(e) - 1; i >= 0 && e[i] > first; i-- {
		e[i] = first
	}
	return append(e, noBound)
}

func (e eras) live(era int, seq Sequence) bool { return seq < e[era] }

// eraStart is the first sequence of the era that a record begins; ok is false for
// records that begin none. After a base nothing from before it is of use.
func eraStart(r Record) (first Sequence, ok bool) {
	switch r.Kind {
	case kindFork:
		return r.Seq, true
	case kindBase:
		return 0, true
	}
	return 0, false
}
