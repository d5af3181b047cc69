package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Bounds of configuration files.
const (
	fileMax    = 1 << 20 // bytes of a file
	includeMax = 16      // how deep files may include files
	filesMax   = 64      // files in all
)

// LoadFile reads a file: TOML when its name ends in ".toml", else the syntax of
// redis.conf. It stops at the first line that does not fit; the error names
// file and line.
//
// In TOML the keys are the names of the parameters, all at the top level, and
// an array stands for several words. In redis.conf a line is a name and its
// values, '#' begins a line that is a comment, and "include" reads another
// file, whose relative path starts at the directory of the file it stands in.
// Both define users too, see [Config.Users].
func (c *Config) LoadFile(path string, read ReadFile) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := loader{c: c, read: read}
	return l.file(path, 0)
}

// loader is one LoadFile.
type loader struct {
	c      *Config
	read   ReadFile
	files  int
	source source
}

func (l *loader) file(path string, depth int) error {
	if l.files++; l.files > filesMax {
		return fmt.Errorf("%s: more than %d files", path, filesMax)
	}
	if depth > includeMax {
		return fmt.Errorf("%s: included more than %d deep", path, includeMax)
	}
	text, err := l.read(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if len(text) > fileMax {
		return fmt.Errorf("%s: longer than %d bytes", path, fileMax)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // some editors' mark of UTF-8
	if strings.HasSuffix(path, ".toml") {
		return l.toml(path, text)
	}
	return l.conf(path, text, depth)
}

// conf reads the syntax of redis.conf.
func (l *loader) conf(path string, text []byte, depth int) error {
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		origin := fmt.Sprintf("%s:%d", path, number)
		words, err := splitLine(line)
		if err != nil {
			return fmt.Errorf("%s: %w", origin, err)
		}
		if err := l.statement(path, origin, words, depth); err != nil {
			return err
		}
	}
	return nil
}

// refused are statements of redis.conf that are no parameters.
var refused = map[string]string{
	"rename-command": "commands cannot be renamed; use ACL rules to forbid them",
	"loadmodule":     "modules cannot be loaded",
}

func (l *loader) statement(path, origin string, words []string, depth int) error {
	name := strings.ToLower(words[0])
	if reason, ok := refused[name]; ok {
		return fmt.Errorf("%s: %s: %s", origin, name, reason)
	}
	if name == userName {
		return l.c.addUser(words[1:], origin)
	}
	if name != "include" {
		return l.c.load(name, words[1:], origin, &l.source)
	}
	if len(words) != 2 {
		return fmt.Errorf("%s: include: %w", origin, errArguments)
	}
	if strings.ContainsAny(words[1], "*?[") {
		return fmt.Errorf("%s: include: patterns are not supported, name each file", origin)
	}
	next := words[1]
	if !filepath.IsAbs(next) {
		next = filepath.Join(filepath.Dir(path), next)
	}
	if err := l.file(next, depth+1); err != nil {
		return fmt.Errorf("%s: include: %w", origin, err)
	}
	return nil
}

var errQuotes = errors.New("unbalanced quotes")

// splitLine takes a line apart at spaces. "..." may hold spaces and escapes
// (\n \r \t \a \b \xFF), '...' spaces and \'; a quote ends at a space or the
// end of the line. The line is not empty and does not begin with a space.
func splitLine(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		word, rest, err := nextWord(line)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
		line = rest
	}
	return words, nil
}

func nextWord(line string) (word, rest string, err error) {
	var b strings.Builder
	for line != "" && line[0] != ' ' && line[0] != '\t' {
		quote := line[0]
		if quote != '"' && quote != '\'' {
			b.WriteByte(quote)
			line = line[1:]
			continue
		}
		if line, err = quoted(&b, line[1:], quote); err != nil {
			return "", "", err
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return "", "", errQuotes
		}
	}
	return b.String(), line, nil
}

// quoted writes what stands before the closing quote and returns what stands
// after it.
func quoted(b *strings.Builder, line string, quote byte) (rest string, err error) {
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			return line[i+1:], nil
		case c == '\\' && quote == '"' && i+1 < len(line):
			n := escape(b, line[i+1:])
			i += n
		case c == '\\' && quote == '\'' && strings.HasPrefix(line[i+1:], "'"):
			b.WriteByte('\'')
			i++
		default:
			b.WriteByte(c)
		}
	}
	return "", errQuotes
}

// escape writes the byte that s, the text after a backslash, stands for, and
// returns how many bytes of s that took.
func escape(b *strings.Builder, s string) int {
	if s[0] == 'x' && len(s) >= 3 {
		high, ok1 := hexDigit(s[1])
		low, ok2 := hexDigit(s[2])
		if ok1 && ok2 {
			b.WriteByte(high<<4 | low)
			return 3
		}
	}
	c := s[0]
	if i := strings.IndexByte("nrtab", c); i >= 0 {
		c = "\n\r\t\a\b"[i]
	}
	b.WriteByte(c)
	return 1
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
