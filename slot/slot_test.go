package slot

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCRC16IsXmodem(t *testing.T) {
	for text, want := range map[string]uint16{"": 0, "123456789": 0x31C3, "A": 0x58E5} {
		if got := CRC16([]byte(text)); got != want {
			t.Errorf("CRC16(%q) = %#x, want %#x", text, got, want)
		}
	}
}

// bitwiseCRC is the definition, without tables.
func bitwiseCRC(b []byte) uint16 {
	var crc uint16
	for _, c := range b {
		crc ^= uint16(c) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ polynomial
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

func TestCRC16EqualsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "b")
		if got, want := CRC16(b), bitwiseCRC(b); got != want {
			t.Fatalf("CRC16(%x) = %#x, want %#x", b, got, want)
		}
	})
}

func TestTagIsTheFirstClosedNonEmptyPair(t *testing.T) {
	for _, c := range []struct{ key, tag string }{
		{"", ""},
		{"plain", "plain"},
		{"{user1}.name", "user1"},
		{"a{b}c{d}", "b"},
		{"{}foo", "{}foo"},
		{"{}{foo}", "{}{foo}"},
		{"foo{}{bar}", "foo{}{bar}"},
		{"foo{{bar}}zap", "{bar"},
		{"open{only", "open{only"},
		{"close}only", "close}only"},
		{"}{x}", "x"},
		{"}a{", "}a{"},
		{"{", "{"},
		{"{}", "{}"},
		{"{a", "{a"},
		{"{\x00}x", "\x00"},
		{"{clé}", "clé"},
	} {
		if got := string(Tag([]byte(c.key))); got != c.tag {
			t.Errorf("Tag(%q) = %q, want %q", c.key, got, c.tag)
		}
	}
}

func TestHashingDoesNotAllocate(t *testing.T) {
	key, text := []byte("{user1000}.followers"), "{user1000}.followers"
	n := testing.AllocsPerRun(100, func() {
		if Of(key) != OfString(text) {
			t.Error("Of and OfString differ")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkOf(b *testing.B) {
	for _, n := range []int{4, 8, 16, 40, 200} {
		key := []byte(strings.Repeat("key:00001234abcd", 13)[:n])
		b.Run(fmt.Sprintf("%dB", n), func(b *testing.B) {
			for b.Loop() {
				Of(key)
			}
		})
	}
}

func BenchmarkOfTagged(b *testing.B) {
	key := []byte("{user1000}.follo")
	for b.Loop() {
		Of(key)
	}
}
