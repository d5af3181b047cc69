package client

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/resp"
)

// Commands that say which scripts a server has, or change it.
func init() {
	for _, name := range []string{"EVAL", "EVALSHA", "EVALSHA_RO", "SCRIPT LOAD", "SCRIPT FLUSH"} {
		specs[name].flags |= flagScripts
	}
}

// knownScripts are the hashes of scripts that the server at the other end of a
// connection is known to have. They are known for the life of the connection: the run
// of a server ends with its connections, and with it go its scripts.
//
// A SCRIPT FLUSH by this client, wherever it is sent, counts once before it is sent and
// once when it has its reply; a script counts as known as long as there was no flush
// since its command was sent. Of flushes by others a NOSCRIPT tells.
type knownScripts struct {
	flushes *atomic.Uint64 // of the whole client

	mu     sync.Mutex
	byHash map[string]uint64 // with the flushes before its command was sent
}

// knownScriptsMax is how many scripts are remembered for a connection.
const knownScriptsMax = 1024

func (k *knownScripts) has(hash string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	flushes, ok := k.byHash[hash]
	return ok && flushes == k.flushes.Load()
}

// add remembers a script whose command was sent after so many flushes. In a full set
// any other makes room: to forget costs a source sent once more.
func (k *knownScripts) add(hash string, flushes uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.byHash[hash]; !ok && len(k.byHash) == knownScriptsMax {
		for other := range k.byHash {
			delete(k.byHash, other)
			break
		}
	}
	if k.byHash == nil {
		k.byHash = map[string]uint64{}
	}
	k.byHash[hash] = flushes
}

func (k *knownScripts) forget(hash string) {
	k.mu.Lock()
	delete(k.byHash, hash)
	k.mu.Unlock()
}

// encode appends a request as the server shall get it: of a script that it knows the
// hash instead of the source.
func (k *knownScripts) encode(dst []byte, q *call) []byte {
	switch {
	case q.parts != nil:
		dst = append(dst, multiWire...)
		for _, p := range q.parts {
			dst = k.encode(dst, p)
		}
		return append(dst, execWire...)
	case q.spec.flags&flagScripts == 0:
		return append(dst, q.wire...)
	case q.spec.name == "SCRIPT FLUSH":
		k.flushes.Add(1)
	}
	q.flushes = k.flushes.Load()
	q.hashed = 0
	if q.script == nil || q.spec.name != "EVAL" || !k.has(q.script.hash) {
		return append(dst, q.wire...)
	}
	before := len(dst)
	dst = appendHeader(dst, '*', len(q.spans))
	for _, arg := range [...]string{"EVALSHA", q.script.hash} {
		dst = append(append(appendHeader(dst, '$', len(arg)), arg...), "\r\n"...)
	}
	dst = append(dst, q.wire[q.spans[1].to+2:]...)
	q.hashed = len(dst) - before
	return dst
}

// learn sees what a reply tells of the scripts that the server has.
func (k *knownScripts) learn(q *call, v *resp.Value) {
	if q.parts != nil {
		if len(v.Elems) == len(q.parts) {
			for i, p := range q.parts {
				k.learn(p, &v.Elems[i])
			}
		}
		return
	}
	if q.spec.flags&flagScripts == 0 {
		return
	}
	hash := ""
	switch {
	case q.spec.name == "SCRIPT FLUSH":
		k.flushes.Add(1) // whatever the reply says: too often costs little
		return
	case q.spec.name == "SCRIPT LOAD" && !v.IsError():
		hash = string(v.Str)
	case q.script != nil:
		hash = q.script.hash
	case q.spec.name != "EVAL" && len(q.spans) > 1:
		hash = string(bytes.ToLower(q.args().at(1)))
	}
	switch {
	case hash == "":
	case !v.IsError():
		k.add(hash, q.flushes)
	case code(v) == "NOSCRIPT":
		k.forget(hash)
	}
}
