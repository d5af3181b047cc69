package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/shard"
)

// aboutSaving tells of snapshots, and of loading one.
func (srv *Server) aboutSaving() map[string]source {
	s := &srv.saving
	locked := func(f func() int64) source {
		return numberSource(func() int64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return f()
		})
	}
	progress := func(f func(p shard.Progress) int64) source {
		return locked(func() int64 {
			if s.current == nil {
				return 0
			}
			return f(s.current.snapshot.Progress())
		})
	}
	return map[string]source{
		"loading": numberSource(func() int64 { return int64(s.state.Load() & stateLoading) }),
		"rdb_changes_since_last_save": countSource(func(o *occasion) int64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return max(0, int64(o.Stats.Changes-s.changes))
		}),
		"rdb_bgsave_in_progress": locked(func() int64 {
			if s.current != nil {
				return 1
			}
			return 0
		}),
		"rdb_last_bgsave_status": textSource(func() string {
			if s.state.Load()&stateUnsaved != 0 {
				return "err"
			}
			return "ok"
		}),
		"rdb_current_bgsave_time_sec": locked(func() int64 {
			if s.current == nil {
				return -1
			}
			return (srv.now().Mono - s.current.began.Mono) / 1e9
		}),
		"rdb_last_save_time":          locked(func() int64 { return s.lastWall }),
		"rdb_last_bgsave_time_sec":    locked(func() int64 { return s.seconds }),
		"rdb_saves":                   locked(func() int64 { return s.saves }),
		"rdb_last_cow_size":           locked(func() int64 { return s.handed }),
		"rdb_last_load_keys_expired":  locked(func() int64 { return s.expired }),
		"rdb_last_load_keys_loaded":   locked(func() int64 { return s.loaded }),
		"current_cow_size":            progress(func(p shard.Progress) int64 { return p.Waiting }),
		"current_cow_peak":            progress(func(p shard.Progress) int64 { return p.Handed }),
		"current_save_keys_processed": progress(func(p shard.Progress) int64 { return p.Written }),
		"current_save_keys_total":     progress(func(p shard.Progress) int64 { return p.Total }),
		"current_fork_perc": textSource(func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			percent := 0.0
			if s.current != nil {
				if p := s.current.snapshot.Progress(); p.Total > 0 {
					percent = 100 * float64(p.Written) / float64(p.Total)
				}
			}
			return strconv.FormatFloat(percent, 'f', 2, 64)
		}),
	}
}
