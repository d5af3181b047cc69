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
	list   []*call
	errs   []error // of list, for commands that could not be encoded
}

// Pipeline gives an empty pipeline.
func (c *Client) Pipeline() *Pipeline { return &Pipeline{client: c} }

// Do adds a command, with arguments as for [Client.Do]. Nothing of them is kept.
func (p *Pipeline) Do(args ...any) {
	q := newCall()
	err := q.encode(args)
	if err != nil {
		q.spec, q.slot = unknownCommand, noSlot
	}
	p.list, p.errs = append(p.list, q), append(p.errs, err)
}

// Len returns the number of commands added since the last Exec.
func (p *Pipeline) Len() int { return len(p.list) }

// Exec sends the commands and gives the reply of each, in the order of Do. The error is
// that of the first reply that is an error, nil when all are well: nulls are.
func (p *Pipeline) Exec(ctx context.Context) ([]Reply, error) {
	b := batch{client: p.client}
	if len(p.list) > 0 {
		b.items, b.calls = make([]item, 0, len(p.list)), make([]*call, 0, len(p.list))
	}
	for i, q := range p.list {
		if p.errs[i] != nil {
			b.items = append(b.items, item{q: q, err: p.errs[i]})
			continue
		}
		b.add(q)
	}
	out := b.run(ctx)
	for _, q := range p.list {
		q.release()
	}
	p.list, p.errs = p.list[:0], p.errs[:0]
	return out, firstError(out)
}

func firstError(list []Reply) error {
	for i := range list {
		if list[i].err != nil {
			return list[i].err
		}
	}
	return nil
}

var errEmptyTx = errors.New("the transaction has no commands")
