package acl

import (
	"errors"
	"fmt"
	"strings"
)

// problemsMax is how many mistakes in a file are told.
const problemsMax = 50

// ParseFile reads the text of an ACL file: lines of the form "user name rules...",
// and empty ones. name is the file's, for the error, which tells all mistakes in
// one line; then there are no users.
func ParseFile(name, text string, d Defaults) ([]*User, error) {
	f := file{name: name, known: map[string]bool{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.Trim(line, " \t\r\n"); line != "" {
			f.line(number, words(line), d)
		}
	}
	if len(f.problems) > 0 {
		shown := f.problems[:min(len(f.problems), problemsMax)]
		return nil, errors.New(strings.Join(shown, " ") + " WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	return f.users, nil
}

// file is one ParseFile.
type file struct {
	name     string
	users    []*User
	known    map[string]bool
	problems []string
}

func (f *file) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

func (f *file) line(number int, words []string, d Defaults) {
	switch {
	case len(words) < 2 || words[0] != "user":
		f.problem("%s:%d should start with user keyword followed by the username.", f.name, number)
		return
	case !ValidName(words[1]):
		f.problem("'%s:%d: username '%s' contains invalid characters.", f.name, number, clip(words[1], quotedMax))
		return
	case f.known[words[1]]:
		f.problem("WARNING: Duplicate user '%s' found on line %d.", clip(words[1], quotedMax), number)
		return
	}
	f.known[words[1]] = true
	rules, err := mergeSelectors(words[2:])
	if err != nil {
		f.problem("%s:%d: Unmatched parenthesis in selector definition.", f.name, number)
		return
	}
	u := New(words[1], d)
	for _, rule := range rules {
		if err := u.apply(rule, d); err != nil {
			f.problem("%s:%d: %s.", f.name, number, err.Error())
		}
	}
	u.settle()
	f.users = append(f.users, u)
}

// AppendFile prints users as the text of an ACL file.
func AppendFile(b []byte, users []*User) []byte {
	for _, u := range users {
		b = append(u.Append(b), '\n')
	}
	return b
}
