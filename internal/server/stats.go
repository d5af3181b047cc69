package server

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/netdrive"
)

// workerStats counts what one worker did. Only the worker adds, so that no two
// cores write to the same line; INFO sums over the workers.
type workerStats struct {
	commands [command.Count]commandStats
	unknown  atomic.Uint64
}

type commandStats struct {
	calls, rejected, failed, nanos atomic.Uint64
	// times is nil until the command is called with latency-tracking on.
	times atomic.Pointer[histogram]
}

// time counts calls that took nanos each.
func (c *commandStats) time(nanos, calls uint64) {
	h := c.times.Load()
	if h == nil {
		h = &histogram{}
		c.times.Store(h) // only the worker adds, so nobody else stores one
	}
	h.add(nanos, calls)
}

// noteError counts the reply if it is an error, and says whether it is.
func (w *Worker) noteError(answer []byte) bool {
	if len(answer) == 0 || answer[0] != '-' {
		return false
	}
	w.srv.errors.add(answer)
	return true
}

// count records the commands from..to-1 of a batch, which took nanos together.
func (w *Worker) count(from, to int, nanos int64) {
	share := uint64(nanos) / uint64(to-from)
	timed := w.srv.cfg.Bool(config.LatencyTracking)
	for i := from; i < to; {
		spec, how := w.specs[i], w.outcomes[i]
		run, failed := i, uint64(0) // commands of one kind in a row are added at once
		for ; i < to && w.specs[i] == spec && w.outcomes[i] == how; i++ {
			if w.failed[i] {
				failed++
			}
		}
		times := uint64(i - run)
		if how == queuedUp { // counted when EXEC runs it
			continue
		}
		if how == unknown {
			w.stats.unknown.Add(times)
			continue
		}
		c := &w.stats.commands[spec.ID]
		if how == rejected {
			c.rejected.Add(times)
			continue
		}
		c.calls.Add(times)
		c.nanos.Add(share * times)
		if timed {
			c.time(share, times)
		}
		if failed > 0 {
			c.failed.Add(failed)
		}
	}
}

// countOne records a command of a transaction. Its time is nanos, or if that is
// negative only a part of EXEC's.
func (w *Worker) countOne(spec *command.Spec, failed bool, nanos int64) {
	c := &w.stats.commands[spec.ID]
	c.calls.Add(1)
	if nanos >= 0 {
		c.nanos.Add(uint64(nanos))
		if w.srv.cfg.Bool(config.LatencyTracking) {
			c.time(uint64(nanos), 1)
		}
	}
	if failed {
		c.failed.Add(1)
	}
}

// summed is one row of commandstats.
type summed struct {
	spec                           *command.Spec
	calls, rejected, failed, nanos uint64
}

// sumCommands gives the commands that were ever called or refused.
func (srv *Server) sumCommands() []summed {
	sums := make([]summed, command.Count)
	for _, w := range srv.allWorkers() {
		for i := range w.stats.commands {
			c := &w.stats.commands[i]
			sums[i].calls += c.calls.Load()
			sums[i].rejected += c.rejected.Load()
			sums[i].failed += c.failed.Load()
			sums[i].nanos += c.nanos.Load()
		}
	}
	used := sums[:0]
	for i, s := range sums {
		if s.calls+s.rejected+s.failed > 0 {
			s.spec = command.Get(command.ID(i))
			used = append(used, s)
		}
	}
	return used
}

// commandsExecuted is how many commands were called since the start, or the last
// CONFIG RESETSTAT.
func (srv *Server) commandsExecuted() uint64 {
	n := uint64(0)
	for _, w := range srv.allWorkers() {
		for i := range w.stats.commands {
			n += w.stats.commands[i].calls.Load()
		}
	}
	return n
}

// sumHistograms gives the commands that were called while latency-tracking was
// on, by ID.
func (srv *Server) sumHistograms() []timedCommand {
	var rows []timedCommand
	workers := srv.allWorkers()
	for id := range command.Count {
		row := timedCommand{}
		for _, w := range workers {
			if h := w.stats.commands[id].times.Load(); h != nil {
				row.histogram.add(h)
			}
		}
		if row.histogram.total > 0 {
			row.name = command.Get(command.ID(id)).Name
			rows = append(rows, row)
		}
	}
	return rows
}

func (srv *Server) allWorkers() []*Worker {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return slices.Clone(srv.workers)
}

// errorCounts counts replies by error code.
type errorCounts struct {
	total atomic.Uint64

	mu    sync.Mutex
	codes map[string]uint64 // guarded by mu
}

// errorCodesMax bounds the table; what comes after is counted in total only.
const errorCodesMax = 128

func (e *errorCounts) add(answer []byte) {
	e.total.Add(1)
	code := answer[1:]
	if i := bytes.IndexAny(code, " \r"); i >= 0 {
		code = code[:i]
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.codes == nil {
		e.codes = map[string]uint64{}
	}
	if _, known := e.codes[string(code)]; known || len(e.codes) < errorCodesMax {
		e.codes[string(code)]++
	}
}

// driverBaseline is what the driver had counted at the last CONFIG RESETSTAT.
type driverBaseline struct {
	stats       netdrive.Stats
	connections uint64
	evicted     uint64 // clients
}

// resetStats is CONFIG RESETSTAT.
func (srv *Server) resetStats(by *Worker) {
	for _, w := range srv.allWorkers() {
		for i := range w.stats.commands {
			c := &w.stats.commands[i]
			c.calls.Store(0)
			c.rejected.Store(0)
			c.failed.Store(0)
			c.nanos.Store(0)
			if h := c.times.Load(); h != nil {
				for i := range h.buckets {
					h.buckets[i].Store(0)
				}
			}
		}
		w.stats.unknown.Store(0)
	}
	srv.errors.mu.Lock()
	srv.errors.codes = nil
	srv.errors.mu.Unlock()
	srv.errors.total.Store(0)
	for i := range srv.accounts.denied {
		srv.accounts.denied[i].Store(0)
	}
	by.ctx.ResetStats()
	srv.baseline.Store(&driverBaseline{srv.process.Driver(), srv.registry.Total(), srv.registry.Evicted()})
}

// evictedClients is how many were closed for memory since the last CONFIG
// RESETSTAT.
func (srv *Server) evictedClients() uint64 {
	n := srv.registry.Evicted()
	if base := srv.baseline.Load(); base != nil {
		n -= base.evicted
	}
	return n
}

// driverStats is what the driver counted since the last CONFIG RESETSTAT.
func (srv *Server) driverStats() (netdrive.Stats, uint64) {
	now, connections := srv.process.Driver(), srv.registry.Total()
	base := srv.baseline.Load()
	if base == nil {
		return now, connections
	}
	now.Rejected -= base.stats.Rejected
	now.In -= base.stats.In
	now.Out -= base.stats.Out
	now.Reads -= base.stats.Reads
	now.Writes -= base.stats.Writes
	now.QueryLimit -= base.stats.QueryLimit
	now.OutputLimit -= base.stats.OutputLimit
	now.HandshakesFailed -= base.stats.HandshakesFailed
	now.Cycles -= base.stats.Cycles
	now.CycleNanos -= base.stats.CycleNanos
	now.CommandNanos -= base.stats.CommandNanos
	return now, connections - base.connections
}
