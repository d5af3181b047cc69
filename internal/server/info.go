package server

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/metrics"
	"github.com/bowline-kv/bowline/internal/netdrive"
	"github.com/bowline-kv/bowline/internal/shard"
)

// occasion is one call of INFO.
type occasion struct {
	*shard.Overview
	used *usage // nil: not asked for yet
}

// usage tells how the memory is divided. It is found out once a call, as it takes
// a while.
func (o *occasion) usage(srv *Server) *usage {
	if o.used == nil {
		u := srv.usage(o.Overview)
		o.used = &u
	}
	return o.used
}

// source writes one field. It is given the key space as it was counted for this
// one call of INFO.
type source = metrics.Source[*occasion]

func textSource(f func() string) source {
	return func(b []byte, _ *occasion) []byte { return append(b, f()...) }
}

func numberSource[T int | int64 | uint64](f func() T) source {
	return func(b []byte, _ *occasion) []byte { return strconv.AppendInt(b, int64(f()), 10) }
}

// countSource tells something of the key space.
func countSource(f func(o *occasion) int64) source {
	return func(b []byte, o *occasion) []byte { return strconv.AppendInt(b, f(o), 10) }
}

func fixed(s string) source { return textSource(func() string { return s }) }

// infoSources binds every row of the table of INFO.
func (srv *Server) infoSources() map[string]source {
	all := map[string]source{}
	for _, part := range []map[string]source{srv.unchanging(), srv.aboutServer(), srv.aboutHistory(), srv.aboutClients(), srv.aboutMemory(), srv.aboutTraffic(), srv.aboutData(), srv.aboutSaving(), srv.aboutCollector(), srv.aboutTLS(), srv.aboutLog()} {
		maps.Copy(all, part)
	}
	return all
}

func (srv *Server) aboutServer() map[string]source {
	p := &srv.process
	uptime := func() int64 { return (srv.now().Mono - srv.started.Mono) / 1e9 }
	hz := numberSource(func() int64 { return srv.cfg.Int(config.HZ) })
	return map[string]source{
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
		"executable":        fixed(p.Executable),
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

func (srv *Server) aboutCollector() map[string]source {
	p := &srv.process
	return map[string]source{
		"go_gc_pause_p999_usec": numberSource(func() int64 { return p.Collector().PauseP999.Microseconds() }),
		"go_gc_cpu_percent": textSource(func() string {
			return strconv.FormatFloat(p.Collector().CPUPercent, 'f', 2, 64)
		}),
		"go_gc_cycles":  numberSource(func() uint64 { return p.Collector().Cycles }),
		"go_heap_bytes": numberSource(func() uint64 { return p.Collector().HeapBytes }),
	}
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

func (srv *Server) aboutTraffic() map[string]source {
	driver := func(pick func(netdrive.Stats) uint64) source {
		return numberSource(func() uint64 {
			stats, _ := srv.driverStats()
			return pick(stats)
		})
	}
	kibSource := func(of func(s *rateSample) uint64) source {
		return textSource(func() string { return strconv.FormatFloat(srv.rates.perSecond(of)/1024, 'f', 2, 64) })
	}
	denied := func(why acl.Denial) source { return numberSource(srv.accounts.denied[why].Load) }
	return map[string]source{
		"total_connections_received": numberSource(func() uint64 {
			_, connections := srv.driverStats()
			return connections
		}),
		"total_commands_processed":                  numberSource(srv.commandsExecuted),
		"instantaneous_ops_per_sec":                 numberSource(func() int64 { return int64(srv.rates.perSecond(func(s *rateSample) uint64 { return s.commands })) }),
		"instantaneous_input_kbps":                  kibSource(func(s *rateSample) uint64 { return s.in }),
		"instantaneous_output_kbps":                 kibSource(func(s *rateSample) uint64 { return s.out }),
		"acl_access_denied_auth":                    denied(acl.DeniedAuth),
		"acl_access_denied_cmd":                     denied(acl.DeniedCommand),
		"acl_access_denied_key":                     denied(acl.DeniedKey),
		"acl_access_denied_channel":                 denied(acl.DeniedChannel),
		"total_net_input_bytes":                     driver(func(s netdrive.Stats) uint64 { return s.In }),
		"total_net_output_bytes":                    driver(func(s netdrive.Stats) uint64 { return s.Out }),
		"rejected_connections":                      driver(func(s netdrive.Stats) uint64 { return s.Rejected }),
		"total_reads_processed":                     driver(func(s netdrive.Stats) uint64 { return s.Reads }),
		"total_writes_processed":                    driver(func(s netdrive.Stats) uint64 { return s.Writes }),
		"client_query_buffer_limit_disconnections":  driver(func(s netdrive.Stats) uint64 { return s.QueryLimit }),
		"client_output_buffer_limit_disconnections": driver(func(s netdrive.Stats) uint64 { return s.OutputLimit }),
		"eventloop_cycles":                          driver(func(s netdrive.Stats) uint64 { return s.Cycles }),
		"eventloop_duration_sum":                    driver(func(s netdrive.Stats) uint64 { return s.CycleNanos / 1000 }),
		"eventloop_duration_cmd_sum":                driver(func(s netdrive.Stats) uint64 { return s.CommandNanos / 1000 }),
		"eventloop_duration_max":                    driver(func(s netdrive.Stats) uint64 { return s.CycleNanosMax / 1000 }),
		"eventloop_cmd_per_cycle_max":               driver(func(s netdrive.Stats) uint64 { return s.CycleCommandsMax }),
		"eventloop_duration_cron_sum":               numberSource(func() int64 { return srv.rates.roundNanos.Load() / 1000 }),
		"instantaneous_eventloop_cycles_per_sec":    numberSource(func() int64 { return int64(srv.rates.perSecond(func(s *rateSample) uint64 { return s.cycles })) }),
		"instantaneous_eventloop_duration_usec":     numberSource(srv.rates.cycleMicros),
		"total_error_replies":                       numberSource(srv.errors.total.Load),
		"Commandstats":                              srv.appendCommandStats,
		"Latencystats":                              srv.appendLatencyStats,
		"Errorstats":                                srv.appendErrorStats,
	}
}

func (srv *Server) appendCommandStats(b []byte, _ *occasion) []byte {
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

func (srv *Server) appendErrorStats(b []byte, _ *occasion) []byte {
	srv.errors.mu.Lock()
	defer srv.errors.mu.Unlock()
	for _, code := range slices.Sorted(maps.Keys(srv.errors.codes)) {
		b = fmt.Appendf(b, "errorstat_%s:count=%d\r\n", code, srv.errors.codes[code])
	}
	return b
}

func (srv *Server) aboutData() map[string]source {
	return map[string]source{
		"lazyfree_pending_objects":      numberSource(srv.space.Dropped),
		"expire_cycle_cpu_milliseconds": numberSource(func() int64 { return srv.rates.expireNanos.Load() / 1e6 }),
		"expired_subkeys":               countSource(func(o *occasion) int64 { return int64(o.Stats.Fields) }),
		"expired_keys":                  countSource(func(o *occasion) int64 { return int64(o.Stats.Expired) }),
		"evicted_keys":                  countSource(func(o *occasion) int64 { return int64(o.Stats.Evicted) }),
		"keyspace_hits":                 countSource(func(o *occasion) int64 { return int64(o.Stats.Hits) }),
		"keyspace_misses":               countSource(func(o *occasion) int64 { return int64(o.Stats.Misses) }),
		"master_repl_offset":            numberSource(srv.position),
		"Keyspace": func(b []byte, o *occasion) []byte {
			for db, u := range o.Databases {
				if u.Keys > 0 {
					b = fmt.Appendf(b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", db, u.Keys, u.Expiring)
				}
			}
			return b
		},
	}
}
