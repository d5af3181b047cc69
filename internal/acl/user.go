package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
)

// Defaults are the settings that decide what a new user or selector may do.
type Defaults struct {
	// AllChannels: it may use every channel (acl-pubsub-default allchannels).
	AllChannels bool
}

// User is how a user logs in and what it may do. It never changes.
type User struct {
	name         string
	enabled      bool
	noPass       bool // any password will do, and clients need none
	skipSanitize bool
	passwords    []digest    // in the order in which they came, none twice
	selectors    []*selector // the first is made by the user's own rules; never empty
	everything   bool        // one selector allows all there is
}

// digest is the SHA-256 of a password.
type digest [sha256.Size]byte

// New makes a user that cannot log in and may do nothing.
func New(name string, d Defaults) *User {
	return &User{name: name, selectors: []*selector{newSelector(d)}}
}

// DefaultName is the name of the user that a client is without logging in.
const DefaultName = "default"

// NewDefault makes the default user as it is when nobody has changed it: it may do
// everything. password is what it asks for; "": it asks for none.
func NewDefault(password string) *User {
	u := New(DefaultName, Defaults{})
	for _, rule := range []string{"+@all", "~*", "&*", "on"} {
		if err := u.apply(rule, Defaults{}); err != nil {
			panic("BUG: " + err.Error())
		}
	}
	u.settle()
	return u.WithPassword(password)
}

// Nobody is a user that may do nothing, for sessions whose user is no more.
var Nobody = New("", Defaults{})

// Name is the user's name.
func (u *User) Name() string { return u.name }

// Everything says whether the user may run every command on all keys and channels,
// so that nothing needs to be checked.
func (u *User) Everything() bool { return u.everything }

// NoPassword says whether the user logs in with any password at all.
func (u *User) NoPassword() bool { return u.noPass }

// Open says whether the user needs no login.
func (u *User) Open() bool { return u.enabled && u.noPass }

// Enabled says whether the user may log in.
func (u *User) Enabled() bool { return u.enabled }

// Accepts says whether the password logs the user in. The time it takes depends on
// how many passwords the user has, not on which one it is given.
func (u *User) Accepts(password []byte) bool {
	given := digest(sha256.Sum256(password))
	match := 0
	for i := range u.passwords {
		match |= subtle.ConstantTimeCompare(given[:], u.passwords[i][:])
	}
	return u.enabled && (u.noPass || match == 1)
}

// With makes the user that some rules turn this one into. They are applied in their
// order, all or none; a selector may be spread over several of them. The error's
// text is the one of ACL SETUSER.
func (u *User) With(rules []string, d Defaults) (*User, error) {
	merged, err := mergeSelectors(rules)
	if err != nil {
		return nil, err
	}
	next := u.clone()
	for _, rule := range merged {
		if err := next.apply(rule, d); err != nil {
			return nil, ruleError{rule, err}
		}
	}
	next.settle()
	return next, nil
}

// WithPassword makes the user with this password and no other one; "": with none
// at all, as "nopass" does.
func (u *User) WithPassword(password string) *User {
	next := u.clone()
	next.passwords, next.noPass = nil, password == ""
	if password != "" {
		next.passwords = []digest{sha256.Sum256([]byte(password))}
	}
	return next
}

func (u *User) clone() *User {
	next := *u
	next.passwords = slices.Clone(u.passwords)
	next.selectors = make([]*selector, len(u.selectors))
	for i, s := range u.selectors {
		next.selectors[i] = s.clone()
	}
	return &next
}

// settle works out what follows from the rules.
func (u *User) settle() {
	u.everything = slices.ContainsFunc(u.selectors, (*selector).everything)
}

// apply changes a user that nobody has seen yet by one rule.
func (u *User) apply(rule string, d Defaults) error {
	switch word := lower(rule); word {
	case "":
	case "on", "off":
		u.enabled = word == "on"
	case "skip-sanitize-payload", "sanitize-payload":
		u.skipSanitize = word == "skip-sanitize-payload"
	case "nopass", "resetpass":
		u.passwords, u.noPass = nil, word == "nopass"
	case "clearselectors":
		u.selectors = u.selectors[:1]
	case "reset":
		*u = *New(u.name, d)
	default:
		return u.applyLonger(rule, d)
	}
	return nil
}

func (u *User) applyLonger(rule string, d Defaults) error {
	switch {
	case strings.IndexByte("><#!", rule[0]) >= 0:
		return u.applyPassword(rule[0], rule[1:])
	case rule[0] == '(' && rule[len(rule)-1] == ')':
		s, err := parseSelector(rule[1:len(rule)-1], d)
		if err != nil {
			return err
		}
		u.selectors = append(u.selectors, s)
		return nil
	}
	return u.selectors[0].apply(rule)
}

// applyPassword adds ('>', '#') or removes ('<', '!') a password, given in clear
// ('>', '<') or by its digest.
func (u *User) applyPassword(sign byte, text string) error {
	d := digest(sha256.Sum256([]byte(text)))
	if sign == '#' || sign == '!' {
		// Upper case is refused, as in Redis, so that a digest has one form only.
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != len(d) || lower(text) != text {
			return badDigest
		}
		d = digest(raw)
	}
	at := slices.Index(u.passwords, d)
	if sign == '<' || sign == '!' {
		if at < 0 {
			return noSuchPassword
		}
		u.passwords = slices.Delete(u.passwords, at, at+1)
		return nil
	}
	if at < 0 {
		u.passwords = append(u.passwords, d)
	}
	u.noPass = false
	return nil
}
