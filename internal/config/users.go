package config

import (
	"fmt"
	"slices"
	"strings"
)

// User is a user that a configuration file defines.
type User struct {
	Name string
	// Rules are words in the language of ACL SETUSER, not checked yet.
	Rules []string
	// Origin is the file with the line.
	Origin string
}

// Users returns the users that the files define, in their order: the lines
// "user name rules..." of redis.conf, or the texts "name rules..." of the key user
// of a TOML file. The caller owns the slice.
func (c *Config) Users() []User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.users)
}

// userName is the statement of a file that defines users. It is no parameter: CONFIG
// GET does not show it.
const userName = "user"

// addUser takes the words of a definition. The caller holds c.mu.
func (c *Config) addUser(words []string, origin string) error {
	if len(words) == 0 {
		return fmt.Errorf("%s: %s: %w", origin, userName, errArguments)
	}
	if slices.ContainsFunc(c.users, func(u User) bool { return u.Name == words[0] }) {
		return fmt.Errorf("%s: user %q is defined a second time", origin, clip(words[0]))
	}
	c.users = append(c.users, User{words[0], words[1:], origin})
	return nil
}

// userTexts are the users as texts "name rules...".
func (c *Config) userTexts() []string {
	var texts []string
	for _, u := range c.Users() {
		texts = append(texts, strings.Join(append([]string{u.Name}, u.Rules...), " "))
	}
	return texts
}

// replaceUsers writes texts "name rules..." in the place of the users that a file
// defines, or behind the rest.
func (x fileSyntax) replaceUsers(old []byte, users []string) []byte {
	var out []byte
	lines := x.split(old)
	written := len(users) == 0
	for _, l := range lines {
		switch {
		case !strings.EqualFold(l.name, userName):
			out = append(out, l.text...)
		case !written:
			written = true
			out = append(out, x.users(users)...)
		}
	}
	if !written {
		out = append(marked(out), x.users(users)...)
	}
	return out
}

func confUsers(users []string) string {
	var b strings.Builder
	for _, text := range users {
		b.WriteString(userName)
		for word := range strings.FieldsSeq(text) {
			if strings.ContainsFunc(word, needsQuotes) {
				word = quote(word)
			}
			b.WriteString(" " + word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func tomlUsers(users []string) string {
	var b strings.Builder
	b.WriteString(userName + " = [\n")
	for _, text := range users {
		b.WriteString("  " + tomlQuote(text) + ",\n")
	}
	b.WriteString("]\n")
	return b.String()
}
