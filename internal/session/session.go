package session

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/resp"
)

// Instant is a moment as the driver's clock tells it.
type Instant struct {
	// Wall is unix time in microseconds.
	Wall int64
	// Mono is a count of nanoseconds that never goes back.
	Mono int64
}

// Millis is the wall time in unix milliseconds.
func (t Instant) Millis() int64 { return t.Wall / 1000 }

// Session is the state of one connection. Its driver owns it: only one
// goroutine at a time calls its methods, but for those that say otherwise.
type Session struct {
	// ID is the number of the connection, unique in the process. Never 0.
	ID uint64
	// W takes the replies. The driver writes W.B out and empties it.
	W resp.Writer
	// DB is the selected database.
	DB int
	// Closing asks the driver to write what is in W and then close.
	Closing bool
	// ReadOnly: the client accepts reads from a replica (READONLY).
	ReadOnly bool
	// Asking: the next command may use a slot that is arriving here (ASKING).
	Asking bool
	// Authenticated: commands other than AUTH, HELLO, QUIT and RESET are accepted.
	Authenticated bool
	// Transaction is what was queued since MULTI; nil: not in a transaction.
	Transaction *Transaction
	// Watch is what EXEC depends on.
	Watch Watch
	// Mode are the session's switches; 0: none is on. [Session.SetMode] changes them.
	Mode Mode

	account  *Account // who the client is; never nil
	reader   resp.CommandReader
	registry *Registry
	holds    []hold // in the order of the replies; nil: none
	// suspended: the next command waits, at most until resumeAt (Instant.Mono).
	suspended bool
	resumeAt  int64
	blocked   *blocked // waits for an answer; nil: does not
	kill      func()
	wake      func()
	wakeHeld  func() // nil: the driver looks by itself
	tls       bool
	remote    string
	local     string
	created   Instant

	lastMono atomic.Int64 // of the newest batch
	lastSpec atomic.Pointer[command.Spec]
	usage    usage

	killed        atomic.Bool
	tracking      atomic.Pointer[Tracking]
	subscriptions atomic.Int64
	proto         atomic.Int32 // W.Proto, for other goroutines

	inMu      sync.Mutex
	inbox     []byte  // guarded by inMu: delivered, not yet taken
	notified  bool    // guarded by inMu: the driver knows of it
	answer    *answer // guarded by inMu: see [Session.Answer]
	discarded bool    // guarded by inMu: no answer is taken any more

	mu   sync.Mutex // guards the fields below, which CLIENT LIST reads from elsewhere
	seen view
}

// view is what other connections may see of a session.
type view struct {
	name   string
	libVer string
	lib    string
	user   *Account
	db     int
	proto  int
	asks   bool // READONLY
	mode   Mode
	waits  bool // suspended

	channels, patterns, shards int // subscriptions
	queued                     int // commands since MULTI; -1: none
	watched                    int // keys
}

// Remote is the client's address as CLIENT LIST prints it.
func (s *Session) Remote() string { return s.remote }

// SetCommand tells others what the session ran last. Executors call it before a
// handler of this package and at the end of a batch.
func (s *Session) SetCommand(spec *command.Spec) { s.lastSpec.Store(spec) }

// LastMono is when the client was last heard of, by [Instant].Mono.
func (s *Session) LastMono() int64 { return s.lastMono.Load() }

// Kill closes the connection without waiting for anything: nothing of it runs any
// more, and it is no longer listed. Any goroutine may call it.
func (s *Session) Kill() {
	s.killed.Store(true)
	s.registry.unlist(s)
	s.kill()
}

// Missing is a lower bound of the bytes that the command being read still
// lacks, at least 1.
func (s *Session) Missing() int { return s.reader.Missing() }

// update changes what others see of the session.
func (s *Session) update(change func(v *view)) {
	s.mu.Lock()
	change(&s.seen)
	s.mu.Unlock()
}

// SetWatched tells others how many keys the session watches. Executors call it.
func (s *Session) SetWatched(keys int) { s.update(func(v *view) { v.watched = keys }) }

// Local is the server's end of the connection as CLIENT LIST prints it.
func (s *Session) Local() string { return s.local }

// TLS says whether the client is connected by TLS. Any goroutine may call it.
func (s *Session) TLS() bool { return s.tls }

// Name is the connection's name; "": none. Any goroutine may call it.
func (s *Session) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.name
}

// FromHere says whether the client is on this machine: connected over loopback or
// a unix socket.
func (s *Session) FromHere() bool {
	return strings.HasPrefix(s.remote, "127.0.0.1:") || strings.HasPrefix(s.remote, "[::1]:") || strings.HasSuffix(s.remote, ":0")
}

// SetReadOnly is READONLY and READWRITE.
func (s *Session) SetReadOnly(on bool) {
	s.ReadOnly = on
	s.update(func(v *view) { v.asks = on })
}

// setProto changes the protocol version, 2 or 3.
func (s *Session) setProto(version int) {
	s.W.Proto = version
	s.proto.Store(int32(version))
	s.update(func(v *view) { v.proto = version })
}

// ProtoSeen is the protocol version, 2 or 3. Any goroutine may call it.
func (s *Session) ProtoSeen() int { return int(s.proto.Load()) }

func (s *Session) setDB(db int) {
	s.DB = db
	s.update(func(v *view) { v.db = db })
}

func limitsFor(authenticated bool, bulkMax int) resp.Limits {
	if !authenticated {
		return resp.UnauthenticatedLimits
	}
	l := resp.DefaultLimits
	l.MaxBulk = bulkMax
	return l
}
