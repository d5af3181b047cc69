package resp

import (
	"bytes"
	"strings"
)

// Kind is the type of a reply.
type Kind uint8

// The kinds of replies, and the fields of [Value] that carry them.
const (
	KindInvalid   Kind = iota // a Value that was never set
	KindSimple                // a line: Str
	KindError                 // an error of one line: Str, code included
	KindInt                   // an integer: Int
	KindBulk                  // a string of any bytes: Str
	KindNull                  // a null, of any of its three spellings
	KindArray                 // Elems
	KindMap                   // Elems: key, value, key, value, ...
	KindSet                   // Elems
	KindPush                  // a message outside of the order of replies: Elems, the first its kind
	KindDouble                // Float
	KindBool                  // Int: 1 or 0
	KindBigNumber             // an integer of any size, in decimal: Str
	KindVerbatim              // a text: Str, and its format: Ext
	KindBulkError             // an error of any bytes: Str, code included
	KindAttribute             // never the kind of a Value from ReplyReader, see Value.Attrs
)

var kindNames = [...]string{
	"invalid", "simple", "error", "int", "bulk", "null", "array", "map", "set", "push",
	"double", "bool", "bignum", "verbatim", "bulk error", "attribute",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is one reply, decoded. Which fields count depends on Kind; the others are zero.
//
// A value from [ReplyReader.Next] borrows: Str, there and in all elements, is a
// sub-slice of the buffer that was read, without spare capacity. [Value.Clone] makes a
// value that stands on its own.
type Value struct {
	Kind Kind
	// Ext is the format of a verbatim text, "txt" or "mkd".
	Ext [3]byte
	// Str is not nil for the kinds that have it, an empty string included.
	Str   []byte
	Int   int64
	Float float64
	// Elems is nil when there are none, and has an even length for a map. All elements
	// of a reply lie in one array, so keeping one of them keeps all.
	Elems []Value
	// Attrs are the attributes in front of the value: key, value, key, value, ...;
	// nil when there are none.
	Attrs []Value
}

// IsNull reports whether v is a null of any spelling.
func (v *Value) IsNull() bool { return v.Kind == KindNull }

// IsError reports whether v is an error reply of either kind.
func (v *Value) IsError() bool { return v.Kind == KindError || v.Kind == KindBulkError }

// Err returns the error that v is, as a [*Error] that does not borrow from the
// buffer, or nil when v is another reply.
func (v *Value) Err() error {
	if !v.IsError() {
		return nil
	}
	return &Error{Text: string(v.Str)}
}

// Clone returns a copy that shares no memory with v. All bytes of the copy lie in one
// allocation, so keeping any of its strings keeps all of them.
func (v *Value) Clone() Value {
	bytesTotal, elemsTotal := v.size()
	c := cloner{text: make([]byte, 0, bytesTotal), elems: make([]Value, 0, elemsTotal)}
	return c.clone(v)
}

// size counts the bytes and the elements below v.
func (v *Value) size() (text, elems int) {
	text, elems = len(v.Str), len(v.Elems)+len(v.Attrs)
	for _, list := range [2][]Value{v.Elems, v.Attrs} {
		for i := range list {
			t, e := list[i].size()
			text, elems = text+t, elems+e
		}
	}
	return text, elems
}

type cloner struct {
	text  []byte
	elems []Value
}

func (c *cloner) clone(v *Value) Value {
	out := *v
	if v.Str != nil {
		at := len(c.text)
		c.text = append(c.text, v.Str...)
		out.Str = c.text[at:len(c.text):len(c.text)]
	}
	out.Elems, out.Attrs = c.list(v.Elems), c.list(v.Attrs)
	return out
}

func (c *cloner) list(in []Value) []Value {
	if in == nil {
		return nil
	}
	at, end := len(c.elems), len(c.elems)+len(in)
	c.elems = c.elems[:end]
	out := c.elems[at:end:end]
	for i := range in {
		out[i] = c.clone(&in[i])
	}
	return out
}

// Equal reports whether two values are the same reply: kinds, content and attributes.
// Doubles are equal when they have the same value, and all NaNs are equal.
func (v *Value) Equal(o *Value) bool {
	if v.Kind != o.Kind || v.Ext != o.Ext || v.Int != o.Int || !bytes.Equal(v.Str, o.Str) {
		return false
	}
	if v.Float != o.Float && (v.Float == v.Float || o.Float == o.Float) {
		return false
	}
	return equalLists(v.Elems, o.Elems) && equalLists(v.Attrs, o.Attrs)
}

func equalLists(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(&b[i]) {
			return false
		}
	}
	return true
}

// Error is an error that a server answered with.
type Error struct {
	// Text is the whole error, code included, without the leading "-".
	Text string
}

// Error returns the text as the server sent it.
func (e *Error) Error() string { return e.Text }

// Code returns the first word of the text, "WRONGTYPE" or "MOVED" for instance; empty
// when there is none.
func (e *Error) Code() string {
	code, _, _ := strings.Cut(e.Text, " ")
	return code
}
