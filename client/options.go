package client

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// Options say where the servers are and how the client behaves. Only Addrs is
// required; every other field has a useful zero value.
type Options struct {
	// Addrs are "host:port" of some nodes of the cluster, of a single server, or of
	// Sentinels when SentinelName is set. Any one that answers is enough.
	Addrs []string
	// Username and Password log in; without a name Password is that of the default
	// user. Both empty: no login.
	Username, Password string
	// Name is what CLIENT LIST shows; "": none.
	Name string
	// DB is selected on every connection; a cluster has 0 only.
	DB int
	// RESP2 keeps to the older protocol also with servers that speak RESP3.
	RESP2 bool
	// TLS makes every connection a TLS one. Without a ServerName the announced host
	// name counts, else the host of the address.
	TLS *tls.Config

	// Dialer opens a connection; nil: a net.Dialer. The client adds TLS itself.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// MapAddr turns an address that a server announces into one that can be reached
	// from here (address translation, virtual addresses); nil: as it is.
	MapAddr func(addr string) string
	// SentinelName is the name of a primary that the Sentinels or coordinators at Addrs
	// watch; the client follows it. "": Addrs are data nodes.
	SentinelName string
	// RequireCluster makes Open fail when the server is a standalone one.
	RequireCluster bool

	// Route says which nodes get commands that only read.
	Route Route
	// Zone is the availability zone of this program, for [RouteZone].
	Zone string
	// CrossSlot says what becomes of a command in a pipeline whose keys span slots.
	CrossSlot CrossSlot
	// Durability asks every node to acknowledge writes only when replicas have them,
	// see [Durability].
	Durability Durability

	// ConnsPerNode is how many connections all goroutines share to each node; <= 0: 1.
	// One costs least. More help when replies are so large that one core can't read
	// them fast enough, or that a small one behind waits too long.
	ConnsPerNode int
	// DedicatedMax is how many connections to a node may be in use by blocking
	// commands and by [Conn] at a time; more wait. <= 0: 256.
	DedicatedMax int

	// DialTimeout bounds opening a connection and logging in; <= 0: 2 s.
	DialTimeout time.Duration
	// Timeout is for how long a shared connection may owe replies without a byte
	// coming in; then it is closed, and what waits on it may have been executed.
	// 0: 3 s; negative: never. A context's deadline is independent of it.
	Timeout time.Duration
	// RetryTimeout bounds how long a command waits for a cluster that is down, loading
	// or without the node it needs, when its context has no deadline; <= 0: 10 s.
	RetryTimeout time.Duration
	// DialAttempts is how often a command tries to connect to a standalone server;
	// <= 0: 3. In a cluster the attempts end with RetryTimeout.
	DialAttempts int
	// DialBackoff is the wait before the second attempt, doubled each time; <= 0: 10 ms.
	DialBackoff time.Duration
	// NoReconnect leaves a connection that dropped closed: commands for its node fail.
	NoReconnect bool
	// RetryReads sends commands that only read once more when the connection dropped
	// before their reply came.
	RetryReads bool

	// ReloadOnMoved reloads the whole map in the background after any MOVED. Without
	// it a MOVED corrects the one slot, see the package comment.
	ReloadOnMoved bool
	// ReloadMin is the shortest time between two reloads of the map, to which up to a
	// half is added at random; <= 0: 50 ms.
	ReloadMin time.Duration
	// ReloadEvery reloads the map from time to time; <= 0: only when there is a reason.
	ReloadEvery time.Duration

	// OnEvent is told of what goes on beside commands: redirections, reloads, dials,
	// drops. It is called from many goroutines and must not block, nor close the
	// client. nil: nobody.
	OnEvent func(Event)
	// OnPush gets the RESP3 messages of shared connections that are no reply, such as
	// invalidations, with the address of the node. It must not block, nor close the client. nil:
	// nobody.
	OnPush func(addr string, push resp.Value)
}

// Durability is how safe a write must be before it is acknowledged, on servers with
// CLIENT DURABILITY. The zero value asks for nothing.
type Durability struct {
	// Replicas must have the write on disk; 0: nothing is asked for.
	Replicas int
	// Timeout is for how long a reply is held at most; 0: the server's default.
	Timeout time.Duration
}

// CrossSlot is what a pipeline does with a command whose keys lie in several slots and
// which is none of those that are split.
type CrossSlot uint8

// The policies for commands whose keys span slots, in a pipeline.
const (
	CrossSlotError CrossSlot = iota // ErrCrossSlot at its index; the rest runs
	CrossSlotFail                   // nothing is sent, every command has ErrCrossSlot
	CrossSlotSend                   // the node of the first key gets it and answers
)

// Route says which node gets a command that only reads. All others go to the primary.
type Route uint8

// The routes.
const (
	RoutePrimary       Route = iota // the primary
	RouteReplica                    // a replica, in turn; it is an error when none can be reached
	RoutePreferReplica              // a replica, else the primary
	RouteNearest                    // the primary or a replica, whichever answers a PING fastest
	RouteZone                       // a node of Options.Zone, a replica first; else as RoutePreferReplica
)

// withDefaults fills in what zero values stand for.
func (o Options) withDefaults() Options {
	positive := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	positive(&o.DialTimeout, 2*time.Second)
	positive(&o.RetryTimeout, 10*time.Second)
	positive(&o.DialBackoff, 10*time.Millisecond)
	positive(&o.ReloadMin, 50*time.Millisecond)
	switch {
	case o.Timeout == 0:
		o.Timeout = 3 * time.Second
	case o.Timeout < 0:
		o.Timeout = 0
	}
	if o.ConnsPerNode <= 0 {
		o.ConnsPerNode = 1
	}
	if o.DedicatedMax <= 0 {
		o.DedicatedMax = 256
	}
	if o.DialAttempts <= 0 {
		o.DialAttempts = 3
	}
	if o.Dialer == nil {
		o.Dialer = (&net.Dialer{}).DialContext
	}
	return o
}
