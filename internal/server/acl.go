package server

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
)

// accounts are the users of the node, and the record of what they were refused.
type accounts struct {
	first *session.Account // the default user; always among byName

	mu     sync.RWMutex
	byName map[string]*session.Account // guarded by mu; rights change under it too

	denied [acl.Denials]atomic.Uint64 // by reason, since the last CONFIG RESETSTAT
	logMu  sync.Mutex
	log    acl.Log // guarded by logMu
}

// startAccounts makes the default user, with the password that the configuration
// says, now and whenever it changes.
func (srv *Server) startAccounts() {
	a := &srv.accounts
	a.first = session.NewAccount(acl.NewDefault(srv.cfg.String(config.RequirePass)))
	a.byName = map[string]*session.Account{acl.DefaultName: a.first}
	srv.cfg.OnChange(config.RequirePass, func() error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.first.SetRights(a.first.Rights().WithPassword(srv.cfg.String(config.RequirePass)))
		return nil
	})
}

// aclDefaults are the settings for new users.
func (srv *Server) aclDefaults() acl.Defaults {
	return acl.Defaults{AllChannels: srv.cfg.String(config.ACLPubSubDefault) == "allchannels"}
}

// Account implements [session.Host].
func (srv *Server) Account(name string) *session.Account {
	a := &srv.accounts
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.byName[name]
}

// Authenticate implements [session.Host]. It hashes the password for a user that
// does not exist too, so that the time it takes does not tell.
func (srv *Server) Authenticate(s *session.Session, now session.Instant, command []byte, user string, password []byte) *session.Account {
	account := srv.Account(user)
	rights := acl.Nobody
	if account != nil {
		rights = account.Rights()
	}
	if rights.Accepts(password) {
		return account
	}
	srv.noteDenial(s, now, acl.Entry{Reason: acl.DeniedAuth, Context: contextOf(s, false), Object: string(command), Username: user})
	return nil
}

// Open says whether clients may work without a password.
func (srv *Server) Open() bool { return srv.accounts.first.Rights().Open() }

// contextOf says whether a session is within MULTI; inExec: it runs EXEC.
func contextOf(s *session.Session, inExec bool) acl.Context {
	if inExec || s.Transaction != nil {
		return acl.InMulti
	}
	return acl.TopLevel
}

// noteDenial counts a refusal and writes it to the list of ACL LOG, with the time and
// the client.
func (srv *Server) noteDenial(s *session.Session, now session.Instant, e acl.Entry) {
	a := &srv.accounts
	a.denied[e.Reason].Add(1)
	e.Updated = now.Millis()
	e.Client = string(bytes.TrimSuffix(s.AppendInfo(nil, now), []byte("\n")))
	limit := srv.cfg.Int(config.ACLLogMaxLen)
	a.logMu.Lock()
	defer a.logMu.Unlock()
	a.log.Add(e, int(limit))
}

// users lists the users by name.
func (srv *Server) users() []*acl.User {
	a := &srv.accounts
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := make([]*acl.User, 0, len(a.byName))
	for _, account := range a.byName {
		list = append(list, account.Rights())
	}
	slices.SortFunc(list, func(x, y *acl.User) int { return cmp.Compare(x.Name(), y.Name()) })
	return list
}

// setUser changes a user by rules, or makes it.
func (srv *Server) setUser(s *session.Session, name string, rules []string) error {
	a := &srv.accounts
	d := srv.aclDefaults()
	a.mu.Lock()
	account := a.byName[name]
	before := acl.New(name, d)
	if account != nil {
		before = account.Rights()
	}
	after, err := before.With(rules, d)
	if err == nil && account == nil {
		account = session.NewAccount(after)
		a.byName[name] = account
	} else if err == nil {
		account.SetRights(after)
	}
	a.mu.Unlock()
	if err == nil {
		srv.closeOf(s, account)
	}
	return err
}

// deleteUser ends a user and its connections; false when there was none.
func (srv *Server) deleteUser(s *session.Session, name string) bool {
	a := &srv.accounts
	a.mu.Lock()
	account := a.byName[name]
	delete(a.byName, name)
	if account != nil {
		account.SetRights(acl.Nobody) // for a session that logs in right now
	}
	a.mu.Unlock()
	if account == nil {
		return false
	}
	srv.closeOf(s, account)
	return true
}

// closeOf ends the sessions of a user that may not stay after a change.
func (srv *Server) closeOf(s *session.Session, account *session.Account) {
	srv.closeUnless(s, func(other *session.Session) bool {
		return other.AccountSeen() != account || srv.mayStay(other, account)
	})
}

// replaceUsers makes these the users. Sessions go on as the user of the same name,
// or end. s is who asked for it; nil: no client.
func (srv *Server) replaceUsers(s *session.Session, users []*acl.User) {
	a := &srv.accounts
	if !slices.ContainsFunc(users, func(u *acl.User) bool { return u.Name() == acl.DefaultName }) {
		users = append(users, acl.NewDefault(srv.cfg.String(config.RequirePass)))
	}
	a.mu.Lock()
	old := a.byName
	a.byName = map[string]*session.Account{}
	for _, u := range users {
		account := old[u.Name()]
		if account == nil {
			account = session.NewAccount(u)
		}
		account.SetRights(u)
		a.byName[u.Name()] = account
	}
	for name, account := range old {
		if a.byName[name] == nil {
			account.SetRights(acl.Nobody)
		}
	}
	a.mu.Unlock()
	srv.closeUnless(s, func(other *session.Session) bool { return srv.mayStay(other, other.AccountSeen()) })
}

// mayStay says whether a session may go on after a change of its user: not when the
// user is gone, or when it listens to what it may no longer listen to.
func (srv *Server) mayStay(s *session.Session, account *session.Account) bool {
	rights := account.Rights()
	return rights != acl.Nobody && (!s.Subscribed() || srv.mayListen(rights, s))
}

// closeUnless ends the sessions that may not stay; that of s after its reply. s is nil
// when no client asked for it.
func (srv *Server) closeUnless(s *session.Session, stays func(other *session.Session) bool) {
	for _, other := range srv.registry.All() {
		switch {
		case stays(other):
		case s == nil:
			other.Kill()
		default:
			s.CloseOther(other)
		}
	}
}

func (srv *Server) mayListen(u *acl.User, s *session.Session) bool {
	if u.Everything() {
		return true
	}
	for k := range kinds {
		for _, name := range srv.broker.names(s, k) {
			if !u.MayListen([]byte(name), k == pattern) {
				return false
			}
		}
	}
	return true
}
