package client

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/bowline-kv/bowline/resp"
)

// call is one request on its way, encoded. It is used by one goroutine and goes back
// to the pool when its reply is known; no connection keeps a part of it.
type call struct {
	wire  []byte // the request, as it is sent
	spans []span // where its arguments are in wire
	spec  *spec
	slot  int // noSlot without keys

	// elems is room for the elements of a reply made of several. With lends the caller
	// has done with the reply before release, else it is not used.
	elems []resp.Value
	lends bool

	// parts are the commands of a transaction, which goes between MULTI and EXEC.
	parts []*call

	script *Script // what EVAL or EVALSHA runs; nil: not known
	// Set when it is sent, for commands about scripts:

	hashed  int    // the length of the request when it went as EVALSHA instead, else 0
	flushes uint64 // those of the client's scripts until then
}

type span struct{ from, to int }

// arguments are those of an encoded request, its name first.
type arguments struct {
	wire  []byte
	spans []span
}

func (a arguments) len() int { return len(a.spans) }

func (a arguments) at(i int) []byte { return a.wire[a.spans[i].from:a.spans[i].to] }

// size is the length of the request as it was sent, in bytes.
func (q *call) size() int {
	if q.hashed > 0 {
		return q.hashed
	}
	return len(q.wire)
}

func (q *call) args() arguments { return arguments{q.wire, q.spans} }

// name is the command as it is shown in errors.
func (q *call) name() string {
	switch {
	case q.parts != nil:
		return "MULTI"
	case q.spec != nil && q.spec.name != "":
		return q.spec.name
	case len(q.spans) > 0:
		name := q.args().at(0)
		return strconv.Quote(string(name[:min(len(name), nameMax)]))
	}
	return "command"
}

func (q *call) readonly() bool { return q.parts == nil && q.spec.flags&flagReadonly != 0 }

// oneKey reports whether the request has no second key.
func (q *call) oneKey() bool {
	n := 0
	q.spec.keyPositions(q.args(), func(int) bool {
		n++
		return n < 2
	})
	return n < 2
}

// blocks reports whether the server may let the request wait.
func (q *call) blocks() bool {
	if q.parts != nil || q.spec.flags&flagBlocking == 0 {
		return false
	}
	if q.spec.name != "XREAD" && q.spec.name != "XREADGROUP" {
		return true
	}
	args := q.args()
	for i := 1; i < args.len(); i++ {
		switch a := args.at(i); {
		case isWord(a, "BLOCK"):
			return true
		case isWord(a, "STREAMS"):
			return false
		}
	}
	return false
}

var callPool = sync.Pool{New: func() any { return new(call) }}

// wireKeepMax is the longest request whose buffer is kept for the next one, in bytes.
const wireKeepMax = 64 << 10

func newCall() *call { return callPool.Get().(*call) }

func (q *call) release() {
	if cap(q.wire) > wireKeepMax || cap(q.spans) > wireKeepMax/16 || cap(q.elems) > splitKeysKeepMax {
		return
	}
	for _, p := range q.parts {
		p.release()
	}
	clear(q.elems)
	*q = call{wire: q.wire[:0], spans: q.spans[:0], elems: q.elems[:0]}
	callPool.Put(q)
}

// encode makes the request and finds out where it belongs. A request whose keys are
// in several slots has crossSlot for its slot.
func (q *call) encode(args []any, more ...any) error {
	n, err := countArgs(args)
	m := 0
	if err == nil {
		m, err = countArgsAfter(len(args), more)
	}
	if err == nil && n == 0 {
		err = errNoCommand
	}
	if err != nil {
		q.nameOnly(args)
		return err
	}
	q.begin(n + m)
	for _, a := range args {
		q.add(a)
	}
	for _, a := range more {
		q.add(a)
	}
	q.settle()
	return nil
}

// nameOnly makes a request that can't be encoded one that errors can name.
func (q *call) nameOnly(args []any) {
	q.begin(0)
	q.spec, q.slot = unknownCommand, noSlot
	if len(args) == 0 {
		return
	}
	if name, ok := args[0].(string); ok {
		q.text(name)
		q.spec = findSpec(q.args())
	}
}

// crossSlot is the slot of a call whose keys lie in several.
const crossSlot = -2

// settle finds the row and the slot of an encoded request.
func (q *call) settle() {
	q.spec = findSpec(q.args())
	at, same := q.spec.slotOf(q.args())
	if !same {
		at = crossSlot
	}
	q.slot = at
}

func (q *call) begin(n int) {
	q.wire = appendHeader(q.wire[:0], '*', n)
	q.spans = q.spans[:0]
	q.script, q.hashed = nil, 0
}

func (q *call) text(s string) {
	q.wire = appendHeader(q.wire, '$', len(s))
	from := len(q.wire)
	q.wire = append(q.wire, s...)
	q.ended(from)
}

func (q *call) bytes(b []byte) {
	q.wire = appendHeader(q.wire, '$', len(b))
	from := len(q.wire)
	q.wire = append(q.wire, b...)
	q.ended(from)
}

func (q *call) ended(from int) {
	q.spans = append(q.spans, span{from, len(q.wire)})
	q.wire = append(q.wire, '\r', '\n')
}

func appendHeader(dst []byte, kind byte, n int) []byte {
	return append(resp.AppendInt(append(dst, kind), int64(n)), '\r', '\n')
}

// countArgs counts what the arguments are on the wire, and refuses types that have no
// one spelling there.
func countArgs(args []any) (int, error) { return countArgsAfter(0, args) }

// countArgsAfter is countArgs for those that come after others.
func countArgsAfter(before int, args []any) (int, error) {
	n := 0
	for i, a := range args {
		switch a := a.(type) {
		case []string:
			n += len(a)
		case [][]byte:
			n += len(a)
		case string, []byte, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, bool:
			n++
		case nil:
			return 0, fmt.Errorf("argument %d is nil", before+i)
		default:
			return 0, fmt.Errorf("argument %d has the type %s: pass a string, bytes, a number or a bool", before+i, reflect.TypeOf(a).String())
		}
	}
	return n, nil
}

func (q *call) add(a any) {
	switch a := a.(type) {
	case string:
		q.text(a)
	case []byte:
		q.bytes(a)
	case []string:
		for _, s := range a {
			q.text(s)
		}
	case [][]byte:
		for _, b := range a {
			q.bytes(b)
		}
	case float32:
		q.float(float64(a), 32)
	case float64:
		q.float(a, 64)
	case bool:
		q.bool(a)
	default:
		q.integer(a)
	}
}

func (q *call) integer(a any) {
	switch a := a.(type) {
	case int:
		q.int(int64(a))
	case int8:
		q.int(int64(a))
	case int16:
		q.int(int64(a))
	case int32:
		q.int(int64(a))
	case int64:
		q.int(a)
	case uint:
		q.uint(uint64(a))
	case uint8:
		q.uint(uint64(a))
	case uint16:
		q.uint(uint64(a))
	case uint32:
		q.uint(uint64(a))
	case uint64:
		q.uint(a)
	default:
		panic("BUG: countArgs let an argument pass that add does not know")
	}
}

func (q *call) int(n int64) {
	var tmp [24]byte
	q.bytes(resp.AppendInt(tmp[:0], n))
}

func (q *call) uint(n uint64) {
	var tmp [24]byte
	q.bytes(strconv.AppendUint(tmp[:0], n, 10))
}

// bool: Redis has no booleans in requests, 1 and 0 are what everybody uses.
func (q *call) bool(b bool) {
	if b {
		q.text("1")
		return
	}
	q.text("0")
}

// float writes the shortest digits that read back as the same number.
func (q *call) float(f float64, bits int) {
	var tmp [32]byte
	switch {
	case f > maxFloat:
		q.text("inf")
	case f < -maxFloat:
		q.text("-inf")
	default:
		q.bytes(strconv.AppendFloat(tmp[:0], f, 'g', -1, bits))
	}
}
