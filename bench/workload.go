package main

import (
	"bytes"
	"math/bits"
	"strconv"
	"strings"
)

// workload is a command as the load sends it, again and again with other
// numbers in its arguments.
type workload struct {
	name string
	// words are the arguments. In one of them {key}, {member}, {score} and {expiry} stand for a
	// number of as many digits as [numberDigits] says, and {value} for the value.
	words []string
	// key is the one key, where there is only one.
	key string
	// keys is how many different keys are used; 0: as many as the run says.
	keys int64
	// sized: the value's size matters, so that there is a row for each.
	sized bool
	// hits: a null in the reply means that the data is not there, a mistake.
	hits bool
}

var workloads = []workload{
	{name: "GET", words: []string{"GET", "key:{key}"}, sized: true, hits: true},
	{name: "SET", words: []string{"SET", "key:{key}", "{value}"}, sized: true},
	{name: "INCR", words: []string{"INCR", "ctr:{key}"}},
	{name: "MSET10", words: msetWords(10), sized: true},
	{name: "LPUSH", words: []string{"LPUSH", "lst:{key}", "{value}"}, keys: 1000, sized: true},
	{name: "HSET", words: []string{"HSET", "hsh:{key}", "fld:{member}", "{value}"}, keys: 10_000, sized: true},
	{name: "SADD", words: []string{"SADD", "set:{key}", "mem:{member}"}, keys: 10_000},
	{name: "ZADD", words: []string{"ZADD", "zst:{key}", "{score}", "mem:{member}"}, keys: 10_000},
}

// deletion and the others here are no rows; they make work in other rows.
var (
	deletion = workload{name: "DEL", words: []string{"DEL", "key:{key}"}}
	expiring = workload{name: "SETPXAT", words: []string{"SET", "key:{key}", "{value}", "PXAT", "{expiry}"}}
)

// collections fill memory: many small hashes, and one large value of each other
// type, with members of 16 bytes.
var collections = []workload{
	{name: "hashes", words: []string{"HSET", "hsh:{key}", "f1", "vvvvv", "f2", "vvvvv", "f3", "vvvvv", "f4", "vvvvv", "f5", "vvvvv"}},
	{name: "zset", key: "zset", words: []string{"ZADD", "zset", "{score}", "mem:{key}"}},
	{name: "set", key: "set", words: []string{"SADD", "set", "mem:{key}"}},
	{name: "list", key: "list", words: []string{"RPUSH", "list", "mem:{key}"}},
}

// members is how many different fields or members a collection's key gets.
const members = 1000

func msetWords(n int) []string {
	words := []string{"MSET"}
	for range n {
		words = append(words, "key:{key}", "{value}")
	}
	return words
}

// findWorkload also finds what is no row; nil when there is none of the name.
func findWorkload(name string) *workload {
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	for i := range collections {
		if collections[i].name == name {
			return &collections[i]
		}
	}
	for _, w := range []*workload{&deletion, &expiring} {
		if w.name == name {
			return w
		}
	}
	return nil
}

// numberDigits is the width of each kind of number: with its prefix a key has 16
// bytes. An expiry time has 13 digits until the year 2286.
var numberDigits = map[string]int{"{key}": 12, "{member}": 8, "{score}": 6, "{expiry}": 13}

// hole is a number inside of a command, to be written anew for each.
type hole struct {
	at, digits int
	mark       string // the key of numberDigits
}

// template is a command with holes. All commands made from it have one length.
type template struct {
	bytes []byte
	holes []hole
}

func (w *workload) template(valueBytes int) template {
	var t template
	t.bytes = append(strconv.AppendInt(append(t.bytes, '*'), int64(len(w.words)), 10), "\r\n"...)
	for _, word := range w.words {
		text := strings.ReplaceAll(word, "{value}", strings.Repeat("v", valueBytes))
		mark := ""
		for m, digits := range numberDigits {
			if strings.Contains(text, m) {
				mark = m
				text = strings.ReplaceAll(text, m, strings.Repeat("0", digits))
			}
		}
		t.bytes = append(strconv.AppendInt(append(t.bytes, '$'), int64(len(text)), 10), "\r\n"...)
		t.bytes = append(t.bytes, text...)
		if mark != "" {
			digits := numberDigits[mark]
			t.holes = append(t.holes, hole{at: len(t.bytes) - digits, digits: digits, mark: mark})
		}
		t.bytes = append(t.bytes, "\r\n"...)
	}
	return t
}

// repeat is a pipeline of n commands to be filled in.
func (t template) repeat(n int) []byte { return bytes.Repeat(t.bytes, n) }

// fill writes the numbers of the i-th command of a pipeline.
func (t *template) fill(pipeline []byte, i int, numbers *numbers) {
	command := pipeline[i*len(t.bytes):]
	for _, h := range t.holes {
		n := uint64(0)
		switch h.mark {
		case "{key}":
			n = numbers.nextKey()
		case "{expiry}":
			n = numbers.expiry + numbers.below(numbers.expirySpread+1)
		default:
			n = numbers.below(members)
		}
		putDigits(command[h.at:h.at+h.digits], n)
	}
}

// putDigits writes n with leading zeros.
func putDigits(dst []byte, n uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
}

// order says which keys come.
type order string

const (
	orderRandom order = "random" // any key, again and again
	orderOnce   order = "once"   // every key once
	orderMost   order = "most"   // every key once but for a random tenth
)

// numbers makes the numbers of one slice: the same ones for the same seed.
type numbers struct {
	state uint64
	keys  uint64
	order order
	next  uint64

	expiry, expirySpread uint64
}

func (n *numbers) nextKey() uint64 {
	switch n.order {
	case orderOnce:
		n.next++
		return n.next - 1
	case orderMost:
		for kept(n.next) {
			n.next++
		}
		n.next++
		return n.next - 1
	}
	return n.below(n.keys)
}

// kept says whether orderMost spares a key.
func kept(key uint64) bool { return mix(key)%10 == 0 }

// countMost is how many of the first keys orderMost yields.
func countMost(keys int64) int64 {
	n := int64(0)
	for key := range uint64(keys) {
		if !kept(key) {
			n++
		}
	}
	return n
}

// below gives a random number under limit.
func (n *numbers) below(limit uint64) uint64 {
	n.state += 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(mix(n.state), limit)
	return high
}

// mix spreads the bits of x over all 64.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
