package client

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
)

// Script is a Lua script, sent by its hash where the server knows it already. It is
// safe for concurrent use.
type Script struct {
	source string
	hash   string
}

// NewScript gives the script of a source.
func NewScript(source string) *Script {
	sum := sha1.Sum([]byte(source))
	return &Script{source, hex.EncodeToString(sum[:])}
}

// Hash returns the name that EVALSHA knows the script by.
func (s *Script) Hash() string { return s.hash }

// Run executes the script with EVALSHA, and with EVAL at the same node when that does
// not know it. The keys must be in one slot of a cluster.
func (s *Script) Run(ctx context.Context, c *Client, keys []string, args ...any) Reply {
	r := s.run(ctx, c, "EVALSHA", s.hash, keys, args)
	if r.err != nil && code(&r.v) == "NOSCRIPT" {
		return s.run(ctx, c, "EVAL", s.source, keys, args)
	}
	return r
}

func (s *Script) run(ctx context.Context, c *Client, command, body string, keys []string, args []any) Reply {
	q := newCall()
	defer q.release()
	if err := q.encodeScript(s, command, body, keys, args); err != nil {
		return Reply{err: &Error{Command: command, Slot: noSlot, Err: err}}
	}
	return c.do(ctx, q)
}

func (q *call) encodeScript(s *Script, command, body string, keys []string, args []any) error {
	n, err := countArgs(args)
	if err != nil {
		return err
	}
	q.begin(3 + len(keys) + n)
	q.text(command)
	q.text(body)
	q.int(int64(len(keys)))
	for _, key := range keys {
		q.text(key)
	}
	for _, a := range args {
		q.add(a)
	}
	q.settle()
	q.script = s
	return nil
}

// Script adds a script to the pipeline. Its source is sent, unless the connection that
// it goes on has shown that the node knows the script: commands behind it would
// overtake a script that must be sent again. When somebody else made the node forget
// its scripts, the error is NOSCRIPT if a later command of the slot was executed, and
// the script was not.
func (p *Pipeline) Script(s *Script, keys []string, args ...any) {
	q := p.next()
	p.added(q, q.encodeScript(s, "EVAL", s.source, keys, args))
}

// Script adds a script to the transaction, with its source, unless the connection has
// shown that the node knows it. When somebody else made the node forget its scripts,
// the reply is NOSCRIPT, the script was not executed, and the other commands were.
func (t *Tx) Script(s *Script, keys []string, args ...any) {
	q := newCall()
	if err := q.encodeScript(s, "EVAL", s.source, keys, args); err != nil {
		q.release()
		if t.err == nil {
			t.err = &Error{Command: "EVAL", Slot: noSlot, Err: err}
		}
		return
	}
	t.list = append(t.list, q)
}
