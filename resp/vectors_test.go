package resp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"testing"
)

// vectorFile is testdata/resp.json, which clients in any language are checked against.
type vectorFile struct {
	About  string
	Encode []struct {
		Name     string
		Args     []string
		ArgsHex  []string `json:"args_hex"`
		Bytes    string
		BytesHex string `json:"bytes_hex"`
	}
	Decode              []replyVector
	Incomplete, Invalid []replyVector
}

type replyVector struct {
	Name     string
	Proto    int
	Bytes    string
	BytesHex string `json:"bytes_hex"`
	Value    vectorValue
}

// vectorValue is a value in the file: one of the fields, and attribute beside value.
type vectorValue struct {
	Simple    *string
	Error     *string
	Int       *json.RawMessage
	Bulk      *string
	BulkHex   *string `json:"bulk_hex"`
	Null      bool
	Array     *[]vectorValue
	Double    *string
	Bool      *bool
	Bignum    *string
	Verbatim  *struct{ Format, Text string }
	BulkError *string `json:"bulk_error"`
	Map       *[][2]vectorValue
	Set       *[]vectorValue
	Push      *[]vectorValue
	Attribute [][2]vectorValue
	Value     *vectorValue
}

func (v *vectorValue) value(t *testing.T) Value {
	t.Helper()
	switch {
	case v.Value != nil:
		return attributed(v.Value.value(t), pairs(t, v.Attribute)...)
	case v.Simple != nil:
		return text(KindSimple, *v.Simple)
	case v.Error != nil:
		return text(KindError, *v.Error)
	case v.Int != nil:
		n, err := strconv.ParseInt(string(bytes.Trim(*v.Int, `"`)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return number(n)
	case v.Bulk != nil:
		return bulk(*v.Bulk)
	case v.BulkHex != nil:
		return bulk(string(unhex(t, *v.BulkHex)))
	case v.Null:
		return null
	case v.Array != nil:
		return list(KindArray, elems(t, *v.Array)...)
	default:
		return v.value3(t)
	}
}

func (v *vectorValue) value3(t *testing.T) Value {
	t.Helper()
	switch {
	case v.Double != nil:
		f, err := strconv.ParseFloat(*v.Double, 64)
		if err != nil {
			t.Fatal(err)
		}
		return double(f)
	case v.Bool != nil && *v.Bool:
		return Value{Kind: KindBool, Int: 1}
	case v.Bool != nil:
		return Value{Kind: KindBool}
	case v.Bignum != nil:
		return text(KindBigNumber, *v.Bignum)
	case v.Verbatim != nil:
		return verbatim(v.Verbatim.Format, v.Verbatim.Text)
	case v.BulkError != nil:
		return text(KindBulkError, *v.BulkError)
	case v.Map != nil:
		return list(KindMap, pairs(t, *v.Map)...)
	case v.Set != nil:
		return list(KindSet, elems(t, *v.Set)...)
	case v.Push != nil:
		return list(KindPush, elems(t, *v.Push)...)
	}
	t.Fatal("a value of no known type")
	return Value{}
}

func elems(t *testing.T, in []vectorValue) (out []Value) {
	for i := range in {
		out = append(out, in[i].value(t))
	}
	return out
}

func pairs(t *testing.T, in [][2]vectorValue) (out []Value) {
	for i := range in {
		out = append(out, in[i][0].value(t), in[i][1].value(t))
	}
	return out
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wireOf gives the bytes of a vector, of which the file has one form.
func wireOf(t *testing.T, plain, hexed string) []byte {
	t.Helper()
	if (plain == "") == (hexed == "") {
		t.Fatalf("bytes %q and bytes_hex %q", plain, hexed)
	}
	if hexed != "" {
		return unhex(t, hexed)
	}
	return []byte(plain)
}

func readVectors(t *testing.T) (f vectorFile) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/resp.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestVectorsOfRequests(t *testing.T) {
	for _, v := range readVectors(t).Encode {
		args := make([][]byte, 0, 16)
		for _, a := range v.Args {
			args = append(args, []byte(a))
		}
		for _, a := range v.ArgsHex {
			args = append(args, unhex(t, a))
		}
		want := wireOf(t, v.Bytes, v.BytesHex)
		if got := AppendCommand(nil, args...); !bytes.Equal(got, want) {
			t.Errorf("%s: %q, want %q", v.Name, got, want)
		}
		var r CommandReader
		got, _, n, err := r.Next(want, nil)
		if err != nil || n != len(want) || len(got) != len(args) {
			t.Errorf("%s: read back as %q, %v", v.Name, got, err)
		}
	}
}

func TestVectorsOfReplies(t *testing.T) {
	for _, v := range readVectors(t).Decode {
		wire, want := wireOf(t, v.Bytes, v.BytesHex), v.Value.value(t)
		for cut := range wire {
			var r ReplyReader
			if _, _, err := r.Next(wire[:cut]); !errors.Is(err, ErrIncomplete) {
				t.Errorf("%s, cut to %q: %v", v.Name, wire[:cut], err)
			}
			if got, n, err := r.Next(wire); err != nil || n != len(wire) || !got.Equal(&want) {
				t.Errorf("%s: %+v, %v, want %+v", v.Name, got, err, want)
			}
		}
		w := Writer{Proto: v.Proto}
		w.Value(&want)
		var r ReplyReader
		if got, _, err := r.Next(w.B); err != nil || !got.Equal(&want) {
			t.Errorf("%s, written as %q: %+v, %v", v.Name, w.B, got, err)
		}
	}
}

func TestVectorsOfIncompleteReplies(t *testing.T) {
	for _, v := range readVectors(t).Incomplete {
		wire := wireOf(t, v.Bytes, v.BytesHex)
		var r ReplyReader
		for cut := range len(wire) + 1 {
			if _, n, err := r.Next(wire[:cut]); !errors.Is(err, ErrIncomplete) || n != 0 {
				t.Errorf("%q: %v after %d bytes", wire[:cut], err, n)
			}
		}
	}
}

func TestVectorsOfInvalidReplies(t *testing.T) {
	for _, v := range readVectors(t).Invalid {
		var r ReplyReader
		var refused ProtocolError
		if _, _, err := r.Next(wireOf(t, v.Bytes, v.BytesHex)); !errors.As(err, &refused) {
			t.Errorf("%q: %v", v.Bytes, err)
		}
	}
}
