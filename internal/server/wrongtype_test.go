package server

import (
	"fmt"
	"testing"

	"github.com/bowline-kv/bowline/internal/engine/strings"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
)

// putList makes a key that holds no string, as no command can yet.
func putList(s *subject, key string) {
	tx := s.space.NewTx()
	tx.LockAll()
	tx.SetRecord([]byte(key), store.List, []byte("any bytes"), 0)
	tx.Unlock()
}

func TestStringCommandsRefuseOtherTypes(t *testing.T) {
	// What each string command answers to a list; "": it replaces the list.
	answers := map[string]struct {
		args []string
		want string
	}{
		"append":      {[]string{"l", "x"}, reply.WrongType},
		"decr":        {[]string{"l"}, reply.WrongType},
		"decrby":      {[]string{"l", "2"}, reply.WrongType},
		"delifeq":     {[]string{"l", "any bytes"}, reply.WrongType},
		"get":         {[]string{"l"}, reply.WrongType},
		"getdel":      {[]string{"l"}, reply.WrongType},
		"getex":       {[]string{"l", "EX", "10"}, reply.WrongType},
		"getset":      {[]string{"l", "x"}, reply.WrongType},
		"incr":        {[]string{"l"}, reply.WrongType},
		"incrby":      {[]string{"l", "2"}, reply.WrongType},
		"incrbyfloat": {[]string{"l", "2.5"}, reply.WrongType},
		"mget":        {[]string{"l", "s"}, "[<nil> text]"},
		"mset":        {[]string{"l", "x", "s", "text"}, "OK"},
		"msetnx":      {[]string{"new", "x", "l", "x"}, "0"},
		"psetex":      {[]string{"l", "10000", "x"}, "OK"},
		"set":         {[]string{"l", "x"}, "OK"},
		"setex":       {[]string{"l", "10", "x"}, "OK"},
		"setnx":       {[]string{"l", "x"}, "0"},
		"strlen":      {[]string{"l"}, reply.WrongType},
		"getrange":    {[]string{"l", "0", "1"}, reply.WrongType},
		"substr":      {[]string{"l", "0", "1"}, reply.WrongType},
		"setrange":    {[]string{"l", "0", "x"}, reply.WrongType},
		"lcs":         {[]string{"l", "s"}, "ERR The specified keys must contain string values"},
	}
	replaces := map[string]bool{"mset": true, "psetex": true, "set": true, "setex": true}
	s := startSubject(t, first, 1)
	c := s.dial(t)
	for name := range strings.Handlers {
		a, ok := answers[name]
		if !ok {
			t.Errorf("the answer of %s to a list is not in the table", name)
			continue
		}
		putList(s, "l")
		expect(t, c, "OK", "SET", "s", "text")
		expect(t, c, a.want, append([]string{name}, a.args...)...)
		kind := "list"
		if replaces[name] {
			kind = "string"
		}
		if got := fmt.Sprint(c.Do("TYPE", "l")); got != kind {
			t.Errorf("after %s the type is %s, want %s", name, got, kind)
		}
		expect(t, c, "0", "EXISTS", "new")
	}
	// With GET, SET refuses and changes nothing, whatever else it is told.
	putList(s, "l")
	for _, args := range [][]string{{"GET"}, {"XX", "GET"}, {"NX", "GET"}, {"GET", "EX", "10"}} {
		expect(t, c, reply.WrongType, append([]string{"SET", "l", "x"}, args...)...)
		expect(t, c, "list", "TYPE", "l")
		expect(t, c, "-1", "TTL", "l")
	}
}

func TestKeyCommandsTakeEveryType(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	putList(s, "l")
	expect(t, c, "1", "EXISTS", "l")
	expect(t, c, "1", "EXPIRE", "l", "1000")
	expect(t, c, "1", "PERSIST", "l")
	expect(t, c, "[0 [l]]", "SCAN", "0", "TYPE", "list", "COUNT", "100000")
	expect(t, c, "[0 []]", "SCAN", "0", "TYPE", "string", "COUNT", "100000")
	expect(t, c, "1", "DEL", "l")
	expect(t, c, "none", "TYPE", "l")
}
