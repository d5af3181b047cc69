package reply

// Errors of CLIENT and MONITOR.
const (
	NoSuchClient     = "ERR No such client"
	ClientIDPositive = "ERR client-id should be greater than 0"
	MaxAgeNotInteger = "ERR maxage is not an integer or out of range"
	MaxAgePositive   = "ERR maxage should be greater than 0"
	UnblockReason    = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
	PauseMode        = "ERR CLIENT PAUSE mode must be WRITE or ALL"
	TimeoutNumber    = "ERR timeout is not an integer or out of range"
	TimeoutRange     = "ERR timeout is out of range"
	TimeoutNegative  = "ERR timeout is negative"
	TimeoutNotFloat  = "ERR timeout is not a float or out of range"
	Unblocked        = "UNBLOCKED client unblocked via CLIENT UNBLOCK"

	CachingWithoutTracking = "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
	CachingYes             = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
	CachingNo              = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."

	TrackingRedirectTwice  = "ERR A client can only redirect to a single other client"
	TrackingRedirectGone   = "ERR The client ID you want redirect to does not exist"
	TrackingPrefixMode     = "ERR PREFIX option requires BCAST mode to be enabled"
	TrackingSwitchMode     = "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."
	TrackingBroadcastOptIn = "ERR OPTIN and OPTOUT are not compatible with BCAST"
	TrackingBothOpts       = "ERR You can't specify both OPTIN mode and OPTOUT mode"
	TrackingSwitchOpt      = "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."
	TrackingPrefixCount    = "ERR Too many prefixes"

	MonitorInMulti        = "ERR MONITOR isn't allowed for DENY BLOCKING client"
	ReplicaTouchesNothing = "ERR Replica can't interact with the keyspace"
)

// LogType is the reply to a name of no log.
const LogType = "ERR type should be one of the following: slow, large-request, large-reply"

// LogCount is the reply to a bad count of SLOWLOG GET or COMMANDLOG GET.
const LogCount = "ERR count should be greater than or equal to -1"

// NoLatencySamples is the reply to an event that LATENCY GRAPH knows nothing of.
func NoLatencySamples(event []byte) string {
	return "ERR No samples available for event '" + clip(event) + "'"
}

// Errors of commands about the node.
const (
	NotPositive    = "ERR value is out of range, must be positive"
	DatabaseRange  = "ERR Out of range database"
	NoShutdown     = "ERR No shutdown in progress."
	ShutdownFailed = "ERR Errors trying to SHUTDOWN. Check logs."
	SaveInProgress = "ERR Background save already in progress"
	SaveFailed     = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error."
	Loading        = "LOADING Redis is loading the dataset in memory"
	// Failed is what Redis answers when only the log says more.
	Failed             = "ERR"
	NoConfigFile       = "ERR The server is running without a config file"
	ConfigRewrite      = "ERR Rewriting config file: "
	PushNeedsRESP3     = "ERR RESP2 is not supported by this command"
	DebugProtocolType  = "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"
	DebugReloadOptions = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	DebugReloadFailed  = "ERR Error trying to load the RDB dump, check server logs."
	DebugLoadFailed    = "ERR Error trying to load the AOF files, check server logs."
	DebugNoLog         = "ERR DEBUG LOADAOF needs a log: appendonly yes"
	RewriteInProgress  = "ERR Background append only file rewriting already in progress"
	DebugNotAllowed    = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
)

// DebugUnsupported is the reply to a subcommand of DEBUG that can't do here what
// it does in Redis.
func DebugUnsupported(name, reason string) string {
	return "ERR DEBUG " + name + " is not supported: " + reason
}

// NoSuchUser is the reply to the name of a user that does not exist.
func NoSuchUser(name []byte) string { return "ERR No such user '" + clip(name) + "'" }

// PrefixOverlaps is the reply to a prefix of CLIENT TRACKING that begins with
// another or is its beginning: one that the client had before, or one that it
// gives now.
func PrefixOverlaps(prefix, other string, before bool) string {
	which := "another provided"
	if before {
		which = "an existing"
	}
	return "ERR Prefix '" + prefix + "' overlaps with " + which + " prefix '" + other + "'. Prefixes for a single client must not overlap."
}
