package server_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/player"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// contents lists everything in a key space, whatever form it is in. Keys and fields
// whose time is over are among it until they are removed.
func contents(space *shard.Space) []string {
	var all []string
	tx := space.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	for db := range space.Databases() {
		tx.DB = db
		tx.Each(func(key []byte, e store.Entry) {
			all = append(all, fmt.Sprintf("%d %q %s %q %d", db, key, e.Type, elements(tx, key, e), e.ExpireAt))
		})
	}
	slices.Sort(all)
	return all
}

// elements lists what a value consists of, in order where there is one.
func elements(tx *shard.Tx, key []byte, e store.Entry) (all []string) {
	var body *store.Body
	if e.Large() {
		body = tx.Body(key, &e)
	}
	add := func(e pack.Element) bool {
		all = append(all, string(e.AppendTo(nil)))
		return true
	}
	switch e.Type {
	case store.List:
		value.VisitList(&e, body, add)
	case store.Set:
		value.VisitSet(&e, body, add)
		slices.Sort(all)
	case store.Hash:
		value.VisitHash(&e, body, 0, func(field, v pack.Element, at int64) bool {
			all = append(all, fmt.Sprintf("%s: %s until %d", field.AppendTo(nil), v.AppendTo(nil), at))
			return true
		})
		slices.Sort(all)
	case store.ZSet:
		value.VisitSortedSet(&e, body, func(member pack.Element, score float64) bool {
			all = append(all, fmt.Sprintf("%s: %v", member.AppendTo(nil), score+0)) // packed, -0 is 0
			return true
		})
	default:
		all = []string{string(e.Value)}
	}
	return all
}

// replayed is what programs are made of whose effects are applied elsewhere.
type replayed struct {
	name     string
	programs *rapid.Generator[[][]string]
	settings map[string][]string // that are changed on the way, of the writer only
}

var replays = []replayed{
	{name: "all", programs: player.NewGenerator(player.DebianVersion).Programs(200)},
	{"hash", player.NewWholeFamily("hash").Programs(200), map[string][]string{
		"hash-max-listpack-entries": {"0", "2", "4", "512"}, "hash-max-listpack-value": {"0", "3", "64"}}},
	{"list", player.NewWholeFamily("list").Programs(200), map[string][]string{"list-max-listpack-size": {"-2", "1", "3"}}},
	{"set", player.NewWholeFamily("set").Programs(200), map[string][]string{
		"set-max-intset-entries": {"0", "2", "512"}, "set-max-listpack-entries": {"0", "2", "128"}}},
	{"sorted-set", player.NewWholeFamily("sorted-set").Programs(200), map[string][]string{
		"zset-max-listpack-entries": {"0", "2", "4", "128"}, "zset-max-listpack-value": {"0", "3", "64"}}},
}

// TestEffectsRebuildTheKeySpace runs random programs, in which time passes, and
// applies the log that they leave to an empty key space: both must be the
// same.
func TestEffectsRebuildTheKeySpace(t *testing.T) {
	for _, r := range replays {
		t.Run(r.name, func(t *testing.T) {
			programs := player.Settings(r.programs, r.settings)
			rapid.Check(t, func(t *rapid.T) {
				writer := newConsole(t)
				for _, args := range programs.Draw(t, "program") {
					switch rapid.IntRange(0, 29).Draw(t, "besides") {
					case 0, 1:
						writer.run("SELECT", fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "db")))
					case 2:
						writer.millis += rapid.Int64Range(0, 150_000_000).Draw(t, "millis")
					case 3:
						for tx := writer.space.NewTx(); tx.ExpireStep(writer.millis, 10); {
						}
					}
					writer.run(args...)
				}
				compareReplay(t, writer)
			})
		})
	}
}

func compareReplay(t *rapid.T, writer *console) {
	records, ok := writer.space.Shards()[0].ReadLog(1, 1<<20)
	if !ok {
		t.Fatal("the log does not reach back to the start")
	}
	reader := newConsole(t)
	w := reader.srv.NewExecutor().(*server.Worker)
	for i, payload := range records {
		if err := w.Apply(0, payload); err != nil {
			t.Fatalf("record %d: %v", i+1, err)
		}
	}
	if want, got := contents(writer.space), contents(reader.space); !slices.Equal(want, got) {
		t.Fatalf("after %d records\nwriter: %q\nreader: %q", len(records), want, got)
	}
	again, _ := reader.space.Shards()[0].ReadLog(1, 1<<20)
	if !slices.EqualFunc(records, again, bytes.Equal) {
		t.Fatalf("effects of effects differ: %d records became %d", len(records), len(again))
	}
}
