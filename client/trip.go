package client

import (
	"context"
	"errors"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

const (
	redirectsMax  = 3
	tryAgainMax   = 7
	tryAgainFirst = 5 * time.Millisecond
	missesMax     = 3 // more are not bad luck: the map may be wrong
	backoffFirst  = 10 * time.Millisecond
	backoffMax    = 80 * time.Millisecond
)

// trip is the way of one command to its reply, over redirections and failures.
//
//	map -> node -> reply
//	 ^       ^------ MOVED, ASK (at most three), TRYAGAIN (at most seven)
//	 '-------------- nothing was sent, the cluster is down, the primary is none
type trip struct {
	core  *core
	q     *call
	route Route

	to     *node // where a redirection leads, nil: where the map says
	asking bool

	redirects int // MOVED and ASK
	moves     int // MOVED alone
	tryAgains int
	waits     int
	misses    int       // connections that were gone before anything was written
	reread    bool      // with RetryReads: it was sent a second time
	overtaken bool      // of a pipeline: later commands of its slot may have run
	sourced   bool      // the source of a script was sent for its hash
	waited    bool      // of a pipeline: since its TRYAGAIN an earlier command waited
	limit     time.Time // for waiting; zero: not begun
	doubt     error     // why the last reload of the map failed
	astray    error     // why the node that a redirection named could not be reached

	home *node // where it was executed
	lane bool  // with home, as in outcome
}

// outcome is what came of sending a command once.
type outcome struct {
	node  *node
	lane  bool // it went on a connection that was told READONLY
	reply Reply
	err   error // why there is no reply
	sent  bool  // with err: the server may have got it
}

// run sends the command until its fate is known.
func (t *trip) run(ctx context.Context) Reply { return t.from(ctx, t.send(ctx)) }

// from goes on after a first outcome.
func (t *trip) from(ctx context.Context, o outcome) Reply {
	for {
		if o.err == nil && !o.reply.v.IsError() {
			t.home, t.lane = o.node, o.lane
			return o.reply
		}
		r, again := t.judge(ctx, &o)
		if !again {
			return r
		}
		t.overtaken = false // else it would not be sent again
		o = t.send(ctx)
	}
}

// send makes one attempt.
func (t *trip) send(ctx context.Context) outcome {
	n, lane := t.to, false
	if n == nil {
		if n, lane = t.core.pick(t.q, t.route); n == nil {
			return outcome{err: errUncovered}
		}
	}
	o := outcome{node: n, lane: lane}
	if t.q.blocks() {
		t.sendAlone(ctx, &o)
		return o
	}
	cn, err := n.lane(lane).conn(ctx, t.q.slot)
	if err != nil {
		o.err = err
		return o
	}
	t.core.callers.Add(1)
	defer t.core.callers.Add(-1)
	f := t.core.flightFor(t.q)
	f.able, f.waiting = ctx.Done() == nil, true
	if o.err = cn.send(f, t.asking, t.q); o.err != nil {
		return o
	}
	o.arrive(ctx, cn, t.q, f)
	return o
}

var errUncovered = errors.New("no node serves the slot")

// sendAlone sends a command that may block, on a connection that nobody shares.
func (t *trip) sendAlone(ctx context.Context, o *outcome) {
	cn, err := o.node.borrow(ctx, o.lane)
	if err != nil {
		o.err = err
		return
	}
	f := t.core.flightFor(t.q)
	if o.err = cn.send(f, t.asking, t.q); o.err != nil {
		o.node.giveBack(cn, o.lane, false)
		return
	}
	o.arrive(ctx, cn, t.q, f)
	o.node.giveBack(cn, o.lane, o.err == nil)
}

// arrive waits for the end of a flight.
func (o *outcome) arrive(ctx context.Context, cn *conn, q *call, f *flight) {
	if o.err = cn.await(ctx, f); o.err != nil {
		o.sent = true
		return
	}
	o.take(cn, q, f)
	o.node.core.flight.release(f)
}

// flightFor gives the flight for a call's replies.
func (c *core) flightFor(q *call) *flight {
	if q.parts == nil {
		return c.flight.single()
	}
	return c.flight.of(len(q.parts) + 2)
}

// take reads the outcome out of a flight that is done.
func (o *outcome) take(cn *conn, q *call, f *flight) {
	if f.err != nil {
		// A request of which a part is missing was not executed.
		o.failed(f.err, f.sent == f.end-f.start)
		return
	}
	o.reply = f.out[len(f.out)-1]
	cn.known.learn(q, &o.reply.v)
	if q.parts != nil && o.reply.v.IsError() {
		o.reply = abortCause(f.out)
	}
}

// failed notes that a connection ended; sent says that it took the whole request.
func (o *outcome) failed(err error, sent bool) {
	if o.err, o.sent = err, sent; !sent {
		o.err = join(errUnsent, err)
	}
}

// judge decides what follows from an outcome without a good reply: another attempt, or
// the final reply.
func (t *trip) judge(ctx context.Context, o *outcome) (r Reply, again bool) {
	if o.err != nil {
		return t.judgeFailure(ctx, o)
	}
	v := &o.reply.v
	switch code(v) {
	case "MOVED", "ASK":
		return t.redirect(ctx, o)
	case "TRYAGAIN":
		t.core.tell(Event{Kind: EventTryAgain, Addr: o.node.addr, Slot: t.q.slot})
		if t.tryAgains < tryAgainMax || t.waited {
			wait := tryAgainFirst << t.tryAgains
			if t.waited {
				wait, t.waited = 0, false
			} else {
				t.tryAgains++
			}
			if !o.lane {
				t.to = o.node // with ASKING again, when it was sent with it
			}
			if err := pause(ctx, wait); err != nil {
				return t.fail(o, join(err, v.Err())), false
			}
			return r, true
		}
	case "CLUSTERDOWN", "READONLY", "UNBLOCKED":
		if !t.core.fixed() {
			t.forget()
			return t.reload(ctx, o, v.Err())
		}
	case "NOSCRIPT": // somebody flushed the scripts: the connection knows it no more
		if t.q.hashed > 0 && !t.overtaken && !t.sourced {
			t.sourced = true
			return r, true
		}
	case "LOADING", "MASTERDOWN":
		t.forget()
		o.node.passOver()
		return t.backoff(ctx, o, v.Err())
	}
	return t.fail(o, v.Err()), false
}

// forget makes the map decide again.
func (t *trip) forget() { t.to, t.asking = nil, false }

func (t *trip) judgeFailure(ctx context.Context, o *outcome) (r Reply, again bool) {
	switch {
	case o.sent:
		if t.core.opt.RetryReads && t.q.readonly() && !t.reread && ctx.Err() == nil {
			t.reread = true
			t.forget()
			return r, true
		}
		return t.fail(o, maybe(o.err)), false
	case ctx.Err() != nil:
		return t.fail(o, ctx.Err()), false
	case errors.Is(o.err, ErrClosed):
		return t.fail(o, o.err), false
	case errors.Is(o.err, errBacklog):
		return t.backoff(ctx, o, o.err)
	case t.missed(o):
		t.misses++
		t.forget()
		return r, true
	case t.core.opt.NoReconnect && o.node != nil:
		return t.fail(o, join(ErrNoNode, o.err)), false
	}
	if t.to != nil {
		t.astray = o.err
	}
	t.forget()
	if t.core.fixed() {
		return t.redial(ctx, o)
	}
	return t.reload(ctx, o, join(ErrNoNode, o.err))
}

// missed reports whether a connection had ended before anything was written, and another
// is worth a try.
func (t *trip) missed(o *outcome) bool {
	return (errors.Is(o.err, errRetired) || errors.Is(o.err, errUnsent)) && !o.sent && t.misses < missesMax
}

// fixed reports whether there is one server and nobody to ask for another.
func (c *core) fixed() bool { return c.top.Load().standalone && c.opt.SentinelName == "" }

// redirect follows a MOVED or an ASK without delay.
func (t *trip) redirect(ctx context.Context, o *outcome) (r Reply, again bool) {
	v := &o.reply.v
	to, ok := parseRedirect(v, o.node.addr)
	switch {
	case t.redirects == redirectsMax:
		return t.fail(o, join(ErrMaxRedirects, v.Err(), t.astray)), false
	case !ok && t.core.fixed():
		return t.fail(o, v.Err()), false
	case !ok: // it names nobody: only the map can help
		t.forget()
		return t.reload(ctx, o, v.Err())
	}
	t.redirects++
	t.to, t.asking = t.core.follow(o, to, t.moves > 0), to.ask
	if !to.ask {
		t.moves++
	}
	return r, true
}

// follow takes note of a redirection and gives the node that it names. again says that
// the command was MOVED before, so the map is wrong in more than one place.
func (c *core) follow(o *outcome, to redirection, again bool) *node {
	n, known := c.nodeAt(to.addr)
	if to.ask {
		c.tell(Event{Kind: EventAsk, Addr: n.addr, Slot: to.slot})
		return n
	}
	c.tell(Event{Kind: EventMoved, Addr: n.addr, Slot: to.slot})
	switch {
	case n == o.node && o.lane: // a replica that became the primary
		c.moved(to.slot, n)
	case n == o.node:
		n.primary.replaceConn(to.slot)
	default:
		c.moved(to.slot, n)
	}
	if !known || again || c.opt.ReloadOnMoved {
		c.reloadSoon()
	}
	return n
}

// reload waits for a new map; then the command is sent again. cause is why the map is
// in doubt.
func (t *trip) reload(ctx context.Context, o *outcome, cause error) (r Reply, again bool) {
	waiting, cancel := t.bounded(ctx)
	defer cancel()
	err := t.core.reload(waiting)
	switch {
	case waiting.Err() != nil:
		return t.fail(o, join(ctx.Err(), cause, t.doubt)), false
	case errors.Is(err, ErrClosed):
		return t.fail(o, err), false
	}
	t.doubt = err
	return r, true
}

// backoff waits for a server that will soon be ready, or for room on the way to it.
func (t *trip) backoff(ctx context.Context, o *outcome, cause error) (r Reply, again bool) {
	wait := min(backoffFirst<<min(t.waits, 10), backoffMax)
	if t.waits == 0 && o.lane {
		wait = 0 // another replica may be ready now
	}
	t.waits++
	waiting, cancel := t.bounded(ctx)
	defer cancel()
	if pause(waiting, wait) != nil {
		return t.fail(o, join(ctx.Err(), cause)), false
	}
	if t.waits > 2 && o.err == nil {
		t.core.reloadSoon()
	}
	return r, true
}

// redial waits before the next attempt to connect to the one server there is.
func (t *trip) redial(ctx context.Context, o *outcome) (r Reply, again bool) {
	t.waits++
	cause := join(ErrNoNode, o.err)
	if t.waits >= t.core.opt.DialAttempts {
		return t.fail(o, cause), false
	}
	if err := pause(ctx, t.core.opt.DialBackoff<<min(t.waits-1, 10)); err != nil {
		return t.fail(o, join(err, cause)), false
	}
	return r, true
}

// bounded gives a context that ends with the caller's deadline, else RetryTimeout
// after the command began to wait.
func (t *trip) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	if t.limit.IsZero() {
		t.limit = time.Now().Add(t.core.opt.RetryTimeout)
	}
	return context.WithDeadline(ctx, t.limit)
}

// fail makes the final error.
func (t *trip) fail(o *outcome, cause error) Reply {
	addr := ""
	if o.node != nil {
		addr = o.node.addr
	}
	err := explain(t.q, addr, cause)
	var server *resp.Error
	if !errors.As(err, &server) || o.err != nil {
		t.core.tell(Event{Kind: EventFailure, Addr: addr, Slot: max(t.q.slot, noSlot), Err: err})
	}
	return Reply{v: o.reply.v, err: err}
}
