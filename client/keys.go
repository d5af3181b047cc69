package client

import (
	"bytes"

	"github.com/bowline-kv/bowline/slot"
)

//go:generate go run ./gen

// spec is what the client knows of a command. Rows are shared and never change.
type spec struct {
	name     string // upper case; "CONFIG GET" for a subcommand
	flags    uint8
	request  uint8 // which nodes get it
	response uint8 // how the replies of several nodes become one
	rule     uint8 // how its keys are found
	first    int   // keysOne: the position of the key
	specs    []keySpec
}

const (
	flagReadonly  = 1 << iota // may be sent to a replica, and again after a drop with RetryReads
	flagBlocking              // may wait, so it must not hold up others
	flagContainer             // the second argument belongs to the name
	flagOwn                   // not for a connection that others share
	flagScripts               // its reply says which scripts the server has
)

const (
	requestOne = iota // by its keys, else any node
	requestAllShards
	requestAllNodes
	requestMultiShard // split by slot
	requestSpecial
)

const (
	responseDefault = iota // arrays are joined, else any of them
	responseAllSucceeded
	responseOneSucceeded
	responseAggSum
	responseAggMin
	responseAggLogicalAnd
	responseSpecial // there is no rule
)

const (
	keysNone = iota
	keysOne
	keysSpecs
	keysSet      // SET
	keysBitfield // BITFIELD
	keysSort     // SORT: also the key after the last STORE
	keysMigrate  // MIGRATE: one key, or those after KEYS when it is empty
)

// keySpec is one group of keys: where the search begins, and how far the keys go.
type keySpec struct {
	keyword  string // search from begin for this word, the keys are behind it; "": they are at begin
	begin    int    // with a keyword negative: so far before the end, and searched backwards
	keynum   bool   // a count says how many keys there are
	last     int    // the last key after the first; negative: from the end of the arguments
	step     int    // between keys, at least 1
	limit    int    // above 1: only the first part of that many of the rest
	keynumAt int    // where the count is, from the first argument on
	firstKey int    // where the first key is, from the first argument on
}

var specs = func() map[string]*spec {
	m := make(map[string]*spec, len(table))
	for i := range table {
		m[table[i].name] = &table[i]
	}
	return m
}()

// shortSpecs finds the rows whose names are no longer than a word of memory, nearly
// all, faster than a map does. It is an open hash table.
var shortSpecs = func() (t [shortSlots]shortSpec) {
	for i := range table {
		if name := table[i].name; len(name) <= wordSize {
			key := packName([]byte(name))
			at := shortHash(key)
			for t[at].spec != nil {
				at = (at + 1) % shortSlots
			}
			t[at] = shortSpec{key, &table[i]}
		}
	}
	return t
}()

type shortSpec struct {
	key  uint64
	spec *spec
}

const (
	wordSize   = 8
	shortSlots = 1024
)

// packName makes a word of an upper-cased name.
func packName(name []byte) (key uint64) {
	for _, c := range name {
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		key = key<<8 | uint64(c)
	}
	return key
}

func shortHash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 54 }

func findShort(name []byte) *spec {
	key := packName(name)
	for at := shortHash(key); ; at = (at + 1) % shortSlots {
		e := &shortSpecs[at]
		if e.spec == nil || e.key == key && len(e.spec.name) == len(name) { // leading zeros are not in the key
			return e.spec
		}
	}
}

// unknownCommand is sent to any node, which then says what is wrong with it.
var unknownCommand = &spec{name: ""}

// nameMax is longer than any name in the table, subcommand included.
const nameMax = 48

// findSpec gives the row of a request. It allocates nothing.
func findSpec(args arguments) *spec {
	if first := args.at(0); len(first) <= wordSize {
		if s := findShort(first); s != nil && s.flags&flagContainer == 0 {
			return s
		}
	}
	var buf [nameMax]byte
	name, ok := appendUpper(buf[:0], args.at(0))
	if !ok {
		return unknownCommand
	}
	s := specs[string(name)]
	if s == nil {
		return unknownCommand
	}
	if s.flags&flagContainer == 0 || args.len() < 2 {
		return s
	}
	if name, ok = appendUpper(append(name, ' '), args.at(1)); ok {
		if sub := specs[string(name)]; sub != nil {
			return sub
		}
	}
	return s
}

func appendUpper(dst, word []byte) ([]byte, bool) {
	if len(dst)+len(word) >= nameMax {
		return nil, false
	}
	for _, c := range word {
		if c-'a' < 26 {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst, true
}

// keyPositions calls visit for the position of every key of a request, until it
// answers false. Arguments that do not fit the rule have no keys: the server says so.
func (s *spec) keyPositions(args arguments, visit func(int) bool) {
	switch s.rule {
	case keysOne:
		if s.first < args.len() {
			visit(s.first)
		}
	case keysSpecs:
		s.visitSpecs(args, visit)
	case keysSet, keysBitfield:
		if args.len() > 1 {
			visit(1)
		}
	case keysSort:
		sortKeys(args, visit)
	case keysMigrate:
		migrateKeys(args, visit)
	}
}

// visitSpecs finds nothing when one of the specifications does not fit, save one whose
// keyword is not there: the server will refuse the arguments, wherever they are sent.
func (s *spec) visitSpecs(args arguments, visit func(int) bool) {
	for i := range s.specs {
		k := &s.specs[i]
		first, last, ok := k.span(args)
		if !ok && k.keyword == "" || ok && (first < 0 || last >= args.len() || k.keynum && last < first) {
			return
		}
	}
	for i := range s.specs {
		first, last, ok := s.specs[i].span(args)
		for i, step := first, s.specs[i].step; ok && i <= last; i += step {
			if !visit(i) {
				return
			}
		}
	}
}

func (k *keySpec) span(args arguments) (first, last int, ok bool) {
	first, ok = k.start(args)
	if !ok {
		return 0, 0, false
	}
	if k.keynum {
		at := first + k.keynumAt
		if at >= args.len() {
			return 0, 0, false
		}
		n, ok := parseCount(args.at(at))
		if !ok || n > args.len() {
			return 0, 0, false
		}
		first += k.firstKey
		return first, first + (n-1)*k.step, true
	}
	switch {
	case k.last >= 0:
		return first, first + k.last, true
	case k.limit > 1:
		return first, first + (args.len()-first)/k.limit - 1, true
	}
	return first, args.len() + k.last, true
}

func (k *keySpec) start(args arguments) (int, bool) {
	if k.keyword == "" {
		return k.begin, true
	}
	step, i := 1, k.begin
	if i < 0 {
		step, i = -1, args.len()+i
	}
	for ; i > 0 && i < args.len(); i += step {
		if isWord(args.at(i), k.keyword) {
			return i + 1, i+1 < args.len()
		}
	}
	return 0, false
}

func parseCount(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func isWord(arg []byte, word string) bool {
	return len(arg) == len(word) && bytes.EqualFold(arg, []byte(word))
}

// sortKeys skips options with their values, so that a pattern named "store" is not
// taken for the option.
func sortKeys(args arguments, visit func(int) bool) {
	if args.len() < 2 || !visit(1) {
		return
	}
	store := 0
	for i := 2; i < args.len(); i++ {
		switch a := args.at(i); {
		case isWord(a, "LIMIT"):
			i += 2
		case isWord(a, "GET"), isWord(a, "BY"):
			i++
		case isWord(a, "STORE") && i+1 < args.len():
			i++
			store = i
		}
	}
	if store > 0 {
		visit(store)
	}
}

// migrateKeys knows that the words after AUTH and AUTH2 are secrets, not options.
func migrateKeys(args arguments, visit func(int) bool) {
	if args.len() < 4 {
		return
	}
	for i := 6; i < args.len(); i++ {
		switch a := args.at(i); {
		case isWord(a, "AUTH"):
			i++
		case isWord(a, "AUTH2"):
			i += 2
		case isWord(a, "KEYS") && i+1 < args.len():
			for j := i + 1; len(args.at(3)) == 0 && j < args.len() && visit(j); j++ {
			}
			return
		}
	}
	visit(3)
}

// noSlot stands for a request without keys.
const noSlot = -1

// slotOf gives the one slot of a request's keys, or [noSlot]; false: there are several.
func (s *spec) slotOf(args arguments) (int, bool) {
	if s.rule == keysOne || s.rule == keysSet {
		at := max(1, s.first)
		if at >= args.len() {
			return noSlot, true
		}
		return int(slot.Of(args.at(at))), true
	}
	if s.rule == keysNone {
		return noSlot, true
	}
	found, same := noSlot, true
	s.keyPositions(args, func(i int) bool {
		at := int(slot.Of(args.at(i)))
		same = found == noSlot || found == at
		found = at
		return same
	})
	return found, same
}
