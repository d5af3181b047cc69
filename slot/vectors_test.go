package slot_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/slot"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/slots.json anew")

const vectorFile = "../testdata/slots.json"

// vector is a row of testdata/slots.json; the key is text, or hex digits when
// it is not UTF-8.
type vector struct {
	Key    *string `json:"key,omitempty"`
	KeyHex string  `json:"key_hex,omitempty"`
	Slot   int     `json:"slot"`
}

func (v vector) bytes() ([]byte, error) {
	if v.Key != nil {
		return []byte(*v.Key), nil
	}
	return hex.DecodeString(v.KeyHex)
}

// vectorKeys are the keys of the file: the rules of hash tags one by one, then
// texts of all lengths around the width of a table step, then bytes.
func vectorKeys() []string {
	keys := []string{
		"", "123456789", "foo", "bar", "hello", "key", "a", "b", "A", "0", " ", "\t", "user:1000",
		"{user1000}.following", "{user1000}.followers", "user1000", "foo{}{bar}", "foo{{bar}}zap", "{bar",
		"foo{bar}{zap}", "{foo}", "{}", "{", "}", "{}foo", "{}{foo}", "foo{", "foo}", "foo{bar", "foo}bar{",
		"}{foo}", "}foo{bar}baz", "{a}", "{a}b", "a{b}", "a{b}c", "{ }", "{{}}", "{{a}}", "{a{b}c}", "{a}}", "{a}{b}",
		"{}}{a}", "a{}b{c}d", "{\n}", "{foo}{bar}{baz}", "{.}",
		"clé", "{clé}ü", "ключ", "鍵", "{鍵}:値", "🔑", "{🔑}🚪", "é", "e\u0301", "\u2028", "ſtraße", "\u00a0",
		"quote\"quote", "back\\slash", "new\nline", "null\x00byte", "\x00", "\x7f", "{\x00}", "\x01{\x02}\x03",
		"\xff", "\xff\xfe\xfd", "\x80{\x81}\x82", "{\xff}", "\xc3\x28", "\x00\xff\x00\xff", "{}\xff", "{\xf0\x9f}x",
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for n := 2; n <= 33; n++ {
		keys = append(keys, letters[:n])
	}
	for n := 9; n <= 17; n++ {
		keys = append(keys, "x{"+letters[:n]+"}"+letters[n:])
	}
	return append(keys, strings.Repeat("long ", 200), "{"+strings.Repeat("t", 300)+"}x")
}

func makeVectors() []vector {
	var rows []vector
	for _, key := range vectorKeys() {
		v := vector{Slot: int(slot.OfString(key))}
		if utf8.ValidString(key) {
			v.Key = &key
		} else {
			v.KeyHex = hex.EncodeToString([]byte(key))
		}
		rows = append(rows, v)
	}
	return rows
}

// formatVectors writes one row a line, so that a difference reads well.
func formatVectors(rows []vector) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, row := range rows {
		b.WriteString([]string{"[\n  ", "  "}[min(i, 1)])
		if err := enc.Encode(row); err != nil {
			panic(err)
		}
		if i < len(rows)-1 {
			b.Truncate(b.Len() - 1)
			b.WriteString(",\n")
		}
	}
	b.WriteString("]\n")
	return b.Bytes()
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestVectorFileIsCurrent(t *testing.T) {
	want := formatVectors(makeVectors())
	if *rewrite {
		if err := os.WriteFile(vectorFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/slots.json differs from what the code says; run go test ./slot -rewrite and look at the difference")
	}
}

func TestVectorsHold(t *testing.T) {
	rows := readVectors(t)
	if len(rows) < 100 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, row := range rows {
		key, err := row.bytes()
		if err != nil {
			t.Fatal(err)
		}
		if got := slot.Of(key); int(got) != row.Slot {
			t.Errorf("Of(%q) = %d, want %d", key, got, row.Slot)
		}
	}
	for key, want := range map[string]slot.ID{"foo": 12182, "bar": 5061, "hello": 866} {
		if got := slot.OfString(key); got != want {
			t.Errorf("OfString(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestVectorsAgreeWithRedis(t *testing.T) {
	srv := redistest.Start(t, "--cluster-enabled", "yes")
	c := srv.Dial(t)
	for _, row := range readVectors(t) {
		key, err := row.bytes()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(c.Do("CLUSTER", "KEYSLOT", string(key))); got != fmt.Sprint(row.Slot) {
			t.Errorf("redis puts %q into slot %s, the file says %d", key, got, row.Slot)
		}
	}
}
