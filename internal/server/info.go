package server

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/metrics"
	"github.com/bowline-kv/bowline/internal/netdrive"
)

func textSource(f func() string) metrics.Source {
	return func(b []byte) []byte { return append(b, f()...) }
}

func numberSource[T int | int64 | uint64](f func() T) metrics.Source {
	return func(b []byte) []byte { return strconv.AppendInt(b, int64(f()), 10) }
}

func fixed(s string) metrics.Source { return textSource(func() string { return s }) }

// infoSources binds every row of the table of INFO.
func (srv *Server) infoSources() map[string]metrics.Source {
	all := map[string]metrics.Source{}
	for _, part := range []map[string]metrics.Source{srv.aboutServer(), srv.aboutMemory(), srv.aboutTraffic(), srv.aboutData(), srv.aboutCollector()} {
		maps.Copy(all, part)
	}
	return all
}

func (srv *Server) aboutServer() map[string]metrics.Source {
	p := &srv.process
	uptime := func() int64 { return (srv.now().Mono - srv.started.Mono) / 1e9 }
	hz := numberSource(func() int64 { return srv.cfg.Int(config.HZ) })
	return map[string]metrics.Source{
		"redis_version":     fixed(RedisVersion),
		"bowline_version":   fixed(p.Version),
		"redis_mode":        textSource(func() string { return srv.Identity().Mode }),
		"os":                fixed(runtime.GOOS + " " + runtime.GOARCH),
		"arch_bits":         fixed(strconv.Itoa(strconv.IntSize)),
		"go_version":        fixed(runtime.Version()),
		"multiplexing_api":  textSource(func() string { return p.Network() }),
		"process_id":        fixed(strconv.Itoa(p.PID)),
		"run_id":            fixed(p.RunID),
		"tcp_port":          fixed(strconv.Itoa(p.Port)),
		"server_time_usec":  numberSource(func() int64 { return srv.now().Wall }),
		"uptime_in_seconds": numberSource(uptime),
		"uptime_in_days":    numberSource(func() int64 { return uptime() / 86400 }),
		"hz":                hz,
		"configured_hz":     hz,
		"config_file":       fixed(p.ConfigFile),
		"used_cpu_sys": textSource(func() string {
			system, _ := p.CPUSeconds()
			return strconv.FormatFloat(system, 'f', 6, 64)
		}),
		"used_cpu_user": textSource(func() string {
			_, user := p.CPUSeconds()
			return strconv.FormatFloat(user, 'f', 6, 64)
		}),
		"cluster_enabled": textSource(func() string {
			if srv.cluster.Load() != nil {
				return "1"
			}
			return "0"
		}),
		"role": textSource(func() string {
			if v := srv.cluster.Load(); v != nil && v.replica {
				return "slave"
			}
			return "master"
		}),
		"connected_slaves": fixed("0"),
	}
}

func (srv *Server) aboutMemory() map[string]metrics.Source {
	used := func() uint64 { return uint64(srv.dataBytes()) + srv.process.MemoryBytes() }
	limit := func() int64 { return srv.cfg.Int(config.MaxMemory) }
	return map[string]metrics.Source{
		"used_memory":         numberSource(used),
		"used_memory_human":   textSource(func() string { return human(used()) }),
		"used_memory_dataset": numberSource(srv.dataBytes),
		"maxmemory":           numberSource(limit),
		"maxmemory_human":     textSource(func() string { return human(uint64(limit())) }),
		"maxmemory_policy":    textSource(func() string { return srv.cfg.String(config.MaxMemoryPolicy) }),
		"mem_allocator":       fixed("go"),
	}
}

func (srv *Server) aboutCollector() map[string]metrics.Source {
	p := &srv.process
	return map[string]metrics.Source{
		"go_gc_pause_p999_usec": numberSource(func() int64 { return p.Collector().PauseP999.Microseconds() }),
		"go_gc_cpu_percent": textSource(func() string {
			return strconv.FormatFloat(p.Collector().CPUPercent, 'f', 2, 64)
		}),
		"go_gc_cycles":  numberSource(func() uint64 { return p.Collector().Cycles }),
		"go_heap_bytes": numberSource(func() uint64 { return p.Collector().HeapBytes }),
	}
}

func (srv *Server) dataBytes() int64 {
	n := int64(0)
	for db := range srv.space.Databases() {
		n += srv.space.Usage(db).Bytes
	}
	return n
}

// human writes a number of bytes as Redis does ("1.50M").
func human(n uint64) string {
	const units = "BKMGTPE"
	if n < 1024 {
		return strconv.FormatUint(n, 10) + "B"
	}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f /= 1024
		u++
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + units[u:u+1]
}

func (srv *Server) aboutTraffic() map[string]metrics.Source {
	driver := func(pick func(netdrive.Stats) uint64) metrics.Source {
		return numberSource(func() uint64 {
			stats, _ := srv.driverStats()
			return pick(stats)
		})
	}
	return map[string]metrics.Source{
		"connected_clients": numberSource(srv.registry.Len),
		"maxclients":        numberSource(func() int64 { return srv.cfg.Int(config.MaxClients) }),
		"total_connections_received": numberSource(func() uint64 {
			_, connections := srv.driverStats()
			return connections
		}),
		"total_commands_processed": numberSource(func() uint64 {
			n := uint64(0)
			for _, c := range srv.sumCommands() {
				n += c.calls
			}
			return n
		}),
		"total_net_input_bytes":                     driver(func(s netdrive.Stats) uint64 { return s.In }),
		"total_net_output_bytes":                    driver(func(s netdrive.Stats) uint64 { return s.Out }),
		"rejected_connections":                      driver(func(s netdrive.Stats) uint64 { return s.Rejected }),
		"total_reads_processed":                     driver(func(s netdrive.Stats) uint64 { return s.Reads }),
		"total_writes_processed":                    driver(func(s netdrive.Stats) uint64 { return s.Writes }),
		"client_query_buffer_limit_disconnections":  driver(func(s netdrive.Stats) uint64 { return s.QueryLimit }),
		"client_output_buffer_limit_disconnections": driver(func(s netdrive.Stats) uint64 { return s.OutputLimit }),
		"total_error_replies":                       numberSource(srv.errors.total.Load),
		"Commandstats":                              srv.appendCommandStats,
		"Errorstats":                                srv.appendErrorStats,
	}
}

func (srv *Server) appendCommandStats(b []byte) []byte {
	for _, c := range srv.sumCommands() {
		micros := c.nanos / 1000
		perCall := 0.0
		if c.calls > 0 {
			perCall = float64(c.nanos) / 1000 / float64(c.calls)
		}
		b = fmt.Appendf(b, "cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d\r\n",
			c.spec.Name, c.calls, micros, perCall, c.rejected, c.failed)
	}
	return b
}

func (srv *Server) appendErrorStats(b []byte) []byte {
	srv.errors.mu.Lock()
	defer srv.errors.mu.Unlock()
	for _, code := range slices.Sorted(maps.Keys(srv.errors.codes)) {
		b = fmt.Appendf(b, "errorstat_%s:count=%d\r\n", code, srv.errors.codes[code])
	}
	return b
}

func (srv *Server) aboutData() map[string]metrics.Source {
	return map[string]metrics.Source{
		"loading":                     fixed("0"),
		"rdb_changes_since_last_save": numberSource(func() uint64 { return srv.space.Stats().Changes }),
		"expired_keys":                numberSource(func() uint64 { return srv.space.Stats().Expired }),
		"keyspace_hits":               numberSource(func() uint64 { return srv.space.Stats().Hits }),
		"keyspace_misses":             numberSource(func() uint64 { return srv.space.Stats().Misses }),
		"master_repl_offset": numberSource(func() uint64 {
			n := uint64(0)
			for _, sh := range srv.space.Shards() {
				n += uint64(sh.Last())
			}
			return n
		}),
		"Keyspace": func(b []byte) []byte {
			for db := range srv.space.Databases() {
				if u := srv.space.Usage(db); u.Keys > 0 {
					b = fmt.Appendf(b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", db, u.Keys, u.Expiring)
				}
			}
			return b
		},
	}
}
