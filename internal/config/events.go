package config

import (
	"strings"
)

// The event classes of notify-keyspace-events: the bits of its Int.
const (
	EventGeneric  int64 = 1 << iota // g: DEL, EXPIRE, RENAME and their like
	EventString                     // $
	EventList                       // l
	EventSet                        // s
	EventHash                       // h
	EventZSet                       // z
	EventExpired                    // x
	EventEvicted                    // e
	EventStream                     // t
	EventModule                     // d
	EventNew                        // n: a key that was not there
	EventKeyspace                   // K: publish to __keyspace@...
	EventKeyevent                   // E: publish to __keyevent@...
	EventMiss                       // m: a read of a key that is not there

	// EventAll is what the letter A stands for; new keys and misses are not in it.
	EventAll = EventGeneric | EventString | EventList | EventSet | EventHash | EventZSet |
		EventExpired | EventEvicted | EventStream | EventModule
)

// eventLetters has the letter of bit i at place i. CONFIG GET prints them in
// this order.
const eventLetters = "g$lshzxetdnKEm"

const errEvents = reason("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")

func parseEvents(word string) (value, error) {
	var bits int64
	for _, letter := range []byte(word) {
		if letter == 'A' {
			bits |= EventAll
			continue
		}
		i := strings.IndexByte(eventLetters, letter)
		if i < 0 {
			return value{}, errEvents
		}
		bits |= 1 << i
	}
	return value{n: bits, text: formatEvents(bits)}, nil
}

func formatEvents(bits int64) string {
	var text []byte
	if bits&EventAll == EventAll {
		text = append(text, 'A')
		bits &^= EventAll
	}
	for i := range len(eventLetters) {
		if bits&(1<<i) != 0 {
			text = append(text, eventLetters[i])
		}
	}
	return string(text)
}
