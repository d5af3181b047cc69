package main

import (
	"bytes"
	"errors"
	"strconv"
)

// counter counts replies without decoding them: the load has to be lighter than
// the servers. It keeps a few bytes between two reads, never a reply.
type counter struct {
	skip int    // bytes of a string still to come, line end included
	line []byte // the start of a line that was cut

	nulls    int64
	errors   int64
	firstErr string
}

// lineMax bounds what is kept of a line.
const lineMax = 4096

var errReply = errors.New("a reply that the load does not expect")

// count returns how many replies end in b. It knows lines, integers, errors,
// strings and nulls.
func (c *counter) count(b []byte) (replies int, err error) {
	for len(b) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			c.skip -= n
			b = b[n:]
			if c.skip == 0 {
				replies++
			}
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			if len(c.line)+len(b) > lineMax {
				return replies, errReply
			}
			c.line = append(c.line, b...)
			return replies, nil
		}
		line := b[:end]
		if len(c.line) > 0 {
			c.line = append(c.line, line...)
			line = c.line
		}
		b = b[end+1:]
		whole, err := c.header(line)
		if err != nil {
			return replies, err
		}
		if whole {
			replies++
		}
		c.line = c.line[:0]
	}
	return replies, nil
}

// header takes a line without its line feed; whole says that it is the reply.
func (c *counter) header(line []byte) (whole bool, err error) {
	if len(line) == 0 {
		return false, errReply
	}
	switch line[0] {
	case '+', ':':
		return true, nil
	case '_':
		c.nulls++
		return true, nil
	case '-':
		c.errors++
		if c.firstErr == "" {
			c.firstErr = string(bytes.TrimRight(line[1:], "\r"))
		}
		return true, nil
	case '$':
		size, ok := length(line[1:])
		if !ok {
			return false, errReply
		}
		if size < 0 {
			c.nulls++
			return true, nil
		}
		c.skip = size + 2
		return false, nil
	}
	return false, errReply
}

// length reads the number in front of a carriage return.
func length(digits []byte) (int, bool) {
	digits = bytes.TrimSuffix(digits, []byte("\r"))
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			n, err := strconv.Atoi(string(digits))
			return n, err == nil
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}
