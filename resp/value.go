package resp

import (
	"bytes"
	"math"
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
// It is small, for replies are many: what is rare has no field of its own.
//
// A value from [ReplyReader.Next] borrows: Str, there and in all elements, is a
// sub-slice of the buffer that was read, without spare capacity. [Value.Clone] makes a
// value that stands on its own.
type Value struct {
	Kind Kind
	// Ext is the format of a verbatim text, "txt" or "mkd".
	Ext [3]byte
	// Str is not nil for the kinds that have it, an empty string included.
	Str []byte
	// Int is a number, or 1 for true, or the bits of a double: see [Value.Float].
	Int int64
	// Elems is nil when there are none, and has an even length for a map. All elements
	// of a reply lie in one array, so keeping one of them keeps all.
	Elems []Value
	// Attrs points to the attributes in front of the value: key, value, key, value, ...;
	// nil when there are none. See [Value.Attributes].
	Attrs *[]Value
}

// Double returns a value of [KindDouble].
func Double(f float64) Value { return Value{Kind: KindDouble, Int: int64(math.Float64bits(f))} }

// Float returns the number that a value of [KindDouble] is; for other kinds it says
// nothing.
func (v *Value) Float() float64 { return math.Float64frombits(uint64(v.Int)) }

// Attributes returns what Attrs points to, nil when there is nothing.
func (v *Value) Attributes() []Value {
	if v.Attrs == nil {
		return nil
	}
	return *v.Attrs
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
	text, elems = len(v.Str), len(v.Elems)+len(v.Attributes())
	for _, list := range [2][]Value{v.Elems, v.Attributes()} {
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
	out.Elems = c.list(v.Elems)
	if v.Attrs != nil {
		attrs := c.list(*v.Attrs)
		out.Attrs = &attrs
	}
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
	if v.Kind != o.Kind || v.Ext != o.Ext || !bytes.Equal(v.Str, o.Str) {
		return false
	}
	if v.Int != o.Int && (v.Kind != KindDouble || !sameDouble(v.Float(), o.Float())) {
		return false
	}
	return equalLists(v.Elems, o.Elems) && equalLists(v.Attributes(), o.Attributes())
}

func sameDouble(a, b float64) bool { return a == b || a != a && b != b }

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
