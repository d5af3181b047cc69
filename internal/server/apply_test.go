package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/player"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// replica is a server that gets its data from records.
func newServer(t interface{ Fatal(...any) }) (*server.Server, *shard.Space) {
	space := shard.NewSpace(shard.Options{Databases: 4, LogBytes: 8 << 20})
	srv := server.New(server.Options{Config: config.New(), Space: space, Now: func() session.Instant {
		return session.Instant{Wall: time.Now().UnixMicro(), Mono: 1}
	}})
	return srv, space
}

// contents lists everything in a key space.
func contents(space *shard.Space) []string {
	var all []string
	tx := space.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	for db := range space.Databases() {
		tx.DB = db
		tx.Each(func(key []byte, e store.Entry) {
			all = append(all, fmt.Sprintf("%d %q %s %q %d", db, key, e.Type, e.Value, e.ExpireAt))
		})
	}
	slices.Sort(all)
	return all
}

// TestEffectsRebuildTheKeySpace runs random programs and applies the log that
// they leave to an empty key space: both must be the same.
func TestEffectsRebuildTheKeySpace(t *testing.T) {
	programs := player.NewGenerator().Programs(200)
	rapid.Check(t, func(t *rapid.T) {
		writer, source := newServer(t)
		s, _ := writer.Registry().Add("", "", session.Instant{}, 10, session.Links{})
		b := session.NewBatch(writer.NewExecutor())
		for _, args := range programs.Draw(t, "program") {
			if rapid.IntRange(0, 9).Draw(t, "select") == 0 {
				b.Feed(s, session.Instant{Wall: time.Now().UnixMicro()}, resp.AppendCommandStrings(nil, "SELECT", fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "db"))))
			}
			b.Feed(s, session.Instant{Wall: time.Now().UnixMicro()}, resp.AppendCommandStrings(nil, args...))
			s.W.B = s.W.B[:0]
		}
		records, ok := source.Shards()[0].ReadLog(1, 1<<20)
		if !ok {
			t.Fatal("the log does not reach back to the start")
		}
		reader, target := newServer(t)
		w := reader.NewExecutor().(*server.Worker)
		for i, payload := range records {
			if err := w.Apply(payload); err != nil {
				t.Fatalf("record %d: %v", i+1, err)
			}
		}
		if want, got := contents(source), contents(target); !slices.Equal(want, got) {
			t.Fatalf("after %d records\nwriter: %q\nreader: %q", len(records), want, got)
		}
		again, _ := target.Shards()[0].ReadLog(1, 1<<20)
		if !slices.EqualFunc(records, again, bytes.Equal) {
			t.Fatalf("effects of effects differ: %d records became %d", len(records), len(again))
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte{0, 3, 3, 'S', 'E', 'T', 1, 'a', 1, 'b'})
	f.Add([]byte{9, 1, 3, 'G', 'E', 'T'})
	f.Fuzz(func(t *testing.T, payload []byte) {
		srv, _ := newServer(t)
		err := srv.NewExecutor().(*server.Worker).Apply(payload)
		if err != nil && errors.Is(err, shard.ErrBadEffect) == bytes.Contains([]byte(err.Error()), []byte("apply record: apply")) {
			t.Errorf("error of two kinds: %v", err)
		}
	})
}
