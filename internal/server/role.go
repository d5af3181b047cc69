package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// role answers as Redis does; a replica of a static map is not connected to its
// primary.
func role(w *Worker, s *session.Session, _ [][]byte) {
	v := w.srv.cluster.Load()
	if v == nil || !v.replica {
		s.W.Array(3)
		s.W.BulkString("master")
		s.W.Int(int64(w.srv.position()))
		s.W.Array(0)
		return
	}
	primary := v.group.Primary()
	s.W.Array(5)
	s.W.BulkString("slave")
	s.W.BulkString(primary.Host)
	s.W.Int(int64(primary.Port))
	s.W.BulkString("connect")
	s.W.Int(-1)
}

// position is the number of the newest record, summed over the shards.
func (srv *Server) position() uint64 {
	n := uint64(0)
	for _, sh := range srv.space.Shards() {
		n += uint64(sh.Last())
	}
	return n
}

func moduleList(_ *Worker, s *session.Session, _ [][]byte) { s.W.Array(0) }

func moduleHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "MODULE", []string{"LIST", "Return the loaded modules: none, as none can be loaded."})
}

// configRewrite writes the settings of this moment to the configuration file.
func configRewrite(w *Worker, s *session.Session, _ [][]byte) {
	p := &w.srv.process
	if p.ConfigFile == "" || p.ReadFile == nil || p.ReplaceFile == nil {
		s.W.Error(reply.NoConfigFile)
		return
	}
	text, err := w.srv.cfg.Rewrite(p.ConfigFile, p.ReadFile, w.srv.usersToRewrite())
	if err == nil {
		err = p.ReplaceFile(p.ConfigFile, text)
	}
	if err != nil {
		s.W.Error(reply.ConfigRewrite + strconv.Quote(err.Error()))
		return
	}
	s.W.OK()
}
