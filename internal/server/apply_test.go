package server_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
)

// replica is a server that gets its data from records.
func newServer(t interface{ Fatal(...any) }) (*server.Server, *shard.Space) {
	space := shard.NewSpace(shard.Options{Databases: 4, LogBytes: 8 << 20})
	srv := server.New(server.Options{Config: config.New(), Space: space, Now: func() session.Instant {
		return session.Instant{Wall: time.Now().UnixMicro(), Mono: 1}
	}})
	return srv, space
}

func FuzzApply(f *testing.F) {
	f.Add([]byte{0, 3, 3, 'S', 'E', 'T', 1, 'a', 1, 'b'})
	f.Add([]byte{9, 1, 3, 'G', 'E', 'T'})
	f.Fuzz(func(t *testing.T, payload []byte) {
		srv, _ := newServer(t)
		err := srv.NewExecutor().(*server.Worker).Apply(0, payload)
		if err != nil && errors.Is(err, shard.ErrBadEffect) == bytes.Contains([]byte(err.Error()), []byte("apply record: apply")) {
			t.Errorf("error of two kinds: %v", err)
		}
	})
}
