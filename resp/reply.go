package resp

// ReplyReader reads replies out of a buffer that the caller owns. The zero value is
// ready. It accepts RESP2 and RESP3 alike. It is not safe for concurrent use.
//
// A reply is first walked over, which finds its end and every mistake in it, and only
// when it is whole it is built. So an announced length allocates nothing, a reply that
// comes in pieces is searched once, and a reply of any shape costs one allocation for
// all of its elements, none if it has none.
type ReplyReader struct {
	// MaxBulk is the longest string, in bytes; zero or less: 512 MiB.
	MaxBulk int
	// MaxElems is the largest number of elements in one reply, those in nested
	// aggregates and attributes included, a pair of a map counting as two; zero or
	// less: 2^26. A [Value] takes 96 bytes on a 64-bit system.
	MaxElems int
	// MaxDepth is how deep aggregates may be nested; zero or less: 128.
	MaxDepth int

	// The reply begun at the start of the buffer; offsets count from its first byte.

	pos     int   // the first item not yet complete
	scanned int   // no line end between pos and scanned
	open    []int // elements still to come, for each aggregate around pos; negative: attributes
	elems   int   // elements announced so far
	missing int   // bytes still missing at least, after ErrIncomplete
}

const (
	defaultMaxElems = 1 << 26
	defaultMaxDepth = 128
	// elemWireMin is the length of the shortest element on the wire: "_\r\n".
	elemWireMin = 3
)

// Next reads one reply, which may be a push message, from the start of buf. n is the
// number of bytes consumed. The strings of v are sub-slices of buf and live as long as
// the bytes of buf are left alone, see [Value.Clone].
//
// With [ErrIncomplete] nothing is consumed, and the next call must get the same bytes
// with more after them, at any address; or [ReplyReader.Reset] is called first. Any
// other error is a [ProtocolError], after which the connection is to be closed. An
// error that the server answers with is not an error here but a value, see [Value.Err].
func (r *ReplyReader) Next(buf []byte) (v Value, n int, err error) {
	n, _, err = r.NextIn(&v, buf, nil)
	return v, n, err
}

// NextIn is Next for readers of many small replies: the elements of v are appended to
// arena, and rest is arena with them. When they do not fit into its capacity, they get
// an array of their own, and rest is arena as it was. The elements borrow from arena
// until the caller uses that part of it again. v is the zero value after an error.
func (r *ReplyReader) NextIn(v *Value, buf []byte, arena []Value) (n int, rest []Value, err error) {
	*v = Value{}
	if r.pos == 0 {
		var it item
		if err := r.item(&it, buf, 0); err != nil {
			return 0, arena, err
		}
		if it.count == 0 && it.kind != KindAttribute {
			r.Reset()
			it.fill(v, buf)
			return it.end, arena, nil
		}
	}
	if err := r.walk(buf); err != nil {
		return 0, arena, err
	}
	b := builder{r: r, buf: buf, levels: orDefault(r.MaxDepth, defaultMaxDepth)}
	b.free, rest = room(arena, r.elems)
	end := r.pos
	r.Reset()
	if err := b.value(v); err != nil || b.pos != end {
		*v = Value{}
		return 0, arena, errReplyChanged
	}
	return end, rest, nil
}

// room gives n zero values, behind those of arena when it has the capacity.
func room(arena []Value, n int) (free, rest []Value) {
	if n > cap(arena)-len(arena) {
		return make([]Value, n), arena
	}
	rest = arena[:len(arena)+n]
	free = rest[len(arena):]
	clear(free)
	return free, rest
}

// Missing returns, after [ErrIncomplete], how many bytes are missing at least: for
// sizing the next read. It is between 1 and [MissingMax], whatever length a peer has
// announced.
func (r *ReplyReader) Missing() int { return max(1, r.missing) }

// Reset forgets a reply begun, for a reader that is put to a new stream. Limits stay.
func (r *ReplyReader) Reset() {
	r.pos, r.scanned, r.elems, r.missing = 0, 0, 0, 0
	r.open = r.open[:0]
}

// walk goes over one reply until its end, which is then at pos.
func (r *ReplyReader) walk(buf []byte) error {
	if len(buf) < r.pos {
		return ErrIncomplete // fewer bytes than before: the caller's mistake, kept harmless
	}
	var it item
	for {
		if err := r.item(&it, buf, r.pos); err != nil {
			return err
		}
		if it.count > 0 {
			if err := r.enter(it.count); err != nil {
				return err
			}
		}
		r.pos = it.end
		// Attributes are no element: the value that they belong to follows.
		if it.kind == KindAttribute {
			if it.count > 0 {
				r.open[len(r.open)-1] = -it.count
			}
			continue
		}
		if it.count > 0 {
			continue
		}
		if r.leave() {
			return nil
		}
	}
}

// enter opens an aggregate of count elements.
func (r *ReplyReader) enter(count int) error {
	if count > orDefault(r.MaxElems, defaultMaxElems)-r.elems {
		return errReplyElems
	}
	if len(r.open) >= orDefault(r.MaxDepth, defaultMaxDepth) {
		return errReplyDepth
	}
	r.elems += count
	r.open = append(r.open, count)
	return nil
}

// leave counts one element as read, and closes what it was the last of. True: that was
// the reply itself. The elements of attributes are counted in negative numbers, from
// -count up to zero, so that their end is told from that of an aggregate.
func (r *ReplyReader) leave() bool {
	for len(r.open) > 0 {
		top := &r.open[len(r.open)-1]
		if *top < 0 {
			if *top++; *top == 0 {
				r.open = r.open[:len(r.open)-1]
			}
			return false
		}
		if *top--; *top > 0 {
			return false
		}
		r.open = r.open[:len(r.open)-1]
	}
	return true
}

// builder makes the value of a reply that walk has found whole. It checks again all
// that memory safety rests on: a caller that changed bytes between two calls gets an
// error, not a crash.
type builder struct {
	r      *ReplyReader
	buf    []byte
	pos    int
	levels int     // nesting still allowed
	free   []Value // not yet taken, of the one array for all elements
}

func (b *builder) value(v *Value) error {
	for {
		var it item
		if err := b.r.item(&it, b.buf, b.pos); err != nil {
			return err
		}
		b.pos = it.end
		if it.kind != KindAttribute {
			it.fill(v, b.buf)
			var err error
			v.Elems, err = b.list(it.count)
			return err
		}
		attrs, err := b.list(it.count)
		if err != nil {
			return err
		}
		if all := append(v.Attributes(), attrs...); all != nil {
			v.Attrs = &all
		}
	}
}

func (b *builder) list(n int) ([]Value, error) {
	if n == 0 {
		return nil, nil
	}
	if n > len(b.free) || b.levels == 0 {
		return nil, errReplyChanged
	}
	b.levels--
	list := b.free[:n:n]
	b.free = b.free[n:]
	for i := range list {
		if err := b.value(&list[i]); err != nil {
			return nil, err
		}
	}
	b.levels++
	return list, nil
}
