package server

import "fmt"

// LogState is what the node tells of its log on disk.
type LogState struct {
	// On: a log is kept.
	On bool
	// Begins: the log is not yet of use, as the snapshot that it goes on from is to
	// come.
	Begins bool
	// Due: it has grown so that a snapshot is to make it shorter.
	Due bool
	// Failing: at the moment nothing can be written.
	Failing bool
	// Bytes is the size of its files, Waiting of what is not yet written to them, and
	// BaseBytes that of the snapshot that it goes on from.
	Bytes, Waiting, BaseBytes int64
	// LoopNanos is the time that event loops have spent on it, in nanoseconds.
	LoopNanos int64
}

func (srv *Server) aboutLog() map[string]source {
	field := func(of func(l LogState) int64) source {
		return numberSource(func() int64 { return of(srv.logState()) })
	}
	flag := func(of func(l LogState) bool) source {
		return field(func(l LogState) int64 { return one(of(l)) })
	}
	s := &srv.saving
	locked := func(of func() int64) source {
		return numberSource(func() int64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return of()
		})
	}
	status := func(fails func() bool) source {
		return textSource(func() string {
			if fails() {
				return "err"
			}
			return "ok"
		})
	}
	return map[string]source{
		"aof_enabled":       flag(func(l LogState) bool { return l.On }),
		"aof_current_size":  field(func(l LogState) int64 { return l.Bytes }),
		"aof_base_size":     field(func(l LogState) int64 { return l.BaseBytes }),
		"aof_buffer_length": field(func(l LogState) int64 { return l.Waiting }),
		"mem_aof_buffer":    field(func(l LogState) int64 { return l.Waiting }),

		"eventloop_duration_aof_sum": field(func(l LogState) int64 { return l.LoopNanos / 1000 }),
		"aof_last_write_status":      status(func() bool { return srv.logState().Failing }),

		"aof_rewrite_in_progress": numberSource(func() int64 { return one(srv.logState().Begins || srv.rewriting() != nil) }),
		"aof_rewrite_scheduled":   locked(func() int64 { return one(s.rewrites) }),
		"aof_current_rewrite_time_sec": numberSource(func() int64 {
			if n := srv.rewriting(); n != nil {
				return (srv.now().Mono - n.began.Mono) / 1e9
			}
			return -1
		}),
		"aof_last_rewrite_time_sec":         locked(func() int64 { return s.rewrite.seconds }),
		"aof_rewrites":                      locked(func() int64 { return s.rewrite.successes }),
		"aof_rewrites_consecutive_failures": locked(func() int64 { return s.rewrite.failures }),
		"aof_last_bgrewrite_status": status(func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.rewrite.failures > 0
		}),
		"Log": srv.appendLogPositions,
	}
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// rewriting is the snapshot in progress that is to make the log shorter; nil: there
// is none.
func (srv *Server) rewriting() *save {
	s := &srv.saving
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || !s.current.rewrites {
		return nil
	}
	return s.current
}

// logState is Process.LogState; zero where there is none.
func (srv *Server) logState() LogState {
	if srv.process.LogState == nil {
		return LogState{}
	}
	return srv.process.LogState()
}

// appendLogPositions writes how far the log of each shard is.
func (srv *Server) appendLogPositions(b []byte, _ *occasion) []byte {
	if !srv.logState().On {
		return b
	}
	for i, sh := range srv.space.Shards() {
		durable := sh.Durable() // first: the other one moves on meanwhile
		b = fmt.Appendf(b, "shard%d:wal_last_sequence=%d,wal_durable_sequence=%d\r\n", i, sh.Last(), durable)
	}
	return b
}
