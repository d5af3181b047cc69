package server

import (
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/netdrive"
	"github.com/bowline-kv/bowline/internal/shard"
)

// rates measures commands and bytes a second over the last [rateSamples] ticks
// that are at least [ratePeriod] apart, as Redis does.
type rates struct {
	mu      sync.Mutex
	started bool
	last    rateSample              // guarded by mu, like all below
	ring    [rateSamples]rateSample // differences
	next    int
	peakAt  int64 // Instant.Mono at which memory was last looked at

	expireNanos atomic.Int64 // spent in the background on keys whose time is over
	roundNanos  atomic.Int64 // spent in all on background work
}

type rateSample struct {
	nanos             int64
	commands, in, out uint64
	cycles, busy      uint64 // of the driver; busy in nanoseconds
}

const (
	rateSamples = 16
	ratePeriod  = 100e6 // nanoseconds
	peakPeriod  = 1e9
)

// Tick does what has to be done from time to time, with a Tx of the caller's
// that is not locked. The node calls it several times a second, from one
// goroutine.
func (srv *Server) Tick(tx *shard.Tx) {
	instant := srv.now()
	now := instant.Mono
	if srv.pause.mode.Load() != pauseNone {
		srv.endPause(now, true)
	}
	srv.registry.EvictClients()
	r := &srv.rates
	r.mu.Lock()
	sample := !r.started || now-r.last.nanos >= ratePeriod
	look := now-r.peakAt >= peakPeriod
	if look {
		r.peakAt = now
	}
	r.mu.Unlock()
	if look {
		o := tx.Overview()
		srv.notePeak(o.Bytes())
		srv.tickSaves(o.Stats.Changes, instant)
	}
	if sample {
		var driver netdrive.Stats
		if srv.process.Driver != nil {
			driver = srv.process.Driver()
		}
		r.add(rateSample{now, srv.commandsExecuted(), driver.In, driver.Out, driver.Cycles, driver.CycleNanos})
	}
}

// add takes the counters of a moment.
func (r *rates) add(now rateSample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started && now.commands >= r.last.commands { // else CONFIG RESETSTAT came between
		r.ring[r.next] = rateSample{
			now.nanos - r.last.nanos, now.commands - r.last.commands, now.in - r.last.in, now.out - r.last.out,
			now.cycles - r.last.cycles, now.busy - r.last.busy,
		}
		r.next = (r.next + 1) % rateSamples
	}
	r.last, r.started = now, true
}

// cycleMicros is the mean time of a driver's cycle over the samples.
func (r *rates) cycleMicros() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	cycles, busy := uint64(0), uint64(0)
	for i := range r.ring {
		cycles += r.ring[i].cycles
		busy += r.ring[i].busy
	}
	if cycles == 0 {
		return 0
	}
	return int64(busy / cycles / 1000)
}

// perSecond is the mean of the samples.
func (r *rates) perSecond(of func(s *rateSample) uint64) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	nanos, n := int64(0), uint64(0)
	for i := range r.ring {
		nanos += r.ring[i].nanos
		n += of(&r.ring[i])
	}
	if nanos == 0 {
		return 0
	}
	return float64(n) * 1e9 / float64(nanos)
}

// NoteExpire tells how long a round of deleting keys whose time is over took.
func (srv *Server) NoteExpire(nanos int64) {
	srv.rates.expireNanos.Add(nanos)
	srv.NoteLatency("expire-cycle", nanos)
}

// NoteRound tells how long a round of background work took.
func (srv *Server) NoteRound(nanos int64) { srv.rates.roundNanos.Add(nanos) }

// ActiveExpire says whether the background deletes keys whose time is over, and
// Background whether it works at all: DEBUG turns them off. Any goroutine may
// call them.
func (srv *Server) ActiveExpire() bool { return !srv.noActiveExpire.Load() }

// Background: see [Server.ActiveExpire].
func (srv *Server) Background() bool {
	return !srv.cronPaused.Load() && srv.saving.state.Load()&stateLoading == 0
}
