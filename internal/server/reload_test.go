package server

import (
	"fmt"
	"testing"
	"time"
)

const loadingReply = "LOADING Redis is loading the dataset in memory"

// TestWhatOthersWriteDuringAReloadIsNotLost: what would change behind the snapshot
// is refused, as the snapshot takes the place of everything.
func TestWhatOthersWriteDuringAReloadIsNotLost(t *testing.T) {
	s, m := startSaving(t)
	c, other := s.dial(t), s.dial(t)
	expect(t, c, "OK", "SET", "a", "1")
	hold, reloaded := make(chan struct{}), make(chan any)
	m.set(false, hold)
	go func() { reloaded <- c.Do("DEBUG", "RELOAD") }()
	for end := time.Now().Add(10 * time.Second); infoField(t, other, "rdb_bgsave_in_progress") != "1"; {
		if time.Now().After(end) {
			t.Fatal("no snapshot is begun")
		}
	}
	expect(t, other, loadingReply, "SET", "a", "2")
	expect(t, other, loadingReply, "DEBUG", "RELOAD", "NOSAVE")
	expect(t, other, loadingReply, "DEBUG", "LOADAOF")
	close(hold)
	if got := fmt.Sprint(<-reloaded); got != "OK" {
		t.Fatalf("DEBUG RELOAD: %v", got)
	}
	expect(t, other, "1", "GET", "a")
	expect(t, other, "OK", "SET", "a", "2")
}

// TestANodeWhoseDataCantBeReadServesNobody until it has ended: there is a part of the data,
// or none, and no log takes what is written.
func TestANodeWhoseDataCantBeReadServesNobody(t *testing.T) {
	s, _ := startSaving(t)
	c := s.dial(t)
	if err := s.Load(); err == nil { // the file is empty
		t.Fatal("the data was read")
	}
	expect(t, c, loadingReply, "SET", "a", "1")
	expect(t, c, loadingReply, "GET", "a")
}

// TestDebugReloadIsRefusedWhileTheNodeLoads: it would write the part that is there
// over the file.
func TestDebugReloadIsRefusedWhileTheNodeLoads(t *testing.T) {
	s, _ := startSaving(t)
	c := s.dial(t)
	s.ExpectLoad()
	for _, args := range [][]string{{"DEBUG", "RELOAD"}, {"DEBUG", "RELOAD", "NOSAVE"}, {"DEBUG", "LOADAOF"}, {"SET", "a", "1"}} {
		expect(t, c, loadingReply, args...)
	}
	s.setState(stateLoading, false)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "DEBUG", "RELOAD")
	expect(t, c, "1", "GET", "a")
}

// TestAStopKeepsTheFileWhenALoadFailed: a part of the data would take its place.
func TestAStopKeepsTheFileWhenALoadFailed(t *testing.T) {
	s, m := startSaving(t, "save", "3600 1")
	c := s.dial(t)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "SET", "b", "1")
	expect(t, c, "OK", "SAVE")
	m.mu.Lock()
	whole := m.file
	m.file = whole[:len(whole)-12]
	m.mu.Unlock()
	expect(t, c, "ERR Error trying to load the RDB dump, check server logs.", "DEBUG", "RELOAD", "NOSAVE")
	expect(t, c, "OK", "SET", "c", "1")
	if err := s.FinalSave(); err != nil {
		t.Fatal(err)
	}
	if len(m.file) != len(whole)-12 {
		t.Error("the file was replaced")
	}
}
