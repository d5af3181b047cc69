package redisc

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// request is a command as the caller gave it.
type request struct {
	ctx     context.Context // nil: none was given
	timed   bool            // timeout counts in place of the connection's own
	timeout time.Duration

	cmd  string
	args []any
}

// on sends the request on a connection and waits for its reply.
func (q *request) on(rc redis.Conn) (any, error) {
	switch {
	case q.ctx != nil:
		return redis.DoContext(rc, q.ctx, q.cmd, q.args...)
	case q.timed:
		return redis.DoWithTimeout(rc, q.timeout, q.cmd, q.args...)
	}
	return rc.Do(q.cmd, q.args...)
}

// tolerant is on for connections that know no context, as CreatePool may make them: they
// get the request without.
func (q *request) tolerant(rc redis.Conn) (any, error) {
	if q.ctx == nil || q.ctx.Done() == nil {
		return rc.Do(q.cmd, q.args...)
	}
	v, err := redis.DoContext(rc, q.ctx, q.cmd, q.args...)
	if err == errNoContext {
		return rc.Do(q.cmd, q.args...)
	}
	return v, err
}

// receive waits for the next reply of a connection.
func (q *request) receive(rc redis.Conn) (any, error) {
	switch {
	case q.ctx != nil:
		return redis.ReceiveContext(rc, q.ctx)
	case q.timed:
		return redis.ReceiveWithTimeout(rc, q.timeout)
	}
	return rc.Receive()
}

// context is that of the caller.
func (q *request) context() context.Context {
	if q.ctx != nil {
		return q.ctx
	}
	return context.Background()
}

// slot is that of the first argument, -1 without one.
func (q *request) slot() int {
	if len(q.args) == 0 {
		return -1
	}
	return Slot(string(encode(q.args[0], true)))
}

func (q *request) name() string { return strings.ToUpper(q.cmd) }

// encode gives the bytes that redigo sends for an argument.
func encode(arg any, resolve bool) []byte {
	switch arg := arg.(type) {
	case string:
		return []byte(arg)
	case []byte:
		return arg
	case float64:
		return strconv.AppendFloat(nil, arg, 'g', -1, 64)
	case bool:
		if arg {
			return []byte("1")
		}
		return []byte("0")
	case nil:
		return nil
	case redis.Argument:
		if resolve {
			return encode(arg.RedisArg(), false)
		}
	}
	return fmt.Append(nil, arg)
}

// errNoContext is what redigo answers for a connection that knows no context. It does not
// export it, so we ask a connection that knows none.
var _, errNoContext = redis.DoContext(struct{ redis.Conn }{}, context.Background(), "")
