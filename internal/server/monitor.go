package server

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// monitors are the connections that called MONITOR.
type monitors struct {
	count atomic.Int64 // looked at with each command

	mu   sync.RWMutex
	list map[*session.Session]struct{} // guarded by mu
}

func (m *monitors) add(s *session.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list == nil {
		m.list = map[*session.Session]struct{}{}
	}
	m.list[s] = struct{}{}
	m.count.Store(int64(len(m.list)))
}

func (m *monitors) remove(s *session.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.list, s)
	m.count.Store(int64(len(m.list)))
}

func monitor(w *Worker, s *session.Session, _ [][]byte) {
	switch {
	case w.inExec:
		s.W.Error(reply.MonitorInMulti)
	case s.Mode&session.ModeMonitor != 0:
		// As in Redis, a second MONITOR has no reply.
	default:
		s.SetMode(session.ModeMonitor, true)
		w.srv.monitors.add(s)
		s.W.OK()
	}
}

// show sends a command that was executed to those who monitor; not those of
// operators, whose arguments may be secret.
func (w *Worker) show(s *session.Session, spec *command.Spec, args [][]byte) {
	if spec.Flags&(command.FlagAdmin|command.FlagSkipMonitor) != 0 || spec.ID == command.IDBowlineRelay {
		return
	}
	line := appendMonitorLine(nil, w.srv.now(), s, spec, args)
	m := &w.srv.monitors
	m.mu.RLock()
	defer m.mu.RUnlock()
	for to := range m.list {
		deliver(to, s, line)
	}
}

func appendMonitorLine(b []byte, now session.Instant, s *session.Session, spec *command.Spec, args [][]byte) []byte {
	b = strconv.AppendInt(append(b, '+'), now.Wall/1e6, 10)
	b = append(b, '.')
	micros := strconv.Itoa(int(now.Wall % 1e6))
	b = append(append(b, "000000"[len(micros):]...), micros...)
	b = strconv.AppendInt(append(b, " ["...), int64(s.DB), 10)
	b = append(append(append(b, ' '), s.Remote()...), ']')
	for i, arg := range args {
		b = append(b, ' ')
		if secretArgument(spec, args, i) {
			b = append(b, `"(redacted)"`...)
		} else {
			b = appendQuoted(b, arg)
		}
	}
	return append(b, "\r\n"...)
}

// secretArgument says whether an argument is a user or a password, given to log
// in or by CONFIG SET.
func secretArgument(spec *command.Spec, args [][]byte, i int) bool {
	switch spec.ID {
	case command.IDAuth:
		return i > 0
	case command.IDAclSetuser, command.IDAclGetuser, command.IDAclDeluser:
		return i > 1
	case command.IDHello:
		for j := 2; j+2 < len(args); j++ {
			if command.IsToken(args[j], "AUTH") {
				return i == j+1 || i == j+2
			}
		}
	case command.IDConfigSet:
		if i > 2 && i%2 == 1 {
			p, ok := config.Lookup(string(args[i-1]))
			return ok && p.Secret
		}
	}
	return false
}

// appendQuoted writes bytes between quotes, those that can't be printed as
// escapes.
func appendQuoted(b, text []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range text {
		switch c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\a':
			b = append(b, `\a`...)
		case '\b':
			b = append(b, `\b`...)
		default:
			if c >= ' ' && c <= '~' {
				b = append(b, c)
			} else {
				b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(b, '"')
}
