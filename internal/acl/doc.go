// Package acl is what users may do: the rules of ACL SETUSER and of ACL files,
// their canonical form, and the decision whether a user may run a command.
//
// A [User] never changes. Rules make another one of it, which takes its place:
//
//	u, err := acl.New("ann", acl.Defaults{}).With([]string{"on", ">secret", "~cache:*", "+@read"}, acl.Defaults{})
//	denial, at := u.Check(spec, args, &scratch)
//
// A user has one or more selectors. Each is a set of commands, of key patterns
// and of channel patterns; a command is allowed when one selector alone allows
// all of it. The first selector is made by the user's own rules, the others by
// rules between parentheses.
//
// The package promises that the form it prints, read again, gives the same user,
// that [User.Check] allocates nothing when a user may do what it asks, and that no
// rule, however made, panics. Rules know every command of the table, served here or
// not, so that files of other servers can be read.
//
// It refuses to know of connections, files, time and locks. Who is logged in,
// where users are kept and what is written to a log is the caller's matter; [Log]
// is only the list behind ACL LOG.
package acl
