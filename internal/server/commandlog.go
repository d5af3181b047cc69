package server

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// commandLog keeps the newest commands that were remarkable: slow ones, those with a
// large request, or those with a large reply.
type commandLog struct {
	mu      sync.Mutex
	entries []logEntry // the newest last; guarded by mu
	next    int64      // id; guarded by mu
}

type logEntry struct {
	id      int64
	seconds int64 // unix time
	value   int64 // microseconds, or bytes
	args    [][]byte
	client  string
	name    string
}

const (
	logArgsMax = 32  // arguments of an entry
	logArgMax  = 128 // bytes of an argument
)

// add notes a command; what it keeps of the arguments is copied.
func (l *commandLog) add(limit int64, now session.Instant, value int64, s *session.Session, args [][]byte) {
	e := logEntry{seconds: now.Wall / 1e6, value: value, client: s.Remote(), name: s.Name()}
	for i, arg := range args {
		if i == logArgsMax-1 && len(args) > logArgsMax {
			e.args = append(e.args, fmt.Appendf(nil, "... (%d more arguments)", len(args)-i))
			break
		}
		if len(arg) > logArgMax {
			e.args = append(e.args, fmt.Appendf(bytes.Clone(arg[:logArgMax]), "... (%d more bytes)", len(arg)-logArgMax))
		} else {
			e.args = append(e.args, bytes.Clone(arg))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.next
	l.next++
	l.entries = append(l.entries, e)
	if over := int64(len(l.entries)) - limit; over > 0 {
		l.entries = append(l.entries[:0], l.entries[over:]...)
	}
}

func (l *commandLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

func (l *commandLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// write replies with the newest entries; with all if count is -1.
func (l *commandLog) write(s *session.Session, count int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if count < 0 || count > int64(len(l.entries)) {
		count = int64(len(l.entries))
	}
	s.W.Array(int(count))
	for i := range int(count) {
		e := &l.entries[len(l.entries)-1-i]
		s.W.Array(6)
		s.W.Int(e.id)
		s.W.Int(e.seconds)
		s.W.Int(e.value)
		s.W.Array(len(e.args))
		for _, a := range e.args {
			s.W.Bulk(a)
		}
		s.W.BulkString(e.client)
		s.W.BulkString(e.name)
	}
}

// logCount reads how many entries are asked for; when ok is false the error was
// written.
func logCount(s *session.Session, arg []byte) (count int64, ok bool) {
	count, ok = resp.ParseInt(arg)
	if ok = ok && count >= -1; !ok {
		s.W.Error(reply.LogCount)
	}
	return count, ok
}

// logOf finds a log by its name; nil: there is none, and the error was written.
func (w *Worker) logOf(s *session.Session, name []byte) *commandLog {
	switch {
	case command.IsToken(name, "SLOW"):
		return &w.srv.slow
	case command.IsToken(name, "LARGE-REQUEST"):
		return &w.srv.largeRequests
	case command.IsToken(name, "LARGE-REPLY"):
		return &w.srv.largeReplies
	}
	s.W.Error(reply.LogType)
	return nil
}

func commandlogGet(w *Worker, s *session.Session, args [][]byte) {
	count, ok := logCount(s, args[2])
	if !ok {
		return
	}
	if l := w.logOf(s, args[3]); l != nil {
		l.write(s, count)
	}
}

func commandlogLen(w *Worker, s *session.Session, args [][]byte) {
	if l := w.logOf(s, args[2]); l != nil {
		s.W.Int(int64(l.len()))
	}
}

func commandlogReset(w *Worker, s *session.Session, args [][]byte) {
	if l := w.logOf(s, args[2]); l != nil {
		l.reset()
		s.W.OK()
	}
}

func commandlogHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "COMMANDLOG", []string{
		"GET <count> <slow|large-request|large-reply>", "Return the newest entries (-1: all): id, unix time, microseconds or bytes, arguments, address and name of the client.",
		"LEN <type>", "Return the number of entries.",
		"RESET <type>", "Forget all entries.",
	})
}

// largeFrom is the size from which a command enters a log, for its setting.
func largeFrom(setting int64) int {
	if setting < 0 {
		return math.MaxInt
	}
	return int(min(setting, math.MaxInt))
}

// noteRequest enters a command whose request is large.
func (w *Worker) noteRequest(s *session.Session, spec *command.Spec, args [][]byte, size int) {
	if spec.Flags&command.FlagSkipSlowlog == 0 {
		w.srv.largeRequests.add(w.srv.cfg.Int(config.CommandlogRequestMaxLen), w.now, int64(size), s, shownArguments(spec, args))
	}
}

// mark is a place in the replies of a session.
type mark struct{ bytes, refs int }

func markOf(s *session.Session) mark { return mark{len(s.W.B), len(s.W.Refs)} }

// mayBeLarge says whether the reply from a place on is one for the log, or has parts
// that are to be counted.
func (w *Worker) mayBeLarge(s *session.Session, from mark) bool {
	return len(s.W.B)-from.bytes >= w.largeReply || len(s.W.Refs) > from.refs
}

// noteReply enters a command whose reply, from a place on, is large.
func (w *Worker) noteReply(s *session.Session, spec *command.Spec, args [][]byte, from mark) {
	size := len(s.W.B) - from.bytes
	for _, ref := range s.W.Refs[min(from.refs, len(s.W.Refs)):] {
		size += len(ref.Bytes)
	}
	if size >= w.largeReply && spec.Flags&command.FlagSkipSlowlog == 0 {
		w.srv.largeReplies.add(w.srv.cfg.Int(config.CommandlogReplyMaxLen), w.now, int64(size), s, shownArguments(spec, args))
	}
}
