package client

import (
	"context"
	"errors"
)

// Pipeline is a list of commands that are sent together, each to its node, without
// waiting for one reply before the next command. It is not a transaction: others'
// commands may run between, and one that fails does not stop the rest. Commands for the
// same slot run in their order; between slots there is none.
//
// A pipeline is for one goroutine. After Exec it is empty and may be filled again.
type Pipeline struct {
	client *Client
	list   []*call // with those of earlier uses behind its end
	errs   []error // of list, for commands that could not be encoded
	batch  batch   // kept for its room
}

// Pipeline gives an empty pipeline.
func (c *Client) Pipeline() *Pipeline { return &Pipeline{client: c} }

// Do adds a command, with arguments as for [Client.Do]. Nothing of them is kept.
func (p *Pipeline) Do(args ...any) {
	q := p.next()
	p.added(q, q.encode(args))
}

// next gives the call for one more command.
func (p *Pipeline) next() *call {
	if n := len(p.list); n < cap(p.list) && p.list[:n+1][n] != nil {
		p.list = p.list[:n+1]
		q := p.list[n]
		q.spec, q.spans = unknownCommand, q.spans[:0]
		return q
	}
	q := newCall()
	q.spec = unknownCommand
	p.list = append(p.list, q)
	return q
}

func (p *Pipeline) added(q *call, err error) {
	if err != nil {
		q.slot = noSlot
	}
	p.errs = append(p.errs, err)
}

// Len returns the number of commands added since the last Exec.
func (p *Pipeline) Len() int { return len(p.list) }

// Exec sends the commands and gives the reply of each, in the order of Do. The error is
// that of the first reply that is an error, nil when all are well: nulls are. Replies
// of a node share memory in pieces of up to 16 KiB: keeping one may keep its neighbors.
func (p *Pipeline) Exec(ctx context.Context) ([]Reply, error) {
	b := &p.batch
	b.begin(p.client, len(p.list))
	for i, q := range p.list {
		if p.errs[i] != nil {
			b.fail(q, p.errs[i])
			continue
		}
		b.add(q)
	}
	out := b.run(ctx)
	b.end()
	for i, q := range p.list {
		if i >= callsKeepMax || cap(q.wire) > pipelineWireKeepMax {
			p.list[i] = nil
			q.release()
		}
	}
	p.list, p.errs = p.list[:0], p.errs[:0]
	return out, firstError(out)
}

const (
	// callsKeepMax is how many commands a pipeline keeps room for.
	callsKeepMax = 1024
	// pipelineWireKeepMax is the longest request, in bytes, whose room it keeps.
	pipelineWireKeepMax = 1024
)

func firstError(list []Reply) error {
	for i := range list {
		if list[i].err != nil {
			return list[i].err
		}
	}
	return nil
}

var errEmptyTx = errors.New("the transaction has no commands")
