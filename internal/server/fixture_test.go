package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/netdrive"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
)

// subject is a server behind a listener on loopback.
type subject struct {
	*Server
	addr string
}

// startSubject serves until the test ends; settings are names and values in
// turn. id is the node's in cluster maps.
func startSubject(t *testing.T, id topology.NodeID, shards int, settings ...string) *subject {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(settings); i += 2 {
		if err := cfg.Load(settings[i], []string{settings[i+1]}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	now := func() session.Instant {
		at := time.Now()
		return session.Instant{Wall: at.UnixMicro(), Mono: int64(at.Sub(began)) + 1}
	}
	var driver *netdrive.Portable
	srv := New(Options{
		Config: cfg,
		Space:  shard.NewSpace(shard.Options{Shards: shards, Databases: 16}),
		NodeID: id,
		Now:    now,
		Process: Process{
			Version: "test", RunID: "0123456789012345678901234567890123456789", PID: 1,
			Network:     func() string { return driver.Name() },
			Driver:      func() netdrive.Stats { return driver.Stats() },
			CPUSeconds:  func() (system, user float64) { return 1, 2 },
			MemoryBytes: func() uint64 { return 1 << 20 },
			Collector:   func() Collector { return Collector{} },
			Random:      func(b []byte) { rand.Read(b) },
		},
	})
	driver = netdrive.NewPortable(netdrive.Options{
		Registry: srv.Registry(), NewExecutor: srv.NewExecutor, Now: now, Log: slog.New(slog.DiscardHandler),
		Limits: func() netdrive.Limits { return netdrive.Limits{Clients: 100} },
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- driver.Serve(l) }()
	t.Cleanup(func() {
		if err := driver.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
	return &subject{srv, l.Addr().String()}
}

func (s *subject) dial(t *testing.T) *redistest.Conn {
	t.Helper()
	return redistest.Dial(t, "tcp", s.addr)
}

// expect compares replies as they are printed.
func expect(t *testing.T, c *redistest.Conn, want string, args ...string) {
	t.Helper()
	if got := fmt.Sprint(c.Do(args...)); got != want {
		t.Errorf("%q:\n  got  %s\n  want %s", args, got, want)
	}
}
