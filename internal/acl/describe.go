package acl

import (
	"encoding/hex"
)

// Description is what ACL GETUSER shows of a user.
type Description struct {
	Flags     []string
	Passwords []string // digests in hexadecimal digits
	// Selectors are the user's own rules first, then those between parentheses.
	Selectors []SelectorDescription
}

// SelectorDescription is what ACL GETUSER shows of a selector, each as rules with
// spaces between them.
type SelectorDescription struct{ Commands, Keys, Channels string }

// Describe gives the user in parts.
func (u *User) Describe() Description {
	d := Description{Flags: u.flags()}
	for _, p := range u.passwords {
		d.Passwords = append(d.Passwords, hex.EncodeToString(p[:]))
	}
	for _, s := range u.selectors {
		d.Selectors = append(d.Selectors, SelectorDescription{
			string(s.appendCommands(nil)), string(s.appendKeys(nil)), string(s.appendChannels(nil)),
		})
	}
	return d
}

func (u *User) flags() []string {
	flags := make([]string, 0, 3)
	if u.enabled {
		flags = append(flags, "on")
	} else {
		flags = append(flags, "off")
	}
	if u.noPass {
		flags = append(flags, "nopass")
	}
	if u.skipSanitize {
		return append(flags, "skip-sanitize-payload")
	}
	return append(flags, "sanitize-payload")
}

// Append prints the user as a line of an ACL file, without the line's end.
func (u *User) Append(b []byte) []byte {
	b = append(append(append(b, "user "...), u.name...), ' ')
	for _, f := range u.flags() {
		b = append(append(b, f...), ' ')
	}
	for _, p := range u.passwords {
		b = append(hex.AppendEncode(append(b, '#'), p[:]), ' ')
	}
	b = u.selectors[0].append(b)
	for _, s := range u.selectors[1:] {
		b = append(s.append(append(b, " ("...)), ')')
	}
	return b
}

// String is the user as a line of an ACL file.
func (u *User) String() string { return string(u.Append(nil)) }
