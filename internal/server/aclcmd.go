package server

import (
	"encoding/hex"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

func aclSetUser(w *Worker, s *session.Session, args [][]byte) {
	name := string(args[2])
	if !acl.ValidName(name) {
		s.W.Error(reply.UserName)
		return
	}
	rules := make([]string, 0, len(args)-3)
	for _, a := range args[3:] {
		rules = append(rules, string(a))
	}
	if err := w.srv.setUser(s, name, rules); err != nil {
		s.W.Error("ERR " + err.Error())
		return
	}
	s.W.OK()
}

func aclDelUser(w *Worker, s *session.Session, args [][]byte) {
	for _, a := range args[2:] {
		if string(a) == acl.DefaultName {
			s.W.Error(reply.DefaultUserStays)
			return
		}
	}
	deleted := 0
	for _, a := range args[2:] {
		if w.srv.deleteUser(s, string(a)) {
			deleted++
		}
	}
	s.W.Int(int64(deleted))
}

func aclGetUser(w *Worker, s *session.Session, args [][]byte) {
	account := w.srv.Account(string(args[2]))
	if account == nil {
		s.W.Null()
		return
	}
	d := account.Rights().Describe()
	s.W.Map(6)
	s.W.BulkString("flags")
	s.W.Set(len(d.Flags))
	for _, f := range d.Flags {
		s.W.BulkString(f)
	}
	s.W.BulkString("passwords")
	s.W.Array(len(d.Passwords))
	for _, p := range d.Passwords {
		s.W.BulkString(p)
	}
	writeSelector(s, &d.Selectors[0])
	s.W.BulkString("selectors")
	s.W.Array(len(d.Selectors) - 1)
	for i := range d.Selectors[1:] {
		s.W.Map(3)
		writeSelector(s, &d.Selectors[1+i])
	}
}

func writeSelector(s *session.Session, d *acl.SelectorDescription) {
	for _, field := range [...][2]string{{"commands", d.Commands}, {"keys", d.Keys}, {"channels", d.Channels}} {
		s.W.BulkString(field[0])
		s.W.BulkString(field[1])
	}
}

func aclList(w *Worker, s *session.Session, _ [][]byte) {
	users := w.srv.users()
	s.W.Array(len(users))
	for _, u := range users {
		s.W.Bulk(u.Append(nil))
	}
}

func aclUsers(w *Worker, s *session.Session, _ [][]byte) {
	users := w.srv.users()
	s.W.Array(len(users))
	for _, u := range users {
		s.W.BulkString(u.Name())
	}
}

func aclWhoAmI(_ *Worker, s *session.Session, _ [][]byte) { s.W.BulkString(s.Account().Name()) }

func aclCat(_ *Worker, s *session.Session, args [][]byte) {
	if len(args) > 3 {
		s.W.Error(reply.UnknownSubcommandOrArgs("ACL", args[1]))
		return
	}
	if len(args) == 2 {
		names := command.CategoryNames()
		s.W.Array(len(names))
		for _, n := range names {
			s.W.BulkString(n)
		}
		return
	}
	category := command.ParseCategory(args[2])
	if category == 0 {
		s.W.Error(reply.UnknownCategory(args[2]))
		return
	}
	at, n := len(s.W.B), 0
	for spec := range command.All() {
		if spec.State == command.Working && spec.Categories.Has(category) {
			s.W.BulkString(spec.Name)
			n++
		}
	}
	s.W.InsertArray(at, n)
}

func aclDryRun(w *Worker, s *session.Session, args [][]byte) {
	account := w.srv.Account(string(args[2]))
	if account == nil {
		s.W.Error(reply.DryRunUser(args[2]))
		return
	}
	asked := args[3:]
	spec := command.Find(asked)
	switch {
	case spec == nil:
		s.W.Error(reply.DryRunCommand(args[3]))
		return
	case !spec.CheckArity(len(asked)):
		s.W.Error(reply.WrongArgs(spec.Name))
		return
	}
	why, at := account.Rights().Check(spec, asked, &w.refs)
	switch why {
	case acl.Allowed:
		s.W.OK()
	case acl.DeniedKey:
		s.W.BulkString(reply.MayNotAccessKey(account.Name(), asked[at]))
	case acl.DeniedChannel:
		s.W.BulkString(reply.MayNotAccessChannel(account.Name(), asked[at]))
	default:
		s.W.BulkString(reply.MayNotRun(account.Name(), spec.Name))
	}
}

// The bounds of a password's strength, in bits.
const (
	passwordBits    = 256
	passwordBitsMax = 4096
)

func aclGenPass(w *Worker, s *session.Session, args [][]byte) {
	bits := int64(passwordBits)
	if len(args) > 3 {
		s.W.Error(reply.UnknownSubcommandOrArgs("ACL", args[1]))
		return
	}
	if len(args) == 3 {
		n, ok := resp.ParseInt(args[2])
		if !ok {
			s.W.Error(reply.NotInteger)
			return
		}
		if bits = n; bits <= 0 || bits > passwordBitsMax {
			s.W.Error(reply.PasswordBits)
			return
		}
	}
	if w.srv.process.Random == nil {
		s.W.Error(reply.NoRandomness)
		return
	}
	digits := (bits + 3) / 4
	raw := make([]byte, (digits+1)/2)
	w.srv.process.Random(raw)
	s.W.BulkString(hex.EncodeToString(raw)[:digits])
}

func aclHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "ACL", []string{
		"CAT [<category>]", "Return the categories, or the commands of one.",
		"DELUSER <username> [<username> ...]", "Remove users and close their connections.",
		"DRYRUN <username> <command> [<arg> ...]", "Say whether the user might run the command, without running it.",
		"GETUSER <username>", "Describe a user.",
		"GENPASS [<bits>]", "Return a random password of the strength, 256 bits unless another is given.",
		"LIST", "Return all users as lines of the ACL file.",
		"LOAD", "Read the users again from the ACL file.",
		"LOG [<count> | RESET]", "Return the newest refusals, or forget them all.",
		"SAVE", "Write the users to the ACL file.",
		"SETUSER <username> <rule> [<rule> ...]", "Make a user, or change it, by rules.",
		"USERS", "Return the names of all users.",
		"WHOAMI", "Return the name of the user of this connection.",
	})
}
