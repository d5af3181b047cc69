package client

import (
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

// FuzzMap reads any bytes as maps and redirections: nothing panics, and an address
// that comes out can be taken apart again.
func FuzzMap(f *testing.F) {
	for _, seed := range []string{map3(), withReplicas(), "-MOVED 1 ::1:7000\r\n", "-ASK 16383 :0\r\n", "-MOVED 5 [a]:x\r\n",
		array(array(":0\r\n", ":5\r\n", array(bulk("h"), ":1\r\n", bulk("id"), array(bulk("hostname"), bulk("n")))))} {
		f.Add([]byte(seed), "h:1")
	}
	f.Fuzz(func(t *testing.T, text []byte, asked string) {
		r := resp.ReplyReader{MaxElems: 1000}
		v, _, err := r.Next(text)
		if err != nil {
			return
		}
		if to, ok := parseRedirect(&v, asked); ok {
			_, _, askedGood := announce.Split(asked)
			if _, _, ok := announce.Split(to.addr); askedGood && !ok {
				t.Errorf("%q asked, %q read from %q", asked, to.addr, text)
			}
		}
		for _, useTLS := range []bool{false, true} {
			if l, err := announce.ParseShards(&v, asked, useTLS); err == nil {
				buildMap(l)
			}
		}
		if l, err := announce.ParseSlots(&v, asked); err == nil {
			buildMap(l)
		}
	})
}

func buildMap(l *announce.Map) {
	c := newCore(Options{})
	defer c.close()
	build(l, func(addr, name string) *node { return newNode(c, addr, name) }).primaries()
}

// FuzzKeys looks for the keys of any request: positions stay inside it.
func FuzzKeys(f *testing.F) {
	for i := range table {
		f.Add(strings.ReplaceAll(table[i].name, " ", "\x00") + "\x00a\x00b\x002\x00c\x00STORE\x00d\x00STREAMS\x00e\x00KEYS")
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := newCall()
		q.fill(strings.Split(text, "\x00")...)
		q.spec.keyPositions(q.args(), func(i int) bool {
			if i < 1 || i >= q.args().len() {
				t.Errorf("key %d of %d arguments", i, q.args().len())
			}
			return true
		})
		if q.splits() {
			newSplit(q).release()
		}
	})
}
