package shard

import (
	"math"

	"github.com/bowline-kv/bowline/internal/store"
)

// The 24 access bits of a record say how it was used, in one of two forms as
// the policy for evicting keys needs it:
//
//	recently   | seconds of unix time, modulo 2^24 (194 days) |
//	often      | minutes, modulo 2^16 | counter, 0..255       |
//
// The counter grows with the logarithm of the number of uses, and shrinks with
// the minutes in which there was none.
const (
	recentMask   = 1<<24 - 1
	counterMax   = 255
	counterStart = 5 // of a new key, so that it is not evicted at once
	minuteMask   = 1<<16 - 1
	minuteShift  = 8
)

// fresh is the access bits of a key that is written now.
func (m *Memory) fresh(now int64) uint32 {
	if m.Policy.often() {
		return minutes(now)<<minuteShift | counterStart
	}
	return uint32(now/1000) & recentMask
}

// used is the access bits of a key that is used now and had old ones.
func (m *Memory) used(old uint32, now int64, random uint64) uint32 {
	if !m.Policy.often() {
		return uint32(now/1000) & recentMask
	}
	n := m.counter(old, now)
	if n < counterMax {
		above := max(0, int64(n)-counterStart)
		if random%uint64(above*m.LogFactor+1) == 0 {
			n++
		}
	}
	return minutes(now)<<minuteShift | n
}

// counter is how often a key was used, with what it lost since.
func (m *Memory) counter(access uint32, now int64) uint32 {
	n := access & counterMax
	if m.DecayMinutes <= 0 {
		return n
	}
	idle := (minutes(now) - access>>minuteShift) & minuteMask
	return n - min(n, idle/uint32(m.DecayMinutes))
}

// idleSeconds is for how long a key was not used.
func idleSeconds(access uint32, now int64) int64 {
	return int64((uint32(now/1000) - access) & recentMask)
}

func minutes(now int64) uint32 { return uint32(now/60000) & minuteMask }

// SetUse sets what eviction goes by of a key that was just written: for how many
// seconds it was not used, or its logarithmic counter of uses (0..255), whichever the
// policy keeps; -1: as it is.
func (tx *Tx) SetUse(name []byte, idle, freq int64) {
	m := tx.space.memory.Load()
	k := tx.key(name)
	t := tx.table(k.Slot)
	e, ok := t.Get(*k)
	switch {
	case !ok:
	case m.Policy.often() && freq >= 0:
		t.Touch(e, minutes(tx.Now)<<minuteShift|uint32(freq))
	case !m.Policy.often() && idle >= 0:
		t.Touch(e, uint32(tx.Now/1000-idle)&recentMask)
	}
}

// score orders candidates: the highest is evicted first.
func (m *Memory) score(e store.Entry, now int64) int64 {
	switch {
	case m.Policy == VolatileTTL:
		return math.MaxInt64 - e.ExpireAt
	case m.Policy.often():
		return counterMax - int64(m.counter(e.Access, now))
	}
	return idleSeconds(e.Access, now)
}
