package shard

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
)

// piece is keys of one database, encoded.
type piece struct {
	db      int
	keys    int64
	encoded []byte
	// value is that of the last of the keys, if it is a long string: it is written
	// from where it is. Bytes is nil when there is none.
	value store.Pinned
}

// pieces are what is to be written, in order.
type pieces struct {
	list []piece
	keys int
	size int    // bytes
	room []byte // memory for the next piece
}

// pieceBytes is the size from which on a new piece is begun, as making one larger
// means to copy it.
const pieceBytes = 64 << 10

// to gives the piece to which a key of a database is to be added.
func (o *pieces) to(db int) *piece {
	if n := len(o.list); n > 0 {
		if p := &o.list[n-1]; p.db == db && p.value.Bytes == nil && len(p.encoded) < pieceBytes {
			return p
		}
	}
	o.list = append(o.list, piece{db: db, encoded: o.room[:0]})
	o.room = nil
	return &o.list[len(o.list)-1]
}

// add adds what encode appends, which ends a number of keys.
func (o *pieces) add(db, keys int, encode func(dst []byte) []byte) {
	p := o.to(db)
	before := len(p.encoded)
	p.encoded = encode(p.encoded)
	p.keys += int64(keys)
	o.keys += keys
	o.size += len(p.encoded) - before
}

// pin makes a long string what comes next.
func (o *pieces) pin(db int, v store.Pinned) {
	o.to(db).value = v
	o.size += len(v.Bytes)
}

// join moves what is in other pieces to the end of these.
func (o *pieces) join(other *pieces) {
	o.list = append(o.list, other.list...)
	o.keys += other.keys
	o.size += other.size
	*other = pieces{}
}

// reset gives up what the pieces refer to, and keeps memory of usual size.
func (o *pieces) reset() {
	for i := range o.list {
		if p := &o.list[i]; p.value.Bytes != nil {
			p.value.Release()
		} else if cap(p.encoded) <= 2*pieceBytes {
			o.room = p.encoded
		}
	}
	clear(o.list)
	o.list, o.keys, o.size = o.list[:0], 0, 0
}

// write writes pieces.
func (s *Snapshot) write(w *rdb.Writer, out *pieces) error {
	for i := range out.list {
		p := &out.list[i]
		if err := s.selectDB(w, p.db); err != nil {
			return err
		}
		if _, err := w.Write(p.encoded); err != nil {
			return fmt.Errorf("write keys: %w", err)
		}
		if p.value.Bytes != nil {
			err := w.Append(func(dst []byte) []byte { return rdb.AppendString(dst, p.value.Bytes, s.o.Compress) })
			if err != nil {
				return fmt.Errorf("write a value: %w", err)
			}
		}
		s.written.Add(p.keys)
	}
	return nil
}

func (s *Snapshot) selectDB(w *rdb.Writer, db int) error {
	var err error
	switch {
	case db == s.db:
	case s.sized[db]:
		err = w.Select(db)
	default:
		err = w.Database(db, s.usage[db].Keys, s.usage[db].Expiring)
		s.sized[db] = true
	}
	s.db = db
	if err != nil {
		return fmt.Errorf("select a database: %w", err)
	}
	return nil
}
