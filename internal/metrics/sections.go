package metrics

// Sections is the table. Names and their order are those that tools for Redis
// look for.
var Sections = []Section{
	{Name: "Server", Fields: []Field{
		{"redis_version", "version of Redis whose behaviour is offered"},
		{"bowline_version", "version of this program"},
		{"redis_mode", "standalone or cluster"},
		{"os", "operating system and architecture"},
		{"arch_bits", "width of a pointer in bits"},
		{"go_version", "toolchain that built this program"},
		{"multiplexing_api", "how sockets are driven"},
		{"process_id", "process id"},
		{"run_id", "random id of this start, 40 hexadecimal digits"},
		{"tcp_port", "port for clients"},
		{"server_time_usec", "unix time in microseconds"},
		{"uptime_in_seconds", "seconds since the start"},
		{"uptime_in_days", "days since the start"},
		{"hz", "rounds of background work in a second"},
		{"configured_hz", "the setting hz"},
		{"config_file", "path of the configuration file"},
	}},
	{Name: "Clients", Fields: []Field{
		{"connected_clients", "open client connections"},
		{"maxclients", "the setting maxclients"},
	}},
	{Name: "Memory", Fields: []Field{
		{"used_memory", "bytes of keys, values and the process around them"},
		{"used_memory_human", "used_memory for people"},
		{"used_memory_dataset", "bytes of keys and values"},
		{"maxmemory", "the setting maxmemory in bytes"},
		{"maxmemory_human", "maxmemory for people"},
		{"maxmemory_policy", "the setting maxmemory-policy"},
		{"mem_allocator", "memory allocator"},
	}},
	{Name: "Persistence", Fields: []Field{
		{"loading", "1 while data is being loaded"},
		{"rdb_changes_since_last_save", "changes since the start or the last snapshot"},
	}},
	{Name: "Stats", Fields: []Field{
		{"total_connections_received", "connections accepted"},
		{"total_commands_processed", "commands executed"},
		{"total_net_input_bytes", "bytes read from clients"},
		{"total_net_output_bytes", "bytes written to clients"},
		{"rejected_connections", "connections refused"},
		{"expired_keys", "keys deleted because their time was over"},
		{"evicted_keys", "keys deleted because memory was short"},
		{"keyspace_hits", "reads that found their key"},
		{"keyspace_misses", "reads that did not find their key"},
		{"total_error_replies", "replies that were errors"},
		{"total_reads_processed", "reads from sockets"},
		{"total_writes_processed", "writes to sockets"},
		{"client_query_buffer_limit_disconnections", "connections closed for an oversized request"},
		{"client_output_buffer_limit_disconnections", "connections closed for not reading replies"},
	}},
	{Name: "Replication", Fields: []Field{
		{"role", "master or slave"},
		{"connected_slaves", "connected replicas"},
		{"master_repl_offset", "number of the newest record of the log"},
	}},
	{Name: "CPU", Fields: []Field{
		{"used_cpu_sys", "seconds of system CPU of this process"},
		{"used_cpu_user", "seconds of user CPU of this process"},
	}},
	{Name: "Modules"},
	{Name: "Go", Extra: true, Fields: []Field{
		{"go_gc_pause_p999_usec", "99.9th percentile of the collector's pauses since the start, in microseconds"},
		{"go_gc_cpu_percent", "share of this process's CPU that the collector used since the start"},
		{"go_gc_cycles", "collections since the start"},
		{"go_heap_bytes", "bytes of objects on the Go heap, dead ones not yet swept included"},
	}},
	{Name: "Commandstats", Extra: true, Fields: []Field{{"", "calls and time per command"}}},
	{Name: "Errorstats", Fields: []Field{{"", "replies per error code"}}},
	{Name: "Cluster", Fields: []Field{
		{"cluster_enabled", "1 in cluster mode"},
	}},
	{Name: "Keyspace", Fields: []Field{{"", "keys per database"}}},
}
