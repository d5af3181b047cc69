package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
)

func TestChecksumIsThatOfRedis(t *testing.T) {
	if got := Checksum(0, []byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("the checksum of 123456789 is %x", got)
	}
	if Checksum(Checksum(0, []byte("1234")), []byte("56789")) != Checksum(0, []byte("123456789")) {
		t.Error("it can't be continued")
	}
}

func TestStringsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		n := rapid.IntRange(1, 5).Draw(t, "n")
		var all [][]byte
		for range n {
			s := rapid.OneOf(
				rapid.SliceOfN(rapid.Byte(), 0, 300),
				rapid.SliceOfN(rapid.SampledFrom([]byte("ab")), 0, 3000),
				rapid.Map(rapid.Int64(), func(n int64) []byte { return numberText(n) }),
			).Draw(t, "s")
			all = append(all, s)
			b = AppendString(b, s, rapid.Bool().Draw(t, "compress"))
		}
		r := newSource(iotest.OneByteReader(bytes.NewReader(b)))
		for _, s := range all {
			got, err := r.string()
			if err != nil || !bytes.Equal(got, s) {
				t.Fatalf("%q became %q, %v", s, got, err)
			}
		}
	})
}

// numberText is a number of any length.
func numberText(n int64) []byte { return strconv.AppendInt(nil, n>>(uint(n)%64), 10) }

func TestLengthsComeBack(t *testing.T) {
	for _, n := range []uint64{0, 1, 63, 64, 1<<14 - 1, 1 << 14, 1<<32 - 1, 1 << 32, 1<<64 - 1} {
		r := newSource(bytes.NewReader(AppendLen(nil, n)))
		if got, err := r.len(); got != n || err != nil {
			t.Errorf("%d became %d, %v", n, got, err)
		}
	}
}

// ziplist builds one of texts, with numbers in the given encoding.
func ziplist(entries ...[]byte) []byte {
	b := make([]byte, 10)
	previous, last := 0, 10
	for _, e := range entries {
		last = len(b)
		if previous < 254 {
			b = append(b, byte(previous))
		} else {
			b = binary.LittleEndian.AppendUint32(append(b, 254), uint32(previous))
		}
		b = append(b, e...)
		previous = len(b) - last
	}
	b = append(b, 0xFF)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], uint32(last))
	binary.LittleEndian.PutUint16(b[8:], uint16(len(entries)))
	return b
}

func short(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// dump puts a value into a payload.
func dump(t Type, parts ...[]byte) []byte {
	b := append([]byte{byte(t)}, bytes.Join(parts, nil)...)
	return AppendFooter(b, 0, VersionWritten)
}

func blob(b []byte) []byte { return AppendString(nil, b, false) }

func listpack(values ...string) []byte {
	p := pack.New(0)
	for _, v := range values {
		p = p.Append([]byte(v))
	}
	return blob(p.AppendListpack(nil))
}

func TestOldAndNewEncodingsAreRead(t *testing.T) {
	long := strings.Repeat("y", 300)
	numbers := ziplist(short("a"), []byte{0xF1}, []byte{0xFD}, []byte{0xFE, 0x80}, []byte{0xC0, 0xFF, 0x7F}, []byte{0xF0, 0, 0, 0x80},
		[]byte{0xD0, 1, 0, 0, 0x80}, []byte{0xE0, 0, 0, 0, 0, 0, 0, 0, 0x80}, append([]byte{0x41, 0x2C}, long...), append([]byte{0x80, 0, 0, 1, 0x2C}, long...), short("z"))
	for want, payload := range map[string][]byte{
		`list: "a" "0" "12" "-128" "32767" "-8388608" "-2147483647" "-9223372036854775808" "` + long + `" "` + long + `" "z"`: dump(TypeListZiplist, blob(numbers)),
		`list: "p" "q" "r"`:                   dump(TypeListQuicklist, AppendLen(nil, 2), blob(ziplist(short("p"))), blob(ziplist(short("q"), short("r")))),
		`list: "plain" "1" "b"`:               dump(TypeListQuicklist2, AppendLen(nil, 2), AppendNode(nil, NodePlain, []byte("plain"), false), AppendLen(nil, NodePacked), listpack("1", "b")),
		`hash: "f"="v" "g"="2"`:               dump(TypeHashZiplist, blob(ziplist(short("f"), short("v"), short("g"), []byte{0xF3}))),
		`hash: "f"="1"`:                       dump(TypeHashListpack, listpack("f", "1")),
		`zset: "m"@1.5 "n"@2`:                 dump(TypeZSetZiplist, blob(ziplist(short("m"), short("1.5"), short("n"), []byte{0xF3}))),
		`zset: "m"@-Inf`:                      dump(TypeZSetListpack, listpack("m", "-inf")),
		`set: "m" "1"`:                        dump(TypeSetListpack, listpack("m", "1")),
		`hash: "ab"="cde" "f"="` + long + `"`: dump(TypeHashZipmap, blob(zipmapOf("ab", "cde", "f", long))),
		`zset: "a"@-Inf "b"@+Inf "c"@-1.25`:   dump(TypeZSet, AppendLen(nil, 3), blob([]byte("a")), []byte{255}, blob([]byte("b")), []byte{254}, blob([]byte("c")), short("-1.25")),
		`hash: "f"="v"until:1000 "g"="w"`:     dump(TypeHashMetadata, AppendMillis(nil, 1000), AppendLen(nil, 2), AppendLen(nil, 1), blob([]byte("f")), blob([]byte("v")), AppendLen(nil, 0), blob([]byte("g")), blob([]byte("w"))),
		`hash: "f"="v"until:1005`:             dump(TypeHashMetadata, AppendMillis(nil, 1000), AppendLen(nil, 1), AppendLen(nil, 6), blob([]byte("f")), blob([]byte("v"))),
		`hash: "f"="v"until:7`:                dump(TypeHashMetadataPreGA, AppendLen(nil, 1), AppendLen(nil, 7), blob([]byte("f")), blob([]byte("v"))),
		`hash: "f"="v"until:9 "g"="w"`:        dump(TypeHashListpackEx, AppendMillis(nil, 9), listpack("f", "v", "9", "g", "w", "0")),
		`hash: "f"="v"until:33177117420000`:   dump(TypeHashListpackExPreGA, listpack("f", "v", "33177117420000")),
	} {
		g := newGathered()
		if err := ReadDump(payload, g); err != nil {
			t.Errorf("%.100s: %v", want, err)
		} else if g.keys[""] != want {
			t.Errorf("read %.300s, want %.300s", g.keys[""], want)
		}
	}
}

func zipmapOf(texts ...string) []byte {
	b := []byte{byte(len(texts) / 2)}
	for i, s := range texts {
		if len(s) < 254 {
			b = append(b, byte(len(s)))
		} else {
			b = binary.LittleEndian.AppendUint32(append(b, 254), uint32(len(s)))
		}
		if i%2 == 0 {
			b = append(b, s...)
		} else {
			b = append(append(append(b, 2), s...), "##"...)
		}
	}
	return append(b, 0xFF)
}

func TestCorruptValuesAreRefused(t *testing.T) {
	for name, payload := range map[string][]byte{
		"no such type":               dump(99),
		"cut off":                    dump(TypeString, []byte{5, 'a'}),
		"bytes behind it":            dump(TypeString, []byte{1, 'a', 'b'}),
		"an empty list":              dump(TypeList, AppendLen(nil, 0)),
		"an empty listpack":          dump(TypeHashListpack, listpack()),
		"half a pair":                dump(TypeHashListpack, listpack("f")),
		"half a triple":              dump(TypeHashListpackEx, AppendMillis(nil, 1), listpack("f", "v")),
		"a huge length":              dump(TypeString, AppendLen(nil, 1<<40)),
		"a length that is a string":  dump(TypeList, []byte{encoded | encInt8, 1}),
		"a code of no string":        dump(TypeString, []byte{encoded | 9}),
		"a bomb":                     dump(TypeString, []byte{encoded | encLZF}, AppendLen(nil, 4), AppendLen(nil, 1<<30), []byte("abcd")),
		"a reference before it":      dump(TypeString, []byte{encoded | encLZF}, AppendLen(nil, 2), AppendLen(nil, 3), []byte{1 << 5, 0}),
		"a score that is no number":  dump(TypeZSetListpack, listpack("m", "x")),
		"a score of NaN":             dump(TypeZSet, AppendLen(nil, 1), blob([]byte("m")), []byte{253}),
		"a container of no kind":     dump(TypeListQuicklist2, AppendLen(nil, 1), AppendNode(nil, 3, []byte("x"), false)),
		"a ziplist's wrong length":   dump(TypeListZiplist, blob(append(ziplist(short("a")), 0xFF))),
		"a ziplist's wrong neighbor": dump(TypeListZiplist, blob(bytes.Replace(ziplist(short("a"), short("b")), []byte{3, 1, 'b'}, []byte{2, 1, 'b'}, 1))),
		"a zipmap without an end":    dump(TypeHashZipmap, blob([]byte{1, 1, 'f'})),
		"a time beyond all times":    dump(TypeHashMetadata, AppendMillis(nil, -1), AppendLen(nil, 1), AppendLen(nil, 1), blob([]byte("f")), blob([]byte("v"))),
	} {
		if err := ReadDump(payload, newGathered()); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, payload := range map[string][]byte{
		"short": {0, 1}, "another version": AppendFooter([]byte{0, 1, 'a'}, 0, 99), "damaged": append(dump(TypeString, blob([]byte("a"))), 0),
	} {
		if err := CheckDump(payload); !errors.Is(err, ErrDump) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// someFile is a small file with a stream, a function and module data in it.
func someFile(foreign bool) []byte {
	var b []byte
	b = append(b, "REDIS0011"...)
	b = append(AppendString(append(b, opAux), []byte("a"), false), 1, 'b')
	b = append(b, opSelectDB, 2, opResizeDB, 3, 1)
	b = append(b, opIdle, 7, byte(TypeString), 1, 'k', 1, 'v')
	if foreign {
		b = append(b, opFunction, 2, 'f', 'n')
		b = append(b, opModuleAux, 5, moduleUint, 1, moduleString, 1, 'x', moduleDouble, 1, 2, 3, 4, 5, 6, 7, 8, moduleEOF)
		b = append(b, byte(TypeModule2), 1, 'm', 9, moduleSigned, 1, moduleFloat, 1, 2, 3, 4, moduleEOF)
		b = append(b, byte(TypeStreamListpacks3), 1, 's', 1, 2, 'i', 'd', 1, 'l', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 'g', 1, 1, 1)
		b = append(b, 1)
		b = append(b, make([]byte, 16+8)...)
		b = append(b, 1, 1, 1, 'c')
		b = append(b, make([]byte, 8+8)...)
		b = append(b, 1)
		b = append(b, make([]byte, 16)...)
	}
	b = binary.LittleEndian.AppendUint32(append(b, opExpireSeconds), 2000000000)
	b = append(b, byte(TypeList), 1, 'l', 1, 1, 'e')
	b = append(b, opEOF)
	return binary.LittleEndian.AppendUint64(b, Checksum(0, b))
}

func TestFilesAreReadToTheEnd(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		g := newGathered()
		if err := Read(bytes.NewReader(someFile(foreign)), g, Options{SkipUnsupported: true}); err != nil {
			t.Fatalf("foreign parts %v: %v", foreign, err)
		}
		if len(g.keys) != 2 || g.keys["2/k"] != `string: "v"` || g.keys["2/l"] != `until 2000000000000 list: "e"` {
			t.Errorf("keys are %v", g.keys)
		}
	}
	if err := Read(bytes.NewReader(someFile(true)), newGathered(), Options{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("what has no place here: %v", err)
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	file := someFile(false)
	for n := range file {
		if err := Read(bytes.NewReader(file[:n]), newGathered(), Options{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a file of %d bytes: %v", n, err)
		}
	}
	for i := range file {
		if len(magic) <= i && i < len(magic)+4 {
			continue // an old version, which has no checksum
		}
		for bit := range 8 {
			damaged := bytes.Clone(file)
			damaged[i] ^= 1 << bit
			if err := Read(bytes.NewReader(damaged), newGathered(), Options{SkipUnsupported: true}); err == nil {
				t.Errorf("a flip of bit %d in byte %d is not noticed", bit, i)
			}
		}
	}
	err := Read(bytes.NewReader(bytes.Replace(file, []byte{1, 1, 'e'}, []byte{1, 0xFE, 'e'}, 1)), newGathered(), Options{})
	if err == nil || !strings.Contains(err.Error(), `key "l", offset `) {
		t.Errorf("the error is %v", err)
	}
	broken := errors.New("broken disk")
	if err := Read(io.MultiReader(bytes.NewReader(file[:20]), iotest.ErrReader(broken)), newGathered(), Options{}); !errors.Is(err, broken) || errors.Is(err, ErrCorrupt) {
		t.Errorf("a disk that fails: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(someFile(true))
	for _, file := range newerFiles {
		if content, err := os.ReadFile(file.path()); err == nil {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Read(bytes.NewReader(b), newGathered(), Options{SkipUnsupported: true, NoChecksum: true})
	})
}

func FuzzReadDump(f *testing.F) {
	f.Add([]byte{byte(TypeListZiplist)}, ziplist(short("a"), []byte{0xFE, 3}))
	f.Add([]byte{byte(TypeHashZipmap)}, zipmapOf("f", "v"))
	f.Add([]byte{byte(TypeZSetListpack)}, listpack("m", "1.5")[1:])
	f.Fuzz(func(t *testing.T, head, body []byte) {
		_ = ReadDump(AppendFooter(append(head[:len(head):len(head)], body...), 0, 10), newGathered())
		if len(head) > 0 {
			_ = ReadDump(dump(Type(head[0]), blob(body)), newGathered())
		}
	})
}
