package server

// constants are fields of INFO that tools ask for and that have one true value
// here: Bowline does not do what they count, or does not do it yet. Who builds it
// takes the row out and binds a source.
var constants = map[string]string{
	"io_threads_active":                   "0",
	"used_memory_startup":                 "0",
	"used_memory_lua":                     "0",
	"used_memory_vm_eval":                 "0",
	"used_memory_lua_human":               "0B",
	"used_memory_scripts_eval":            "0",
	"number_of_cached_scripts":            "0",
	"number_of_functions":                 "0",
	"number_of_libraries":                 "0",
	"used_memory_vm_functions":            "0",
	"used_memory_vm_total":                "0",
	"used_memory_functions":               "0",
	"used_memory_scripts":                 "0",
	"used_memory_scripts_human":           "0B",
	"allocator_rss_ratio":                 "1.00",
	"allocator_rss_bytes":                 "0",
	"mem_not_counted_for_evict":           "0",
	"mem_clients_slaves":                  "0",
	"mem_cluster_links":                   "0",
	"mem_overhead_db_hashtable_rehashing": "0",
	"active_defrag_running":               "0",
	"lazyfreed_objects":                   "0",
	"async_loading":                       "0",
	"current_cow_size_age":                "0",
	"aof_last_cow_size":                   "0",
	"module_fork_in_progress":             "0",
	"module_fork_last_cow_size":           "0",
	"total_net_repl_input_bytes":          "0",
	"total_net_repl_output_bytes":         "0",
	"instantaneous_input_repl_kbps":       "0.00",
	"instantaneous_output_repl_kbps":      "0.00",
	"sync_full":                           "0",
	"sync_partial_ok":                     "0",
	"sync_partial_err":                    "0",
	"expired_subkeys":                     "0",
	"expired_time_cap_reached_count":      "0",
	"evicted_scripts":                     "0",
	"total_forks":                         "0",
	"latest_fork_usec":                    "0",
	"migrate_cached_sockets":              "0",
	"slave_expires_tracked_keys":          "0",
	"active_defrag_hits":                  "0",
	"active_defrag_misses":                "0",
	"active_defrag_key_hits":              "0",
	"active_defrag_key_misses":            "0",
	"total_active_defrag_time":            "0",
	"current_active_defrag_time":          "0",
	"unexpected_error_replies":            "0",
	"dump_payload_sanitizations":          "0",
	"io_threaded_reads_processed":         "0",
	"io_threaded_writes_processed":        "0",
	"reply_buffer_shrinks":                "0",
	"reply_buffer_expands":                "0",
	"master_failover_state":               "no-failover",
	"master_replid2":                      "0000000000000000000000000000000000000000",
	"second_repl_offset":                  "-1",
	"repl_backlog_active":                 "0",
	"repl_backlog_first_byte_offset":      "0",
	"repl_backlog_histlen":                "0",
	"used_cpu_sys_children":               "0.000000",
	"used_cpu_user_children":              "0.000000",
}

func (srv *Server) unchanging() map[string]source {
	all := map[string]source{}
	for name, value := range constants {
		all[name] = fixed(value)
	}
	return all
}
