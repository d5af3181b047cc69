package redisc

import (
	"fmt"

	"github.com/gomodule/redigo/redis"
)

// divisible are the commands that may be split by slot, with the number of arguments
// that go with each key, itself included.
var divisible = map[string]int{"MGET": 1, "MSET": 2, "DEL": 1, "EXISTS": 1, "UNLINK": 1, "TOUCH": 1}

// stride is how many arguments go with each key of a command that may be split; 0: it is
// none of them, or its arguments are wrong.
func (q *request) stride() int {
	step := divisible[q.name()]
	if step == 0 || len(q.args)%step != 0 {
		return 0
	}
	return step
}

// splits reports whether the request may be split and has keys in several slots.
func (q *request) splits() bool {
	step := q.stride()
	if step == 0 {
		return false
	}
	first := q.slot()
	for i := step; i < len(q.args); i += step {
		if keySlot(q.args[i]) != first {
			return true
		}
	}
	return false
}

func keySlot(key any) int { return Slot(string(encode(key, true))) }

// part is the share of a request in one slot.
type part struct {
	request
	slot int
	keys []int // which keys of the whole these are
}

// split makes one part a slot, in the order of their first keys. Keys keep their order
// in each, so of a key that MSET names twice the last value wins.
func (q *request) split() []*part {
	step := q.stride()
	var parts []*part
	bySlot := map[int]*part{}
	for i := 0; i < len(q.args); i += step {
		at := keySlot(q.args[i])
		p := bySlot[at]
		if p == nil {
			p = &part{request: request{ctx: q.ctx, timed: q.timed, timeout: q.timeout, cmd: q.cmd}, slot: at}
			bySlot[at] = p
			parts = append(parts, p)
		}
		p.args = append(p.args, q.args[i:i+step]...)
		p.keys = append(p.keys, i/step)
	}
	return parts
}

// result is a reply, or why there is none.
type result struct {
	reply any
	err   error
}

func (r result) unpack() (any, error) { return r.reply, r.err }

// merge makes one result of those of all parts. The first error is that of the whole.
func (q *request) merge(parts []*part, results []result) result {
	for _, r := range results {
		if r.err != nil {
			return r
		}
	}
	switch q.name() {
	case "MSET":
		return results[0]
	case "MGET":
		return q.mergeValues(parts, results)
	}
	sum := int64(0)
	for _, r := range results {
		n, err := redis.Int64(r.reply, nil)
		if err != nil {
			return result{err: fmt.Errorf("redisc: read the reply of a part of %s: %w", q.cmd, err)}
		}
		sum += n
	}
	return result{reply: sum}
}

func (q *request) mergeValues(parts []*part, results []result) result {
	all := make([]any, len(q.args))
	for i, r := range results {
		values, err := redis.Values(r.reply, nil)
		if err != nil || len(values) != len(parts[i].keys) {
			return result{err: fmt.Errorf("redisc: the reply of a part of %s has not one value for each key", q.cmd)}
		}
		for j, at := range parts[i].keys {
			all[at] = values[j]
		}
	}
	return result{reply: all}
}
