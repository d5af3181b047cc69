package hashes

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/value"
)

func hrandfield(c *engine.Ctx, args engine.Args) {
	if len(args) > 2 {
		randomFields(c, args)
		return
	}
	h, _, ok := read(c, args[1])
	switch {
	case !ok:
	case h.Len() == 0:
		c.W.Null()
	default:
		field, _ := h.Random(c.Random)
		c.Element(field)
	}
}

// randomFields is HRANDFIELD key count [WITHVALUES].
func randomFields(c *engine.Ctx, args engine.Args) {
	n, ok := engine.RandomCount(c, args[2])
	if !ok {
		return
	}
	if len(args) > 4 || len(args) == 4 && !command.IsToken(args[3], "WITHVALUES") {
		c.Error(reply.Syntax)
		return
	}
	w := fieldWriter{c: c, values: len(args) == 4}
	if w.values && (n < math.MinInt64/2 || n > math.MaxInt64/2) {
		c.Error(reply.OutOfRange)
		return
	}
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	size := h.Len()
	switch {
	case n == 0 || size == 0:
		c.W.Array(0)
	case n < 0:
		w.repeat(&h, -n)
	default:
		some := int(min(n, int64(size)))
		w.start(some)
		h.Sample(some, c.Random, w.write)
	}
}

// fieldWriter writes the fields that HRANDFIELD found.
type fieldWriter struct {
	c      *engine.Ctx
	values bool
}

// start announces n fields.
func (w *fieldWriter) start(n int) {
	if w.values && w.c.W.Proto < 3 {
		n *= 2
	}
	w.c.W.Array(n)
}

func (w *fieldWriter) write(field, v pack.Element) {
	if w.values && w.c.W.Proto >= 3 {
		w.c.W.Array(2)
	}
	w.c.Element(field)
	if w.values {
		w.c.Element(v)
	}
}

// repeat writes n fields that may come again.
func (w *fieldWriter) repeat(h *value.Hash, n int64) {
	if n > engine.RandomMax {
		w.c.Error(reply.OutOfRange)
		return
	}
	w.start(int(n))
	for range n {
		w.write(h.Random(w.c.Random))
	}
}
