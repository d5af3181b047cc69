package server

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

// digest is what DEBUG DIGEST tells of data: the same as redis-server's for the same
// data, whatever form it is in, so that two servers can be compared.
type digest [sha1.Size]byte

// add adds what comes in no order.
func (d *digest) add(part []byte) {
	sum := sha1.Sum(part)
	for i := range d {
		d[i] ^= sum[i]
	}
}

// next adds what comes after what was added before.
func (d *digest) next(part []byte) {
	d.add(part)
	*d = sha1.Sum(d[:])
}

func (d *digest) nextNumber(n int) { d.next(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// typeNumbers are those of types in Redis.
var typeNumbers = map[store.Type]int{store.String: 0, store.List: 1, store.Set: 2, store.ZSet: 3, store.Hash: 4, store.Stream: 6}

// value adds a value and whether it expires.
func (d *digest) value(e *store.Entry, body *store.Body) {
	d.nextNumber(typeNumbers[e.Type])
	var text []byte
	switch e.Type {
	case store.List:
		value.VisitList(e, body, func(v pack.Element) bool {
			text = v.AppendTo(text[:0])
			d.next(text)
			return true
		})
	case store.Set:
		value.VisitSet(e, body, func(v pack.Element) bool {
			text = v.AppendTo(text[:0])
			d.add(text)
			return true
		})
	case store.Hash:
		value.VisitHash(e, body, 0, func(field, v pack.Element, at int64) bool {
			var one digest
			one.next(field.AppendTo(nil))
			one.next(v.AppendTo(nil))
			if at != 0 {
				one.add([]byte("!!hexpire!!"))
			}
			d.add(one[:])
			return true
		})
	case store.ZSet:
		value.VisitSortedSet(e, body, func(member pack.Element, score float64) bool {
			var one digest
			one.next(member.AppendTo(nil))
			one.next(resp.AppendDouble(nil, score))
			d.add(one[:])
			return true
		})
	default:
		d.next(e.Value)
	}
	if e.ExpireAt != 0 {
		d.add([]byte("!!expire!!"))
	}
}

func (w *Worker) bodyOf(key []byte, e *store.Entry) *store.Body {
	if e.Large() {
		return w.ctx.Body(key, e)
	}
	return nil
}

func debugDigestValue(w *Worker, s *session.Session, args [][]byte) {
	s.W.Array(len(args))
	for _, name := range args {
		w.withKey(s, name, func(e store.Entry, ok bool) {
			var d digest
			if ok {
				d.value(&e, w.bodyOf(name, &e))
			}
			s.W.Simple(hex.EncodeToString(d[:]))
		})
	}
}

// debugDigest does not depend on the order of keys; no keys have the digest 0.
func debugDigest(w *Worker, s *session.Session, _ [][]byte) {
	var all digest
	if !w.inExec {
		w.ctx.LockAll()
		defer w.ctx.Unlock()
	}
	db := w.ctx.DB
	defer func() { w.ctx.DB = db }()
	for w.ctx.DB = range w.srv.space.Databases() {
		if w.ctx.Len() == 0 {
			continue
		}
		all.nextNumber(w.ctx.DB)
		w.ctx.Each(func(key []byte, e store.Entry) {
			var one digest
			one.next(key)
			one.value(&e, w.bodyOf(key, &e))
			all.add(one[:])
		})
	}
	s.W.Simple(hex.EncodeToString(all[:]))
}
