package server

import "fmt"

// LogState is what INFO tells of the log on disk.
type LogState struct {
	// Bytes is the size of its files, Waiting of what is not yet written to them.
	Bytes, Waiting int64
	// LoopNanos is the time that event loops have spent on it, in nanoseconds.
	LoopNanos int64
	// Failing: at the moment nothing can be written.
	Failing bool
}

func (srv *Server) aboutLog() map[string]source {
	field := func(of func(l LogState) int64) source {
		return numberSource(func() int64 {
			l, on := srv.logState()
			if !on {
				return 0
			}
			return of(l)
		})
	}
	return map[string]source{
		"aof_enabled":       field(func(LogState) int64 { return 1 }),
		"aof_current_size":  field(func(l LogState) int64 { return l.Bytes }),
		"aof_buffer_length": field(func(l LogState) int64 { return l.Waiting }),
		"mem_aof_buffer":    field(func(l LogState) int64 { return l.Waiting }),

		"eventloop_duration_aof_sum": field(func(l LogState) int64 { return l.LoopNanos / 1000 }),
		"aof_last_write_status": textSource(func() string {
			if l, on := srv.logState(); on && l.Failing {
				return "err"
			}
			return "ok"
		}),
		"Log": srv.appendLogPositions,
	}
}

// logState is Process.LogState, false where there is none.
func (srv *Server) logState() (LogState, bool) {
	if srv.process.LogState == nil {
		return LogState{}, false
	}
	return srv.process.LogState()
}

// appendLogPositions writes how far the log of each shard is.
func (srv *Server) appendLogPositions(b []byte, _ *occasion) []byte {
	if _, on := srv.logState(); !on {
		return b
	}
	for i, sh := range srv.space.Shards() {
		durable := sh.Durable() // first: the other one moves on meanwhile
		b = fmt.Appendf(b, "shard%d:wal_last_sequence=%d,wal_durable_sequence=%d\r\n", i, sh.Last(), durable)
	}
	return b
}
