package server

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/engine/bitmaps"
	"github.com/bowline-kv/bowline/internal/engine/hashes"
	"github.com/bowline-kv/bowline/internal/engine/keys"
	"github.com/bowline-kv/bowline/internal/engine/lists"
	"github.com/bowline-kv/bowline/internal/engine/sets"
	"github.com/bowline-kv/bowline/internal/engine/strings"
	"github.com/bowline-kv/bowline/internal/engine/zsets"
	"github.com/bowline-kv/bowline/internal/metrics"
	"github.com/bowline-kv/bowline/internal/netdrive"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
)

// RedisVersion is the version of Redis whose behaviour is offered.
const RedisVersion = "7.4.0"

// Options are what a server works with.
type Options struct {
	// Config holds the settings.
	Config *config.Config
	// Space is the key space.
	Space *shard.Space
	// NodeID is this node's id in cluster maps.
	NodeID topology.NodeID
	// Process describes the process for INFO.
	Process Process
	// Now tells the time.
	Now func() session.Instant
}

// Process is what only the composition root knows.
type Process struct {
	// Version is the program's version.
	Version string
	// RunID is a random id of this start, 40 hexadecimal digits.
	RunID string
	// PID is the process id.
	PID int
	// Port is the TCP port for clients; 0: none.
	Port int
	// ConfigFile is the path of the configuration file; "": none.
	ConfigFile string
	// Network names the driver.
	Network func() string
	// Driver counts connections and bytes.
	Driver func() netdrive.Stats
	// CPUSeconds tells the CPU time of this process.
	CPUSeconds func() (system, user float64)
	// MemoryBytes tells the memory of this process besides keys and values.
	MemoryBytes func() uint64
	// Collector tells what the garbage collector did since the start.
	Collector func() Collector

	// What follows may be nil: then the node can't do it, or does not know.

	// ResidentBytes tells the memory of this process by the operating system, and
	// SystemBytes that of the machine; 0: unknown.
	ResidentBytes, SystemBytes func() int64
	// Executable is the path of the program; "": unknown.
	Executable string
	// FreeMemory gives what is free back to the operating system.
	FreeMemory func()
	// Shutdown asks the node to stop, soon, on behalf of a client at an address.
	Shutdown func(client string)
	// TLS describes the certificate in use; false: there is no TLS.
	TLS func() (Certificate, bool)
	// LogState describes the log on disk; nil: there is never one.
	LogState func() LogState
	// Sleep waits.
	Sleep func(time.Duration)
	// Log writes a line to the log.
	Log func(line string)
	// ReadFile reads a file, and ReplaceFile puts another content in its place, whole
	// or not at all.
	ReadFile    func(path string) ([]byte, error)
	ReplaceFile func(path string, content []byte) error
	// Snapshots writes and reads the snapshot file.
	Snapshots Snapshots
	// Random fills b with random bytes that nobody can guess.
	Random func(b []byte)
}

// Collector is what the garbage collector did since the start.
type Collector struct {
	// PauseP999 is the 99.9th percentile of the pauses, 0 before the first.
	PauseP999 time.Duration
	// CPUPercent is the collector's share of the CPU that the process used. The
	// runtime brings it up to date at the end of a collection.
	CPUPercent float64
	// Cycles counts the collections.
	Cycles uint64
	// HeapBytes is the size of all objects, dead ones not yet swept included.
	HeapBytes uint64
}

// Server is the commands' side of a node. Its methods may be called from any
// goroutine.
type Server struct {
	cfg      *config.Config
	space    *shard.Space
	node     topology.NodeID
	process  Process
	now      func() session.Instant
	started  session.Instant
	registry *session.Registry
	routes   [command.Count]route
	info     *metrics.Info[*occasion]
	cluster  atomic.Pointer[clusterView]
	hooks    *hooks
	broker   *broker
	tracking *tracking
	monitors monitors
	waiting  waiting
	pause    pause
	slow     commandLog
	// Commands with many bytes.
	largeRequests, largeReplies commandLog
	latency                     latencyMonitor
	saving                      saving
	rates                       rates
	peak                        atomic.Int64 // the most bytes that keys and values ever took
	// What DEBUG turns off.
	noActiveExpire, cronPaused atomic.Bool
	accounts                   accounts
	relay                      atomic.Pointer[func(channel, body []byte)]
	errors                     errorCounts
	effectsMax                 int // of a transaction; [shard.EffectsMax]
	baseline                   atomic.Pointer[driverBaseline]

	mu      sync.Mutex // guards workers
	workers []*Worker
}

// route says who answers a command; at most one field is set.
type route struct {
	keys    engine.Handler
	session session.Handler
	server  func(w *Worker, s *session.Session, args [][]byte)
	// short: the time that the command takes hardly depends on what it is given.
	short bool
	// perArgument: it hardly depends on anything but the number of arguments.
	perArgument bool
	// member: see memberArguments; 0: none.
	member uint8
}

// families are the handlers of the commands on keys.
var families = []map[string]engine.Handler{
	bitmaps.Handlers,
	hashes.Handlers,
	keys.Handlers,
	lists.Handlers,
	sets.Handlers,
	strings.Handlers,
	zsets.Handlers,
}

// New makes a server that serves every slot itself, until it gets a map.
func New(o Options) *Server {
	srv := &Server{cfg: o.Config, space: o.Space, node: o.NodeID, process: o.Process, now: o.Now, started: o.Now(), effectsMax: shard.EffectsMax}
	srv.saving.lastWall, srv.saving.seconds, srv.saving.rewrite.seconds = srv.started.Wall/1e6, -1, -1
	srv.hooks = &hooks{srv: srv}
	srv.broker = newBroker()
	srv.tracking = newTracking()
	srv.space.SetHooks(srv.hooks)
	srv.startAccounts()
	srv.registry = session.NewRegistry(srv)
	srv.registry.OnRemove(srv.forget)
	srv.registry.OnEvict(srv.noteEvicted)
	for _, family := range families {
		for name, h := range family {
			srv.route(name).keys = h
		}
	}
	for name, h := range session.Handlers {
		srv.route(name).session = h
	}
	for name, h := range keyHandlers {
		srv.route(name).keys = h
	}
	for name, h := range handlers {
		srv.route(name).server = h
	}
	for spec := range command.All() {
		srv.routes[spec.ID].short = spec.Complexity == "O(1)" || spec.Complexity == "O(log(N))"
	}
	for id, argument := range memberArguments {
		srv.routes[id].member = argument
	}
	for _, id := range worksByArgument {
		srv.routes[id].perArgument = true
	}
	srv.info = metrics.NewInfo(srv.infoSources())
	srv.followMemory()
	srv.followClientMemory()
	return srv
}

// followMemory gives the key space the settings about memory, now and whenever
// they change.
func (srv *Server) followMemory() {
	apply := func() error {
		policy, ok := shard.ParsePolicy(srv.cfg.String(config.MaxMemoryPolicy))
		if !ok {
			return fmt.Errorf("unknown policy %q", srv.cfg.String(config.MaxMemoryPolicy))
		}
		srv.space.SetMemory(shard.Memory{
			Limit: srv.cfg.Int(config.MaxMemory), Policy: policy, Samples: int(srv.cfg.Int(config.MaxMemorySamples)),
			LogFactor: srv.cfg.Int(config.LFULogFactor), DecayMinutes: srv.cfg.Int(config.LFUDecayTime),
		})
		return nil
	}
	if err := apply(); err != nil {
		panic("BUG: " + err.Error()) // the table of settings and that of policies differ
	}
	for _, p := range []*config.Param{config.MaxMemory, config.MaxMemoryPolicy, config.MaxMemorySamples, config.LFULogFactor, config.LFUDecayTime} {
		srv.cfg.OnChange(p, apply)
	}
}

// forget drops what is known of a session besides its own state: it has ended,
// or was reset.
func (srv *Server) forget(s *session.Session) {
	srv.hooks.watches.clear(s)
	srv.broker.forget(s)
	srv.waiting.forget(s)
	if s.Tracking() != nil {
		srv.tracking.set(s, nil)
	}
	if s.Mode&session.ModeMonitor != 0 {
		srv.monitors.remove(s)
	}
}

// SetRelay sets what carries the messages that clients publish here to the other
// nodes of the cluster. It must not wait for them.
func (srv *Server) SetRelay(relay func(channel, body []byte)) { srv.relay.Store(&relay) }

// route finds the place for a handler; that a name is not in the command table
// is a bug.
func (srv *Server) route(name string) *route {
	spec := command.ByName(name)
	if spec == nil {
		panic(fmt.Sprintf("BUG: handler for %q, which is not in the command table", name))
	}
	return &srv.routes[spec.ID]
}

// Registry lists the client connections.
func (srv *Server) Registry() *session.Registry { return srv.registry }

// Identity implements [session.Host].
func (srv *Server) Identity() session.Identity {
	id := session.Identity{Server: "redis", Version: RedisVersion, Mode: "standalone", Role: "master", Databases: srv.space.Databases()}
	if v := srv.cluster.Load(); v != nil {
		id.Mode, id.Databases = "cluster", 1
		if v.replica {
			id.Role = "replica"
		}
	}
	return id
}

// Durable implements [session.Host].
func (srv *Server) Durable(p shard.Position) bool { return srv.space.Durable(p) }

// BulkMax implements [session.Host].
func (srv *Server) BulkMax() int { return int(srv.cfg.Int(config.ProtoMaxBulkLen)) }
