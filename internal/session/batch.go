package session

import (
	"bytes"
	"errors"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/resp"
)

// BatchMax is how many commands of a pipeline run together.
const BatchMax = 32

// Command is one parsed request. Its arguments are views of the bytes that the
// driver fed and die with the batch.
type Command struct {
	// Args are the arguments, the name first; never empty.
	Args [][]byte
	// Spec is the row of the command table; nil: unknown.
	Spec *command.Spec

	end int // where the command ends in the bytes that the batch was parsed from
}

// ArgBytes is how many bytes the arguments have together.
func (c *Command) ArgBytes() (n int) {
	for _, a := range c.Args {
		n += len(a)
	}
	return n
}

// Executor runs batches. It belongs to one goroutine at a time.
type Executor interface {
	// Execute runs the batch's commands in order, appends one reply for each to
	// s.W, and returns how many it ran. It runs at least one, and stops early when
	// s.Closing is set or s.W holds [OutputHigh] bytes. Where [Session.Suspend] was
	// called it stops before that command, which may be the first, and where
	// [Session.Block] was, behind it.
	Execute(s *Session, b *Batch) int
	// GiveUp appends to s.W the reply of a command whose wait is over, see
	// [Session.Block]; false when an answer is about to come.
	GiveUp(s *Session) bool
}

// OutputHigh is how many reply bytes may gather, give or take one reply, before
// they are handed to the driver.
const OutputHigh = 256 << 10

// Batch is the working memory with which sessions are fed. One serves any
// number of sessions, one at a time.
type Batch struct {
	// Now is the time at which the batch was fed. The executor sets it to the time
	// at which it was done, if it knows.
	Now Instant
	// Ran counts the commands that were run since the batch was made.
	Ran uint64
	// Commands are those to run.
	Commands []Command

	arena  [][]byte
	inline []byte // a copy of the inline command, which its parsing changes
	exec   Executor
}

// Size is how many bytes the command with an index has taken.
func (b *Batch) Size(i int) int {
	if i == 0 {
		return b.Commands[0].end
	}
	return b.Commands[i].end - b.Commands[i-1].end
}

// NewBatch makes a Batch that runs commands by exec.
func NewBatch(exec Executor) *Batch {
	return &Batch{exec: exec, Commands: make([]Command, 0, BatchMax)}
}

// Feed runs the whole commands at the start of in and returns how many bytes
// they took; the driver keeps the rest. more says that whole commands may be
// among the rest: the driver writes the replies out and feeds again. Without it
// the driver feeds again when it has more bytes behind the rest, or, of a
// session that is suspended now, the same bytes when it may go on. Replies are
// appended to s.W. The bytes of in stay as they are.
func (b *Batch) Feed(s *Session, now Instant, in []byte) (consumed int, more bool) {
	b.Now = now
	if s.killed.Load() {
		s.Closing = true
		return len(in), false
	}
	if s.blocked == nil {
		s.resume()
	} else if !b.unblock(s) {
		return 0, false
	}
	s.lastMono.Store(now.Mono)
	defer b.release()
	for !s.Closing {
		n, err := b.parse(s, in[consumed:])
		if len(b.Commands) > 0 {
			ran := b.exec.Execute(s, b)
			b.Ran += uint64(ran)
			if s.suspended {
				s.reader.Reset()
				if ran > 0 {
					consumed += b.Commands[ran-1].end
				}
				return consumed, false
			}
			if ran < len(b.Commands) {
				s.reader.Reset() // it may have come further than what was run
				return consumed + b.Commands[ran-1].end, !s.Closing
			}
		}
		consumed += n
		switch {
		case errors.Is(err, resp.ErrIncomplete):
			return consumed, false
		case err != nil && !s.Closing:
			s.W.Error("ERR " + err.Error())
			s.Closing = true
		case len(s.W.B) >= OutputHigh:
			return consumed, true
		}
	}
	return consumed, false
}

// parse fills the batch. Before a client has authenticated it takes one command
// at a time, as each may change the limits for the next.
func (b *Batch) parse(s *Session, in []byte) (consumed int, err error) {
	b.Commands = b.Commands[:0]
	b.arena = b.arena[:0]
	limit := BatchMax
	if !s.Authenticated {
		limit = 1
	}
	for len(b.Commands) < limit {
		if consumed == len(in) {
			return consumed, resp.ErrIncomplete
		}
		from := in[consumed:]
		// Reading an inline command changes its bytes, but commands that are parsed
		// and not run are parsed again: so it is read from a copy, of which there is
		// one a batch.
		if from[0] != '*' {
			if len(b.Commands) > 0 {
				return consumed, nil
			}
			limit = 1
			if end := bytes.IndexByte(from, '\n'); end >= 0 {
				b.inline = append(b.inline[:0], from[:end+1]...)
				from = b.inline
			}
		}
		args, rest, n, err := s.reader.Next(from, b.arena)
		if err != nil {
			return consumed, err
		}
		consumed += n
		b.arena = rest
		if len(args) > 0 {
			b.Commands = append(b.Commands, Command{Args: args, Spec: command.Lookup(args[0]), end: consumed})
		}
	}
	return consumed, nil
}

// arenaKept is how many argument slots a batch keeps from one feed to the next.
const arenaKept = 4096

func (b *Batch) release() {
	b.Commands = b.Commands[:0]
	if cap(b.arena) > arenaKept {
		b.arena = nil
	}
}
