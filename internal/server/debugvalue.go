package server

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/store"
)

// valueBytes is the size of a value that was found under a locked key.
func (w *Worker) valueBytes(key []byte, e *store.Entry) int64 {
	if e.Large() {
		return w.ctx.Body(key, e).Bytes()
	}
	return int64(len(e.Value))
}

// debugMembers describes the table of a large hash, set or sorted set.
func debugMembers(w *Worker, s *session.Session, args [][]byte) {
	w.withKey(s, args[0], func(e store.Entry, ok bool) {
		if !ok {
			s.W.Error(reply.NoSuchKey)
			return
		}
		if !e.Large() || e.Type == store.List {
			s.W.Error(reply.DebugNoTable)
			return
		}
		m := w.ctx.Body(args[0], &e).Members
		s.W.Verbatim("txt", fmt.Sprintf("number of elements: %d\n bytes of records: %d\n bytes of pages: %d\n", m.Len(), m.Bytes(), m.Footprint()))
	})
}

// debugPacked describes a packed collection.
func debugPacked(w *Worker, s *session.Session, args [][]byte) {
	w.withKey(s, args[0], func(e store.Entry, ok bool) {
		switch {
		case !ok:
			s.W.Error(reply.NoSuchKey)
		case e.Type == store.String || e.Large():
			s.W.Error(reply.DebugNotPacked)
		default:
			s.W.Simple(fmt.Sprintf("A packed %s of %d bytes", e.Type, len(e.Value)))
		}
	})
}
