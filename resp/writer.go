package resp

// Writer appends replies to B. The zero value writes RESP2; Proto 3 makes it write
// RESP3, and everything that RESP2 has no type for is written in RESP2 as Redis does.
// B belongs to the caller, who may take, cut or replace it between two calls. What is
// passed to a method is copied. A writer does not check that an aggregate gets as many
// elements as announced. It is not safe for concurrent use.
type Writer struct {
	// B holds the replies written so far.
	B []byte
	// Proto is the protocol version, 2 or 3; 0 means 2.
	Proto int
	// Refs are bytes that belong between those of B and were not copied, in
	// ascending order of their places. Only [Writer.BulkRef] makes them; who sends B
	// sends them too and calls their Done.
	Refs []Ref
}

// Ref is a part of a reply that stays where it is.
type Ref struct {
	// At is the place in B before which the bytes belong.
	At int
	// Bytes must not be changed before Done is called.
	Bytes []byte
	// Done says that the bytes are not needed any more. It is called once.
	Done func()
}

// BulkRef writes a bulk string whose bytes are not copied: see [Writer.Refs].
func (w *Writer) BulkRef(p []byte, done func()) {
	w.B = appendHeader(w.B, '$', len(p))
	w.Refs = append(w.Refs, Ref{At: len(w.B), Bytes: p, Done: done})
	w.B = append(w.B, '\r', '\n')
}

func (w *Writer) resp3() bool { return w.Proto >= 3 }

// OK writes the simple string "OK".
func (w *Writer) OK() { w.B = append(w.B, "+OK\r\n"...) }

// Simple writes a simple string. Line ends in s become spaces, as the reply is one
// line.
func (w *Writer) Simple(s string) { w.B = appendLine(w.B, '+', s) }

// Error writes an error reply. s begins with the error's code ("ERR no such key"), has
// no leading "-", and line ends in it become spaces.
func (w *Writer) Error(s string) { w.B = appendLine(w.B, '-', s) }

// BulkError writes an error whose text may hold any bytes. RESP2 has no such type and
// gets an ordinary error.
func (w *Writer) BulkError(s string) {
	if !w.resp3() {
		w.Error(s)
		return
	}
	w.B = appendBlob(w.B, '!', s)
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	if uint64(n) < 10 {
		w.B = append(w.B, ':', byte('0'+n), '\r', '\n')
		return
	}
	b := AppendInt(append(w.B, ':'), n)
	w.B = append(b, '\r', '\n')
}

// Bulk writes a bulk string of any bytes; nil is the empty string, not a null.
func (w *Writer) Bulk(p []byte) {
	b := append(appendHeader(w.B, '$', len(p)), p...)
	w.B = append(b, '\r', '\n')
}

// BulkString is [Writer.Bulk] for a string.
func (w *Writer) BulkString(s string) { w.B = appendBlob(w.B, '$', s) }

// Null writes a null; in RESP2, the null bulk string.
func (w *Writer) Null() {
	if w.resp3() {
		w.B = append(w.B, "_\r\n"...)
		return
	}
	w.B = append(w.B, "$-1\r\n"...)
}

// NullArray writes a null where an array is expected; in RESP2, the null array.
func (w *Writer) NullArray() {
	if w.resp3() {
		w.B = append(w.B, "_\r\n"...)
		return
	}
	w.B = append(w.B, "*-1\r\n"...)
}

// Array announces an array: n replies follow. n is not negative.
func (w *Writer) Array(n int) { w.B = appendHeader(w.B, '*', n) }

// Map announces a map of n pairs: 2n replies follow, key and value in turn. In RESP2 it
// is an array of 2n.
func (w *Writer) Map(n int) { w.aggregate('%', n, 2*n) }

// Set announces a set: n replies follow. In RESP2 it is an array.
func (w *Writer) Set(n int) { w.aggregate('~', n, n) }

// Push announces a message outside of the order of replies: n replies follow, the first
// one its kind. In RESP2 it is an array.
func (w *Writer) Push(n int) { w.aggregate('>', n, n) }

func (w *Writer) aggregate(kind byte, n, elems int) {
	if w.resp3() {
		w.B = appendHeader(w.B, kind, n)
		return
	}
	w.B = appendHeader(w.B, '*', elems)
}

// Attribute announces n pairs of side information about the reply after them: 2n
// replies follow, then that reply. RESP2 has no attributes: nothing is written, and
// false tells the caller to leave the pairs out.
func (w *Writer) Attribute(n int) bool {
	if !w.resp3() {
		return false
	}
	w.B = appendHeader(w.B, '|', n)
	return true
}

// Bool writes a boolean; in RESP2, the integer 1 or 0.
func (w *Writer) Bool(v bool) {
	s := "#f\r\n"
	switch {
	case w.resp3() && v:
		s = "#t\r\n"
	case v:
		s = ":1\r\n"
	case !w.resp3():
		s = ":0\r\n"
	}
	w.B = append(w.B, s...)
}

// BigNumber writes an integer of any size, given in decimal; in RESP2, a bulk string.
func (w *Writer) BigNumber(digits string) {
	if w.resp3() {
		w.B = appendLine(w.B, '(', digits)
		return
	}
	w.BulkString(digits)
}

// Verbatim writes a text with its format, "txt" or "mkd"; in RESP2, the text as a bulk
// string. ext is cut or filled up with spaces to three bytes, as the protocol wants it.
func (w *Writer) Verbatim(ext, s string) {
	if !w.resp3() {
		w.BulkString(s)
		return
	}
	b := appendHeader(w.B, '=', len(s)+4)
	for i := range 3 {
		c := byte(' ')
		if i < len(ext) {
			c = ext[i]
		}
		b = append(b, c)
	}
	b = append(append(b, ':'), s...)
	w.B = append(b, '\r', '\n')
}

// Raw writes bytes that are a reply already.
func (w *Writer) Raw(p []byte) { w.B = append(w.B, p...) }

// InsertArray announces an array of n after its elements have been written: at is the
// length of B before them. The elements are moved by the header's length, so a
// caller that knows n beforehand uses [Writer.Array].
func (w *Writer) InsertArray(at, n int) { w.insert(at, '*', n) }

// InsertMap is [Writer.InsertArray] for a map of n pairs.
func (w *Writer) InsertMap(at, n int) {
	if w.resp3() {
		w.insert(at, '%', n)
		return
	}
	w.insert(at, '*', 2*n)
}

// InsertSet is [Writer.InsertArray] for a set.
func (w *Writer) InsertSet(at, n int) {
	if w.resp3() {
		w.insert(at, '~', n)
		return
	}
	w.insert(at, '*', n)
}

func (w *Writer) insert(at int, kind byte, n int) {
	var tmp [intDigitsMax + 3]byte
	head := appendHeader(tmp[:0], kind, n)
	end := len(w.B)
	w.B = append(w.B, head...)
	copy(w.B[at+len(head):], w.B[at:end])
	copy(w.B[at:], head)
}

func appendBlob(dst []byte, kind byte, s string) []byte {
	dst = append(appendHeader(dst, kind, len(s)), s...)
	return append(dst, '\r', '\n')
}

// appendLine appends a reply of one line. The text may come from a client (an unknown
// command's name in an error), so a line end in it must not begin a second reply.
func appendLine(dst []byte, kind byte, s string) []byte {
	dst = append(dst, kind)
	start := len(dst)
	dst = append(dst, s...)
	for i := start; i < len(dst); i++ {
		if c := dst[i]; c == '\r' || c == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, '\r', '\n')
}
