package server

import (
	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// check asks whether the client may run a command. A refusal is counted and logged.
func (w *Worker) check(s *session.Session, spec *command.Spec, args [][]byte) acl.Denial {
	return w.judge(s, s.Account(), spec, args, &w.refs)
}

// judge is [Worker.check] for a session that may be another one's than w serves now,
// and its user.
func (w *Worker) judge(s *session.Session, account *session.Account, spec *command.Spec, args [][]byte, scratch *[]command.KeyRef) acl.Denial {
	why, at := account.Rights().Check(spec, args, scratch)
	if why == acl.Allowed {
		return why
	}
	object := spec.Name
	if why != acl.DeniedCommand {
		object = string(args[at])
	}
	s.SetCommand(spec) // which the description of the client in the log shows
	w.srv.noteDenial(s, w.now, acl.Entry{Reason: why, Context: contextOf(s, w.inExec && s == w.current), Object: object, Username: account.Name()})
	return why
}

// noPermission is the reply to a command that was refused.
func noPermission(why acl.Denial, account *session.Account, spec *command.Spec) string {
	switch why {
	case acl.DeniedKey:
		return reply.NoPermKey
	case acl.DeniedChannel:
		return reply.NoPermChannel
	}
	return reply.NoPermCommand(account.Name(), spec.Name)
}

// permitted is [Worker.check] before a command is run or queued; on false the reply
// was written.
func (w *Worker) permitted(s *session.Session, spec *command.Spec, args [][]byte) bool {
	why := w.check(s, spec, args)
	if why == acl.Allowed {
		return true
	}
	text := noPermission(why, s.Account(), spec)
	if spec.ID == command.IDExec { // refusing EXEC ends the transaction
		w.endTransaction(s)
		text = reply.ExecAbortBecause(text)
	}
	s.W.Error(text)
	return false
}

// permittedToWaiter is [Worker.check] before a command that waited is run; on false
// the reply was written to out.
func (w *Worker) permittedToWaiter(wt *waiter, out *resp.Writer) bool {
	if wt.account.Rights().Everything() {
		return true
	}
	var refs []command.KeyRef // not w.refs: another command is running
	why := w.judge(wt.s, wt.account, wt.spec, wt.args, &refs)
	if why != acl.Allowed {
		out.Error(noPermission(why, wt.account, wt.spec))
	}
	return why == acl.Allowed
}

// permittedInExec is [Worker.check] before a queued command is run: since it was
// queued the rules may have changed.
func (w *Worker) permittedInExec(s *session.Session, spec *command.Spec, args [][]byte) bool {
	switch w.check(s, spec, args) {
	case acl.Allowed:
		return true
	case acl.DeniedKey:
		s.W.Error(reply.ExecNoPermKey)
	case acl.DeniedChannel:
		s.W.Error(reply.ExecNoPermChannel)
	default:
		s.W.Error(reply.ExecNoPermCommand)
	}
	return false
}

// readsAnyKey says whether the client whose command runs may read all keys by it.
// What no client asked for may.
func (w *Worker) readsAnyKey(args [][]byte) bool {
	if w.current == nil {
		return true
	}
	var refs []command.KeyRef // not w.refs, which the running command uses
	return w.current.Rights().ReadsAnyKey(command.Find(args), args, &refs)
}
