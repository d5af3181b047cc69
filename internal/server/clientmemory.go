package server

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
)

// clientMemoryLeast is the smallest limit that holds, in bytes: with less nobody
// could connect to correct it.
const clientMemoryLeast = 128 << 10

// followClientMemory gives the registry the limit of maxmemory-clients, now and
// whenever it changes.
func (srv *Server) followClientMemory() {
	apply := func() error {
		srv.registry.SetMemoryLimit(srv.clientMemoryLimit())
		return nil
	}
	srv.registry.SetMemoryLimit(srv.clientMemoryLimit())
	srv.cfg.OnChange(config.MaxMemoryClients, apply)
	srv.cfg.OnChange(config.MaxMemory, apply)
}

// clientMemoryLimit is in bytes; 0: there is none.
func (srv *Server) clientMemoryLimit() int64 {
	limit := srv.cfg.Int(config.MaxMemoryClients)
	if limit < 0 { // percent of maxmemory, without which there is no limit
		limit = srv.cfg.Int(config.MaxMemory) / 100 * -limit
	}
	if limit == 0 {
		return 0
	}
	return max(limit, clientMemoryLeast)
}

func (srv *Server) noteEvicted(s *session.Session, bytes int64) {
	if srv.process.Log != nil {
		srv.process.Log(fmt.Sprintf("client %s closed: it took %d bytes when memory for clients was short", s.Remote(), bytes))
	}
}
