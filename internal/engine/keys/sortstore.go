package keys

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

var nameRPush = []byte("RPUSH")

// keep makes a list of the chosen elements, or of what GET finds for them, and
// replies with its length.
func (s *sorting) keep(chosen []sortable) {
	list := make([][]byte, 0, len(chosen)*max(1, len(s.get)))
	for i := range chosen {
		if len(s.get) == 0 {
			list = append(list, chosen[i].text)
		}
		for _, pattern := range s.get {
			v, _ := s.lookup(pattern, chosen[i].text)
			list = append(list, append([]byte{}, v...))
		}
	}
	c, dst := s.c, s.store
	if len(list) == 0 {
		c.StoreNothing(dst)
		return
	}
	if _, existed := c.Find(dst); existed {
		c.EmitDel(dst)
	}
	s.put(dst, list)
	c.Emit(append([][]byte{nameRPush, dst}, list...)...)
	c.Notify(shard.NotifyList, "sortstore", dst)
	c.W.Int(int64(len(list)))
}

// put makes a key a list.
func (s *sorting) put(dst []byte, list [][]byte) {
	c := s.c
	size := 0
	for _, v := range list {
		size += len(v)
	}
	limit := engine.ListLimit(c.Config)
	var l value.List
	l.Own(c.Scratch())
	if !l.Fits(limit, len(list), size) {
		l.Grow(c.NewList(dst, limit), limit, len(list), size)
	}
	for _, v := range list {
		l.Push(v, false)
	}
	packed, body := l.Content()
	c.Put(dst, &store.Content{Type: store.List, Value: packed, Body: body})
	if packed != nil {
		c.KeepScratch(packed)
	}
}
