package pack

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

func TestCorruptListpacksAreRefused(t *testing.T) {
	whole := build([][]byte{[]byte("a"), []byte("1000"), bytes.Repeat([]byte("x"), 70)}).AppendListpack(nil)
	if _, err := FromListpack(bytes.Clone(whole)); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := FromListpack(bytes.Clone(whole[:n])); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for name, change := range map[string]func([]byte){
		"length":        func(b []byte) { b[0]++ },
		"count":         func(b []byte) { b[4]++ },
		"back":          func(b []byte) { b[8]++ },
		"encoding":      func(b []byte) { b[6] = 0xF5 },
		"string length": func(b []byte) { b[6] = 0xBF },
		"end":           func(b []byte) { b[len(b)-1] = 0 },
		"early end":     func(b []byte) { b[6] = 0xFF },
	} {
		b := bytes.Clone(whole)
		change(b)
		if p, err := FromListpack(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %x, %v", name, p, err)
		}
	}
	// All backs but none ends: reading one must not leave the bytes.
	if p := (Pack{0xFF, 0xFF, 0x80, 0x80}); p.Valid() {
		t.Error("a back without an end is taken for valid")
	}
}

func TestLongFormsAreShortened(t *testing.T) {
	lp := []byte{0, 0, 0, 0, 0xFF, 0xFF,
		0x81, '7', 2, // the string 7
		0xF1, 5, 0, 3, // 5 in 16 bits
		0xE0, 1, 'a', 3, // a string of one byte with a length of 12 bits
		0xFF}
	lp[0] = byte(len(lp))
	p, err := FromListpack(lp)
	if err != nil {
		t.Fatal(err)
	}
	if want := build([][]byte{[]byte("7"), []byte("5"), []byte("a")}); !bytes.Equal(p, want) {
		t.Fatalf("got %x, want %x", p, want)
	}
	long := Pack(append([]byte{3, 0}, lp[headerBytes:len(lp)-1]...))
	if long.Valid() {
		t.Error("a pack with long forms is taken for valid")
	}
}

// TestRedisWritesTheSameBytes looks for our listpacks in what DUMP gives.
func TestRedisWritesTheSameBytes(t *testing.T) {
	c := redistest.Start(t, "--rdbcompression", "no", "--list-max-listpack-size", "-5", "--hash-max-listpack-value", "100000").Dial(t)
	var list [][]byte
	for bit := range 64 {
		for off := int64(-1); off <= 1; off++ {
			n := int64(1)<<bit + off
			list = append(list, strconv.AppendInt(nil, n, 10), strconv.AppendInt(nil, -n, 10))
		}
	}
	for _, n := range []int{0, 1, 5, 63, 64, 125, 126, 127, 128, 4095, 4096, 16377, 16378, 16379} {
		list = append(list, bytes.Repeat([]byte("v"), n))
	}
	for _, s := range []string{"-0", "+1", "01", "1.5", " 1", "9223372036854775808", "-9223372036854775809", "1e5"} {
		list = append(list, []byte(s))
	}
	push := []string{"RPUSH", "list"}
	set := []string{"HSET", "hash"}
	hash := New(0)
	for i, v := range list {
		push = append(push, string(v))
		set = append(set, "f"+strconv.Itoa(i), string(v))
		hash = hash.Append([]byte("f" + strconv.Itoa(i))).Append(v)
	}
	c.Do(push...)
	c.Do(set...)
	c.Do("CONFIG", "SET", "hash-max-listpack-entries", "1000")
	c.Do("DEL", "hash")
	c.Do(set...)
	for key, p := range map[string]Pack{"list": build(list), "hash": hash} {
		dump, _ := c.Do("DUMP", key).(string)
		if !strings.Contains(dump, string(p.AppendListpack(nil))) {
			t.Errorf("DUMP of the %s of type %d and %d bytes has not our %d bytes", key, dump[0], len(dump), len(p)+5)
		}
	}
}

// FuzzFromListpack reads hostile listpacks and uses what passes the check.
func FuzzFromListpack(f *testing.F) {
	f.Add(build([][]byte{[]byte("a"), []byte("12345"), bytes.Repeat([]byte("b"), 200)}).AppendListpack(nil), false)
	f.Add([]byte{9, 0, 0, 0, 1, 0, 0x80, 1, 0xFF}, false)
	f.Add([]byte{0xFF, 0xFF, 0x80, 0x80}, true)
	f.Add([]byte{1, 0, 0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 1}, true)
	f.Fuzz(func(t *testing.T, input []byte, raw bool) {
		p := Pack(input)
		if !raw {
			var err error
			if p, err = FromListpack(bytes.Clone(input)); err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				return
			}
		}
		if !p.Valid() {
			if !raw {
				t.Fatalf("%x is not valid", p)
			}
			return
		}
		n, again := 0, New(len(p))
		for pos := p.First(); pos < p.End(); pos = p.Next(pos) {
			again = again.Append(p.Get(pos).AppendTo(nil))
			n++
		}
		if n != p.Len() || !bytes.Equal(again.Elements(), p.Elements()) {
			t.Fatalf("%x written anew is %x", p, again)
		}
		for pos := p.End(); pos > p.First(); n-- {
			pos = p.Prev(pos)
		}
		if n != 0 {
			t.Fatalf("%d elements more when walked from the end", n)
		}
	})
}
