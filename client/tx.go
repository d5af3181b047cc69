package client

import (
	"context"
	"fmt"

	"github.com/bowline-kv/bowline/resp"
)

var (
	multiWire = resp.AppendCommandStrings(nil, "MULTI")
	execWire  = resp.AppendCommandStrings(nil, "EXEC")
)

// Tx is a list of commands that a server executes as one, between MULTI and EXEC: all
// or, when one is refused before, none. All keys must be in one slot of a cluster.
//
// A transaction is for one goroutine. After Exec it is empty and may be filled again.
type Tx struct {
	client *Client
	conn   *Conn // on which it runs, nil: on a shared one
	list   []*call
	err    error // of the first command that cannot be part of it
}

// Tx gives an empty transaction.
func (c *Client) Tx() *Tx { return &Tx{client: c} }

// Do adds a command, with arguments as for [Client.Do].
func (t *Tx) Do(args ...any) {
	q := newCall()
	err := q.encode(args)
	switch {
	case err != nil:
		err = explain(q, "", err)
	case q.spec.flags&flagOwn != 0:
		err = explain(q, "", ErrNotShared)
	}
	if err != nil {
		q.release()
		if t.err == nil {
			t.err = err
		}
		return
	}
	t.list = append(t.list, q)
}

// Len returns the number of commands added since the last Exec.
func (t *Tx) Len() int { return len(t.list) }

// Exec runs the transaction and gives the reply of each command, in the order of Do.
// A redirection sends the whole of it to the other node. The error is [ErrAborted] when
// a watched key changed, [ErrCrossSlot] when keys span slots, [ErrMaybeExecuted] when
// the outcome is unknown, or else that of the first reply that is an error: the other
// commands were executed all the same.
func (t *Tx) Exec(ctx context.Context) ([]Reply, error) {
	q := &call{spec: unknownCommand, slot: noSlot, parts: t.list}
	err := t.err
	t.list, t.err = nil, nil
	defer func() {
		for _, p := range q.parts {
			p.release()
		}
	}()
	if err == nil {
		err = t.settle(q)
	}
	if err != nil {
		return nil, err
	}
	var r Reply
	addr := ""
	if t.conn != nil {
		r, addr = t.conn.do(ctx, q), t.conn.node.addr
	} else {
		trip := trip{core: t.client.core, q: q}
		if err := ctx.Err(); err != nil {
			return nil, explain(q, "", err)
		}
		r = trip.run(ctx)
		if trip.home != nil {
			addr = trip.home.addr
		}
	}
	return q.results(addr, r)
}

// settle finds the slot of a transaction.
func (t *Tx) settle(q *call) error {
	if len(q.parts) == 0 {
		return explain(q, "", errEmptyTx)
	}
	standalone := t.client.core.top.Load().standalone
	for _, p := range q.parts {
		switch {
		case p.slot == noSlot:
		case standalone:
			q.slot = noSlot
		case p.slot == crossSlot || q.slot != noSlot && q.slot != p.slot:
			return explain(p, "", ErrCrossSlot)
		default:
			q.slot = p.slot
		}
	}
	return nil
}

// results splits the reply of EXEC, given by the node at addr.
func (q *call) results(addr string, r Reply) ([]Reply, error) {
	switch {
	case r.err != nil:
		return nil, r.err
	case r.v.IsNull():
		return nil, explain(q, addr, ErrAborted)
	case len(r.v.Elems) != len(q.parts):
		return nil, explain(q, addr, fmt.Errorf("EXEC answered %d replies to %d commands", len(r.v.Elems), len(q.parts)))
	}
	out := make([]Reply, len(q.parts))
	for i := range out {
		out[i] = elem(&r.v.Elems[i])
		if out[i].err != nil {
			out[i].err = explain(q.parts[i], addr, out[i].err)
		}
	}
	return out, firstError(out)
}

// abortCause gives what stands behind a failed EXEC: of the replies to MULTI and the
// commands the first that says where the transaction should have gone, else the first
// error, else that of EXEC itself.
func abortCause(replies []Reply) Reply {
	exec := replies[len(replies)-1]
	if code(&exec.v) != "EXECABORT" {
		return exec
	}
	cause := exec
	for i := len(replies) - 2; i >= 0; i-- {
		v := &replies[i].v
		switch code(v) {
		case "":
		case "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "LOADING", "MASTERDOWN":
			return replies[i]
		default:
			cause = replies[i]
		}
	}
	return cause
}
