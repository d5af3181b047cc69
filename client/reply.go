package client

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/bowline-kv/bowline/resp"
)

const maxFloat = math.MaxFloat64

// Reply is what became of a command: the server's answer, or an error. It stands on
// its own and shares no memory with a connection. Its methods turn the answer into a
// Go value; they give the command's error when there is one, [ErrNil] for a null
// unless they say otherwise, and an error for an answer of another kind.
type Reply struct {
	v   resp.Value
	err error
}

// Err returns why the command failed, or nil. A null is no failure.
func (r Reply) Err() error { return r.err }

// Value returns the answer as it came.
func (r Reply) Value() (resp.Value, error) { return r.v, r.err }

// IsNull reports whether the answer is a null.
func (r Reply) IsNull() bool { return r.err == nil && r.v.IsNull() }

// ok is the error of a command whose answer says nothing; a null is [ErrNil].
func (r Reply) ok() error { return r.check() }

// check gives the error that every conversion begins with.
func (r *Reply) check() error {
	if r.err != nil {
		return r.err
	}
	if r.v.IsNull() {
		return ErrNil
	}
	return nil
}

func (r *Reply) mismatch(want string) error {
	return fmt.Errorf("the reply is %s, not %s", r.v.Kind, want)
}

// Bytes returns a string answer. The slice shares its memory with what Text returns
// for the same reply, so it must not be changed when both are used.
func (r Reply) Bytes() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	switch r.v.Kind {
	case resp.KindBulk, resp.KindSimple, resp.KindVerbatim, resp.KindBigNumber:
		return r.v.Str, nil
	case resp.KindInt:
		return resp.AppendInt(nil, r.v.Int), nil
	case resp.KindDouble:
		return resp.AppendDouble(nil, r.v.Float()), nil
	}
	return nil, r.mismatch("a string")
}

// Text returns a string answer; a number is spelled out.
func (r Reply) Text() (string, error) {
	b, err := r.Bytes()
	if err != nil {
		return "", err
	}
	return unsafe.String(unsafe.SliceData(b), len(b)), nil
}

// Int returns an integer answer, or a string that spells an integer of 64 bits.
func (r Reply) Int() (int64, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	switch r.v.Kind {
	case resp.KindInt, resp.KindBool:
		return r.v.Int, nil
	case resp.KindBulk, resp.KindSimple, resp.KindBigNumber:
		n, err := strconv.ParseInt(string(r.v.Str), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the reply as an integer: %w", err)
		}
		return n, nil
	}
	return 0, r.mismatch("an integer")
}

// Float returns a double, an integer, or a string that spells a number.
func (r Reply) Float() (float64, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	switch r.v.Kind {
	case resp.KindDouble:
		return r.v.Float(), nil
	case resp.KindInt:
		return float64(r.v.Int), nil
	case resp.KindBulk, resp.KindSimple, resp.KindBigNumber:
		f, err := strconv.ParseFloat(string(r.v.Str), 64)
		if err != nil {
			return 0, fmt.Errorf("read the reply as a number: %w", err)
		}
		return f, nil
	}
	return 0, r.mismatch("a number")
}

// Bool returns a boolean answer: an integer is true unless it is 0, and OK is true. A
// null is false: commands such as SET with NX answer so when they did nothing.
func (r Reply) Bool() (bool, error) {
	if r.err != nil {
		return false, r.err
	}
	switch r.v.Kind {
	case resp.KindNull:
		return false, nil
	case resp.KindInt, resp.KindBool:
		return r.v.Int != 0, nil
	case resp.KindSimple, resp.KindBulk:
		switch string(r.v.Str) {
		case "OK", "1":
			return true, nil
		case "0":
			return false, nil
		}
	}
	return false, r.mismatch("a boolean")
}

// Slice returns the elements of an array, set or push, and keys and values in turn of
// a map. An element that is an error has it as its Err.
func (r Reply) Slice() ([]Reply, error) {
	elems, err := r.elems()
	if err != nil {
		return nil, err
	}
	out := make([]Reply, len(elems))
	for i := range elems {
		out[i] = elem(&elems[i])
	}
	return out, nil
}

func (r *Reply) elems() ([]resp.Value, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	switch r.v.Kind {
	case resp.KindArray, resp.KindSet, resp.KindPush, resp.KindMap:
		return r.v.Elems, nil
	}
	return nil, r.mismatch("an array")
}

func elem(v *resp.Value) Reply { return Reply{v: *v, err: v.Err()} }

// Texts returns the elements of an array as strings. A null among them is an error:
// see Pointers.
func (r Reply) Texts() ([]string, error) {
	elems, err := r.elems()
	if err != nil {
		return nil, err
	}
	out := make([]string, len(elems))
	for i := range elems {
		if out[i], err = elem(&elems[i]).Text(); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return out, nil
}

// Pointers returns the elements of an array as strings, nil for a null: what MGET and
// HMGET answer.
func (r Reply) Pointers() ([]*string, error) {
	elems, err := r.elems()
	if err != nil {
		return nil, err
	}
	texts, out := make([]string, len(elems)), make([]*string, len(elems))
	for i := range elems {
		if elems[i].IsNull() {
			continue
		}
		if texts[i], err = elem(&elems[i]).Text(); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out[i] = &texts[i]
	}
	return out, nil
}

// Ints returns the elements of an array as integers.
func (r Reply) Ints() ([]int64, error) {
	elems, err := r.elems()
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(elems))
	for i := range elems {
		if out[i], err = elem(&elems[i]).Int(); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return out, nil
}

// Map returns a map, or an array of keys and values in turn, as strings.
func (r Reply) Map() (map[string]string, error) {
	texts, err := r.Texts()
	if err != nil {
		return nil, err
	}
	if len(texts)%2 != 0 {
		return nil, fmt.Errorf("the reply has %d elements, which are no pairs", len(texts))
	}
	m := make(map[string]string, len(texts)/2)
	for i := 0; i < len(texts); i += 2 {
		m[texts[i]] = texts[i+1]
	}
	return m, nil
}
