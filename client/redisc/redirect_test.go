package redisc_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

func TestParseRedir(t *testing.T) {
	for _, c := range []struct {
		err  error
		want *redisc.RedirError
	}{
		{redis.Error("MOVED 3999 127.0.0.1:6381"), &redisc.RedirError{Type: "MOVED", NewSlot: 3999, Addr: "127.0.0.1:6381"}},
		{redis.Error("ASK 0 node.example:6381"), &redisc.RedirError{Type: "ASK", NewSlot: 0, Addr: "node.example:6381"}},
		{redis.Error("MOVED 1 ::1:7000"), &redisc.RedirError{Type: "MOVED", NewSlot: 1, Addr: "[::1]:7000"}},
		{redis.Error("MOVED 1 [fe80::1]:7000"), &redisc.RedirError{Type: "MOVED", NewSlot: 1, Addr: "[fe80::1]:7000"}},
		{redis.Error("MOVED 1 :7000"), &redisc.RedirError{Type: "MOVED", NewSlot: 1, Addr: ":7000"}},
		{fmt.Errorf("wrapped: %w", redis.Error("ASK 5 h:1")), &redisc.RedirError{Type: "ASK", NewSlot: 5, Addr: "h:1"}},
		{errors.Join(errors.New("x"), redis.Error("ASK 5 h:1")), &redisc.RedirError{Type: "ASK", NewSlot: 5, Addr: "h:1"}},
		{nil, nil},
		{errors.New("MOVED 3999 127.0.0.1:6381"), nil}, // no node said it
		{redis.Error("MOVED 3999"), nil},
		{redis.Error("MOVED x 127.0.0.1:6381"), nil},
		{redis.Error("MOVED 16384 127.0.0.1:6381"), nil},
		{redis.Error("MOVED -1 127.0.0.1:6381"), nil},
		{redis.Error("MOVED 1 h:1 more"), nil},
		{redis.Error("ERR MOVED 1 h:1"), nil},
		{redis.Error(""), nil},
	} {
		got := redisc.ParseRedir(c.err)
		if (got == nil) != (c.want == nil) {
			t.Errorf("%v: %+v", c.err, got)
			continue
		}
		if got != nil && (got.Type != c.want.Type || got.NewSlot != c.want.NewSlot || got.Addr != c.want.Addr) {
			t.Errorf("%v: %+v, want %+v", c.err, got, c.want)
		}
	}
}

func TestRedirErrorKeepsTheAnswer(t *testing.T) {
	re := redisc.ParseRedir(redis.Error("MOVED 1 ::1:7000"))
	if re.Error() != "MOVED 1 ::1:7000" || !errors.Is(re, redis.Error("MOVED 1 ::1:7000")) {
		t.Errorf("got %v", re)
	}
	var found *redisc.RedirError
	if err := fmt.Errorf("get: %w", re); !errors.As(err, &found) || redisc.ParseRedir(err) != re {
		t.Error("a wrapped RedirError is not found")
	}
}

func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		err             error
		again, crossing bool
	}{
		{redis.Error("TRYAGAIN Multiple keys request during rehashing of slot"), true, false},
		{redis.Error("CROSSSLOT Keys in request don't hash to the same slot"), false, true},
		{redis.Error("TRYAGAIN"), true, false},
		{fmt.Errorf("wrapped: %w", redis.Error("CROSSSLOT")), false, true},
		{redis.Error("TRYAGAINST"), false, false},
		{redis.Error("ERR CROSSSLOT"), false, false},
		{errors.New("CROSSSLOT"), false, false},
		{nil, false, false},
	} {
		if redisc.IsTryAgain(c.err) != c.again || redisc.IsCrossSlot(c.err) != c.crossing {
			t.Errorf("%v: %v, %v", c.err, redisc.IsTryAgain(c.err), redisc.IsCrossSlot(c.err))
		}
	}
}

// FuzzParseRedir: nothing panics, and what is read can be used.
func FuzzParseRedir(f *testing.F) {
	for _, seed := range []string{"MOVED 1 ::1:7000", "ASK 16383 :0", "MOVED 5 [a]:x", "MOVED 1 a", "ASK  2\th:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		re := redisc.ParseRedir(redis.Error(text))
		if re == nil {
			return
		}
		if re.NewSlot < 0 || re.NewSlot >= redisc.HashSlots || re.Addr == "" || re.Error() != text || re.Type != "MOVED" && re.Type != "ASK" {
			t.Errorf("%q: %+v", text, re)
		}
	})
}
