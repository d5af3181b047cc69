package session

import "sync/atomic"

// Transaction is what a connection gathers between MULTI and EXEC.
type Transaction struct {
	// Commands are copies: the arguments outlive the batch they came in.
	Commands []Command
	// Failed: a command could not be queued, so that EXEC refuses all.
	Failed bool
	// Bytes is about the memory of the commands; drivers count it as a part of the
	// request.
	Bytes int
}

// What a queued command takes besides the bytes of its arguments.
const (
	queuedCommandBytes  = 64
	queuedArgumentBytes = 24
)

// Begin starts a transaction.
func (s *Session) Begin() {
	s.Transaction = &Transaction{}
	s.update(func(v *view) { v.queued = 0 })
}

// End ends it, if there is one.
func (s *Session) End() {
	if s.Transaction != nil {
		s.Transaction = nil
		s.update(func(v *view) { v.queued = -1 })
	}
}

// Queue adds a copy of a command to the transaction.
func (s *Session) Queue(c *Command) {
	t := s.Transaction
	s.update(func(v *view) { v.queued++ })
	size := c.ArgBytes()
	block := make([]byte, 0, size)
	args := make([][]byte, len(c.Args))
	for i, a := range c.Args {
		at := len(block)
		block = append(block, a...)
		args[i] = block[at:len(block):len(block)]
	}
	t.Commands = append(t.Commands, Command{Args: args, Spec: c.Spec})
	t.Bytes += size + queuedCommandBytes + len(args)*queuedArgumentBytes
}

// WatchedKey is a key that WATCH named.
type WatchedKey struct {
	DB   int
	Name string
	// Existed: the key was there when it was watched.
	Existed bool
}

// Watch is what a connection watches.
type Watch struct {
	// Keys are the watched keys, none twice. Owned by the session's driver.
	Keys []WatchedKey
	// Dirty: one of them has changed since. Set under the stripe lock of the
	// changed key, from any goroutine; EXEC reads it with all its keys locked.
	Dirty atomic.Bool
}
