package redisc

import (
	"errors"
	"slices"
	"sync"
)

// spread is a pipeline over the whole cluster, see [Cluster.SpreadPipelines].
type spread struct {
	mu     sync.Mutex
	queued []*request
	due    []result // of what was sent, in order
}

var errNothingDue = errors.New("redisc: no reply is due")

// send queues a request. Arguments may be changed by the caller afterwards, as with
// redigo, so bytes are copied.
func (s *spread) send(q *request) {
	q.args = slices.Clone(q.args)
	for i, a := range q.args {
		q.args[i] = slices.Clone(encode(a, true))
	}
	s.mu.Lock()
	s.queued = append(s.queued, q)
	s.mu.Unlock()
}

// flush sends what is queued and waits for the replies, by the timeout or context of q.
func (s *spread) flush(c *Conn, q *request) {
	s.mu.Lock()
	list := s.queued
	s.queued = nil
	s.mu.Unlock()
	if len(list) == 0 {
		return
	}
	for _, r := range list {
		r.ctx, r.timed, r.timeout = q.ctx, q.timed, q.timeout
	}
	c.mu.Lock()
	w := c.way
	c.mu.Unlock()
	results := c.cluster.run(list, w)
	s.mu.Lock()
	s.due = append(s.due, results...)
	s.mu.Unlock()
}

// receive gives the next reply that is due.
func (s *spread) receive(c *Conn, q *request) (any, error) {
	s.flush(c, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return nil, errNothingDue
	}
	r := s.due[0]
	s.due = s.due[1:]
	return r.unpack()
}

// do sends what is queued and the request, and gives the last reply with the first error,
// as redigo does; without a command all replies that are due.
func (s *spread) do(c *Conn, q *request) (any, error) {
	if q.cmd != "" {
		s.send(q)
	}
	s.flush(c, q)
	s.mu.Lock()
	due := s.due
	s.due = nil
	s.mu.Unlock()
	if q.cmd == "" {
		return all(due), nil
	}
	var err error
	for _, r := range due {
		if err == nil {
			err = r.err
		}
	}
	return due[len(due)-1].reply, err
}

// all gives replies as one, errors in the places of their replies; nil without any.
func all(due []result) any {
	if len(due) == 0 {
		return nil
	}
	list := make([]any, len(due))
	for i, r := range due {
		list[i] = r.reply
		if r.err != nil {
			list[i] = r.err
		}
	}
	return list
}
