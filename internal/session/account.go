package session

import (
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/acl"
)

// Account is a user as sessions hold it: what it may do changes under them. Any
// goroutine may use it.
type Account struct {
	name   string
	rights atomic.Pointer[acl.User]
}

// NewAccount makes the account of a user.
func NewAccount(u *acl.User) *Account {
	a := &Account{name: u.Name()}
	a.rights.Store(u)
	return a
}

// Name is the user's name.
func (a *Account) Name() string { return a.name }

// Rights are what the user may do at this moment.
func (a *Account) Rights() *acl.User { return a.rights.Load() }

// SetRights changes what the user may do, for its sessions too.
func (a *Account) SetRights(u *acl.User) { a.rights.Store(u) }

// Account is who the client is. Before it has logged in that is the default user.
func (s *Session) Account() *Account { return s.account }

// Rights are what the client may do at this moment.
func (s *Session) Rights() *acl.User { return s.account.rights.Load() }

// AccountSeen is [Session.Account] for any goroutine.
func (s *Session) AccountSeen() *Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.user
}

// login makes the session that of a user.
func (s *Session) login(a *Account) { s.become(a, true) }

// loginDefault makes the session that of the default user, who may need a password.
func (s *Session) loginDefault() {
	a := s.registry.host.Account(acl.DefaultName)
	s.become(a, a.Rights().Open())
}

// LoginDefault is for a session that has not logged in: it says whether it no longer
// needs to. That changes with the default user.
func (s *Session) LoginDefault() bool {
	s.loginDefault()
	return s.Authenticated
}

func (s *Session) become(a *Account, authenticated bool) {
	s.account, s.Authenticated = a, authenticated
	s.reader.Limits = limitsFor(authenticated, s.registry.bulkMax())
	s.update(func(v *view) { v.user = a })
}
