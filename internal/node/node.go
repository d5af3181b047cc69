package node

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/netdrive"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/slot"
)

// Options say what a node is made of.
type Options struct {
	// Config holds the settings; needed.
	Config *config.Config
	// Version is the program's version.
	Version string
	// Log takes the node's log lines; needed.
	Log *slog.Logger
	// Listeners are sockets that are open already, and belong to the node from
	// here on; nil: it opens those that the configuration names.
	Listeners []net.Listener
	// TLSListeners are such sockets for TLS.
	TLSListeners []net.Listener
	// Map is the cluster map, and NodeID this node's id in it; nil: the
	// configuration says where the map is, if the node is in a cluster at all.
	Map    *topology.Map
	NodeID topology.NodeID
	// ConfigFile is the path of the configuration file, for INFO.
	ConfigFile string
	// Files is the file system of the snapshot file and the log; nil: that of the operating system.
	Files vfs.FS
	// Interrupt is closed to end Start before the data is loaded; nil: never.
	Interrupt <-chan struct{}
	// Fail ends the process, after the log has failed; nil: it exits with code 1.
	Fail func(error)
}

// Node is a running node.
type Node struct {
	log        *slog.Logger
	cfg        *config.Config
	space      *shard.Space
	server     *server.Server
	driver     netdrive.Driver
	now        func() session.Instant
	listeners  []net.Listener
	secure     *keeper
	peers      *peers // nil: not in a cluster
	durable    *durable
	snapshots  *snapshots
	stop       chan struct{}
	interrupt  <-chan struct{}
	loaded     atomic.Bool // Start is over, which interrupt would have ended
	stopOnce   sync.Once
	asked      sync.Once     // SHUTDOWN
	done       chan struct{} // closed when a client's SHUTDOWN has been carried out
	peersOnce  sync.Once
	finalOnce  sync.Once
	background sync.WaitGroup
}

// Start opens the listeners, serves them, and returns when the node's data is loaded;
// clients are told of that meanwhile. When it returns an error nothing is left
// running. A node that was stopped before its data was loaded is no error.
func Start(o Options) (*Node, error) {
	if err := checkPromises(o.Config); err != nil {
		return nil, err
	}
	place, err := findPlace(o)
	if err != nil {
		return nil, err
	}
	others := 0
	if place.cluster != nil {
		others = place.cluster.Len() - 1
	}
	if err := fitClients(o.Config, others, o.Log); err != nil {
		return nil, err
	}
	secure, err := newKeeper(o.Config, o.Log, len(o.TLSListeners) > 0)
	if err != nil {
		return nil, err
	}
	listeners := slices.Clone(o.Listeners)
	for _, l := range o.TLSListeners {
		listeners = append(listeners, netdrive.Secure(l, secure.server))
	}
	if listeners == nil {
		if listeners, err = listen(o.Config, secure); err != nil {
			return nil, err
		}
	}
	n := &Node{log: o.Log, cfg: o.Config, now: wallClock(), listeners: listeners, secure: secure, interrupt: o.Interrupt, stop: make(chan struct{}), done: make(chan struct{})}
	if err := n.build(o, place); err != nil {
		CloseListeners(listeners)
		return nil, err
	}
	loads := n.server.KeepsSnapshots() || n.durable.wanted()
	if loads {
		n.server.ExpectLoad()
	} else {
		n.snapshots.unread()
	}
	for _, l := range listeners {
		n.background.Go(func() {
			if err := n.driver.Serve(l); !errors.Is(err, netdrive.ErrStopped) {
				n.log.Error("listener ended", "address", l.Addr().String(), "error", err)
			}
		})
	}
	n.background.Go(n.tend)
	n.background.Go(func() { n.secure.watch(n.stop) })
	if n.peers != nil {
		n.peers.start()
	}
	if loads {
		if err := n.server.Load(); err != nil && !errors.Is(err, errGivenUp) {
			ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
			defer cancel()
			return nil, errors.Join(err, n.Stop(ctx))
		}
	}
	n.loaded.Store(true)
	return n, nil
}

func (n *Node) build(o Options, p place) error {
	databases := int(o.Config.Int(config.Databases))
	if p.cluster != nil {
		databases = 1
	}
	layout := shard.Options{
		Shards:    p.shards,
		Databases: databases,
		LogBytes:  int(o.Config.Int(config.ReplBacklogSize)),
		Seed:      random64(),
	}
	n.durable = newDurable(n, o, max(p.shards, 1))
	layout.NewLog = func(i int) shard.Log { return n.durable.logs[i] }
	n.space = shard.NewSpace(layout)
	n.snapshots = &snapshots{fs: n.durable.fs, cfg: o.Config, log: o.Log, now: time.Now, ended: n.ended, durable: n.durable}
	runID := make([]byte, 20)
	if _, err := rand.Read(runID); err != nil {
		return fmt.Errorf("choose a run id: %w", err)
	}
	n.server = server.New(server.Options{
		Config: o.Config,
		Space:  n.space,
		NodeID: p.id,
		Now:    n.now,
		Process: server.Process{
			Version:     o.Version,
			RunID:       hex.EncodeToString(runID),
			PID:         os.Getpid(),
			Port:        n.Port(),
			ConfigFile:  o.ConfigFile,
			Network:     func() string { return n.driver.Name() },
			Driver:      func() netdrive.Stats { return n.driver.Stats() },
			CPUSeconds:  cpuSeconds,
			MemoryBytes: processBytes,
			Collector:   collector,

			ResidentBytes: residentBytes, SystemBytes: systemBytes(),
			Executable: executable(),
			FreeMemory: debug.FreeOSMemory,
			Shutdown:   n.shutdown,
			TLS:        n.secure.describe,
			LogState:   n.durable.state,
			Sleep:      time.Sleep,
			Log:        func(line string) { n.log.Info(line) },
			ReadFile:   os.ReadFile, ReplaceFile: replaceFile,
			Snapshots: n.snapshots,
			Random:    func(b []byte) { rand.Read(b) }, // which never fails
		},
	})
	if err := n.server.LoadUsers(); err != nil {
		return fmt.Errorf("load users: %w", err)
	}
	newDriver := netdrive.New
	switch o.Config.String(config.Network) {
	case "portable":
		newDriver = func(o netdrive.Options) netdrive.Driver { return netdrive.NewPortable(o) }
	case "epoll":
		newDriver = netdrive.NewEpoll
	}
	driver := netdrive.Options{
		Registry:    n.server.Registry(),
		NewExecutor: n.server.NewExecutor,
		Now:         n.now,
		Limits:      n.limits,
		Log:         n.log,
		EndTick:     n.durable.endTick,
	}
	n.driver = newDriver(driver)
	n.durable.followSettings()
	o.Config.OnChange(config.DBFilename, n.snapshots.follow)
	for _, p := range []*config.Param{config.MinReplicasToWrite, config.MinReplicasMaxLag} {
		o.Config.OnChange(p, func() error { return checkReplicas(o.Config) })
	}
	o.Config.OnChange(config.Timeout, func() error {
		n.driver.LimitsChanged()
		return nil
	})
	if p.cluster != nil {
		n.peers = newPeers(p.cluster, p.id, n.cfg, n.secure, n.log)
		n.server.SetRelay(n.peers.relay)
		if err := n.server.SetMap(p.cluster); err != nil {
			return err
		}
		if !p.cluster.Covered() {
			n.log.Warn("the cluster map leaves slots to nobody", "slots", slot.Count-p.cluster.Assigned())
		}
	}
	return nil
}

// random64 gives random bits that nobody can guess.
func random64() uint64 {
	var b [8]byte
	rand.Read(b[:]) // which never fails
	return binary.LittleEndian.Uint64(b[:])
}

// processBytes is the memory that the Go runtime holds, besides what it could
// give back.
func processBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse + m.MSpanInuse + m.MCacheInuse + m.BuckHashSys + m.GCSys + m.OtherSys
}

// limits reads the settings that the driver enforces.
func (n *Node) limits() netdrive.Limits {
	out, pubsub := n.cfg.BufferLimit(config.LimitNormal), n.cfg.BufferLimit(config.LimitPubSub)
	return netdrive.Limits{
		Clients:        int(n.cfg.Int(config.MaxClients)),
		Idle:           time.Duration(n.cfg.Int(config.Timeout)) * time.Second,
		KeepAlive:      time.Duration(n.cfg.Int(config.TCPKeepalive)) * time.Second,
		QueryBuffer:    int(n.cfg.Int(config.ClientQueryBufferLimit)),
		Request:        shard.EffectsMax,
		OutputHard:     int(out.Hard),
		OutputSoft:     int(out.Soft),
		OutputSoftTime: time.Duration(out.Seconds) * time.Second,
		PubSubHard:     int(pubsub.Hard),
		PubSubSoft:     int(pubsub.Soft),
		PubSubSoftTime: time.Duration(pubsub.Seconds) * time.Second,
		HandshakeTime:  handshakeTime,
		Handshakes:     handshakesMax,
		LoopbackOnly:   n.cfg.Bool(config.ProtectedMode) && n.server.Open(),
	}
}

// What a round of background work does under one lock: little enough that nobody
// waits noticeably for it.
const (
	expirePerStripe = 64  // keys deleted
	tidyPerStripe   = 500 // records moved or looked at
	// tendPause is the rest between two rounds while there is more to do, so that
	// the work takes no processor from commands for long.
	tendPause = time.Millisecond
)

// tend does the background work of the key space hz times a second, and goes on
// after a short rest while there is more: it deletes keys whose time is over, evicts
// when memory is short, and gives memory back.
func (n *Node) tend() {
	tx := n.space.NewTx()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-timer.C:
		}
		began := n.now().Mono
		pause := n.tendOnce(tx)
		n.server.NoteRound(n.now().Mono - began)
		timer.Reset(pause)
	}
}

// tendOnce is one round of tend; it gives the rest until the next one.
func (n *Node) tendOnce(tx *shard.Tx) (pause time.Duration) {
	pause = time.Second / time.Duration(n.cfg.Int(config.HZ))
	n.server.Tick(tx)
	if !n.server.Background() {
		return pause
	}
	if began := n.now(); n.server.ActiveExpire() {
		if tx.ExpireStep(began.Millis(), expirePerStripe) {
			pause = 0
		}
		n.server.NoteExpire(n.now().Mono - began.Mono)
	}
	began := n.now()
	tx.Now = began.Millis()
	tx.MakeRoom()
	n.server.NoteLatency("eviction-cycle", n.now().Mono-began.Mono)
	if tx.Tidy(tidyPerStripe) {
		pause = min(pause, tendPause)
	}
	return pause
}

// Done is closed when a client has stopped the node by SHUTDOWN.
func (n *Node) Done() <-chan struct{} { return n.done }

// shutdownTimeout bounds a stop by SHUTDOWN; then connections are cut off.
const shutdownTimeout = 10 * time.Second

// shutdown is SHUTDOWN: it stops the node, soon.
func (n *Node) shutdown(client string) {
	n.asked.Do(func() {
		n.log.Info("a client asked for the shutdown", "client", client)
		go func() {
			defer close(n.done)
			ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
			defer cancel()
			if err := n.Stop(ctx); err != nil {
				n.log.Warn("not everything ended by itself", "error", err)
			}
		}()
	})
}

// Addrs are the addresses that the node listens on.
func (n *Node) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(n.listeners))
	for i, l := range n.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// Port is the TCP port for clients, 0 when there is none.
func (n *Node) Port() int {
	for _, l := range n.listeners {
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			return tcp.Port
		}
	}
	return 0
}

// Stop ends the node: no connection is accepted any more, each finishes the
// commands that it sent. When ctx ends first, connections are cut off and an
// error says so. It may be called more than once.
func (n *Node) Stop(ctx context.Context) error {
	n.stopOnce.Do(func() { close(n.stop) })
	err := n.driver.Shutdown(ctx)
	if n.peers != nil {
		n.peersOnce.Do(n.peers.close)
	}
	n.background.Wait()
	n.finalOnce.Do(func() {
		if saveErr := n.server.FinalSave(); saveErr != nil {
			err = errors.Join(err, fmt.Errorf("save before the stop: %w", saveErr))
		}
	})
	n.snapshots.running.Wait()
	n.snapshots.release()
	return errors.Join(err, n.durable.close())
}

// PrepareStop saves before a stop by a signal, as the words of a setting say:
// [config.ShutdownOnSigint] or [config.ShutdownOnSigterm]. An error says that the data can't be
// saved, and that the node goes on.
func (n *Node) PrepareStop(setting *config.Param) error {
	if n.stopping() {
		return nil
	}
	words := strings.Fields(n.cfg.String(setting))
	return n.server.PrepareStop(server.LastSave{
		Save: slices.Contains(words, "save"), NoSave: slices.Contains(words, "nosave"), Force: slices.Contains(words, "force"),
	})
}

// stopping says that Stop was called.
func (n *Node) stopping() bool {
	select {
	case <-n.stop:
		return true
	default:
		return false
	}
}

// ended says that the node has no time to load any more.
func (n *Node) ended() bool {
	select {
	case <-n.interrupt:
		return n.stopping() || !n.loaded.Load()
	default:
		return n.stopping()
	}
}
