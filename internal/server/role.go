package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/command"
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

// lastSave is the start of the node: nothing is saved yet, and Redis too counts
// from its start.
func lastSave(w *Worker, s *session.Session, _ [][]byte) { s.W.Int(w.srv.started.Wall / 1e6) }

func moduleList(_ *Worker, s *session.Session, _ [][]byte) { s.W.Array(0) }

func moduleHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "MODULE", []string{"LIST", "Return the loaded modules: none, as none can be loaded."})
}

// shutdown asks the node to stop. The client sees its connection end; only an
// error is answered.
func shutdown(w *Worker, s *session.Session, args [][]byte) {
	save, noSave, abort, force := false, false, false, false
	for _, arg := range args[1:] {
		switch {
		case command.IsToken(arg, "SAVE"):
			save = true
		case command.IsToken(arg, "NOSAVE"):
			noSave = true
		case command.IsToken(arg, "NOW"):
		case command.IsToken(arg, "FORCE"):
			force = true
		case command.IsToken(arg, "ABORT"):
			abort = true
		default:
			s.W.Error(reply.Syntax)
			return
		}
	}
	stop := w.srv.process.Shutdown
	switch {
	case save && noSave, abort && len(args) > 2:
		s.W.Error(reply.Syntax)
	case abort:
		s.W.Error(reply.NoShutdown)
	case save && !force:
		s.W.Error(reply.ShutdownSave)
	case stop == nil:
		s.W.Error(reply.ShutdownFailed)
	default:
		s.Closing = true
		stop(s.Remote())
	}
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
