package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/config"
)

func (srv *Server) aboutMemory() map[string]source {
	bytes := func(pick func(u *usage) int64) source {
		return func(b []byte, o *occasion) []byte {
			u := o.usage(srv)
			return strconv.AppendInt(b, pick(u), 10)
		}
	}
	people := func(pick func(u *usage) int64) source {
		return func(b []byte, o *occasion) []byte {
			u := o.usage(srv)
			return append(b, human(uint64(pick(u)))...)
		}
	}
	decimal := func(unit string, pick func(u *usage) float64) source {
		return func(b []byte, o *occasion) []byte {
			u := o.usage(srv)
			return append(strconv.AppendFloat(b, pick(u), 'f', 2, 64), unit...)
		}
	}
	system := func() int64 {
		if f := srv.process.SystemBytes; f != nil {
			return f()
		}
		return 0
	}
	limit := func() int64 { return srv.cfg.Int(config.MaxMemory) }
	// What maxmemory limits is what used_memory shows.
	data := func(u *usage) int64 { return u.data }
	resident := func(u *usage) int64 { return u.resident }
	peak := func(u *usage) int64 { return u.peak }
	mapped := func(u *usage) int64 { return u.mapped }
	return map[string]source{
		"used_memory":               bytes(data),
		"used_memory_human":         people(data),
		"used_memory_rss":           bytes(resident),
		"used_memory_rss_human":     people(resident),
		"used_memory_peak":          bytes(peak),
		"used_memory_peak_human":    people(peak),
		"used_memory_peak_perc":     decimal("%", func(u *usage) float64 { return 100 * ratio(u.data, u.peak) }),
		"used_memory_overhead":      bytes((*usage).overhead),
		"used_memory_dataset":       bytes(data),
		"used_memory_dataset_perc":  decimal("%", func(u *usage) float64 { return 100 * ratio(u.data, u.data+u.overhead()) }),
		"allocator_allocated":       bytes(func(u *usage) int64 { return u.pages }),
		"allocator_active":          bytes(mapped),
		"allocator_resident":        bytes(mapped),
		"allocator_frag_ratio":      decimal("", func(u *usage) float64 { return ratio(u.mapped, u.pages) }),
		"allocator_frag_bytes":      bytes(func(u *usage) int64 { return u.mapped - u.pages }),
		"rss_overhead_ratio":        decimal("", func(u *usage) float64 { return ratio(u.resident, u.mapped) }),
		"rss_overhead_bytes":        bytes(func(u *usage) int64 { return u.resident - u.mapped }),
		"mem_fragmentation_ratio":   decimal("", func(u *usage) float64 { return ratio(u.resident, u.data) }),
		"mem_fragmentation_bytes":   bytes(func(u *usage) int64 { return u.resident - u.data }),
		"mem_clients_normal":        bytes(func(u *usage) int64 { return u.clients }),
		"total_system_memory":       numberSource(system),
		"total_system_memory_human": textSource(func() string { return human(uint64(system())) }),
		"maxmemory":                 numberSource(limit),
		"maxmemory_human":           textSource(func() string { return human(uint64(limit())) }),
		"maxmemory_policy":          textSource(func() string { return srv.cfg.String(config.MaxMemoryPolicy) }),
		"mem_allocator":             fixed("go"),
	}
}

// aboutHistory describes the log for replicas. Each start of a node begins a
// history of its own, so the id of the start names it.
func (srv *Server) aboutHistory() map[string]source {
	return map[string]source{
		"master_replid":     fixed(srv.process.RunID),
		"repl_backlog_size": numberSource(func() int64 { return srv.cfg.Int(config.ReplBacklogSize) }),
	}
}
