package node

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

var (
	crashSeeds = flag.Int("crash.seeds", 8, "how many crash histories of a node are played")
	crashSeed  = flag.Uint64("crash.seed", 1, "the seed of the first one")
)

// TestANodeHasWhatItPromisedAfterEachCrash plays histories of a node, in virtual time,
// on a disk with faults whose power is cut: the data after a start is that after
// some of the commands that were sent, in their order, and those for which the
// profile promises it are among them.
func TestANodeHasWhatItPromisedAfterEachCrash(t *testing.T) {
	var totals tallies
	for i := range *crashSeeds {
		seed := *crashSeed + uint64(i)
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("again: go test ./internal/node -run EachCrash -crash.seed %d -crash.seeds 1", seed)
				}
			}()
			h := &history{t: t, rand: rand.New(rand.NewPCG(seed, 0)), totals: &totals}
			h.play()
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", totals)
	if *crashSeeds >= 30 && (totals.Lost == 0 || totals.Failures == 0 || totals.Refused == 0 || totals.FromSnapshot == 0 || totals.Passed == 0 || totals.Damaged == 0 || totals.InFlight == 0) {
		t.Errorf("the histories show too little: %+v", totals)
	}
}

// tallies say what happened in all histories.
type tallies struct {
	Starts, Commands, Refused, Lost, InFlight, Failures, FromSnapshot, Passed, Damaged int
}

// history is the life of one node over several starts.
type history struct {
	t      *testing.T
	rand   *rand.Rand
	totals *tallies

	disk    *vfs.MemFS
	profile string
	keep    string // wal-history-size
	trouble trouble
	alike   *subject // a node without files that is given the same commands
	// commands are those that may have been executed; digests[i] is that of the data
	// after the first i of them, and answered[i] when the i-th was answered, if it was.
	commands [][]string
	digests  []string
	answered []time.Time
	ended    time.Time // when the power was cut, or the node stopped
	calm     bool      // until then syncs came when they were due
}

// subject is a node, and a connection to it.
type subject struct {
	n      *Node
	c      *redistest.Conn
	failed chan struct{} // closed when its log has failed
}

func (h *history) play() {
	h.disk = vfs.Mem()
	h.profile = []string{"always", "always", "everysec"}[h.rand.IntN(3)]
	h.keep = []string{"0", "1mb"}[h.rand.IntN(2)]
	h.alike = h.start(nil, "appendonly", "no", "dir", "/none")
	defer h.stop(h.alike)
	h.digests = []string{h.digest(h.alike)}
	for range 4 {
		s := h.startDamaged()
		h.check(s)
		if h.t.Failed() {
			h.stop(s)
			return
		}
		h.live(s)
	}
	s := h.startOn(h.disk)
	h.check(s)
	h.stop(s)
}

func (h *history) start(files vfs.FS, pairs ...string) *subject {
	h.t.Helper()
	s, err := h.tryStart(files, pairs...)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *history) tryStart(files vfs.FS, pairs ...string) (*subject, error) {
	l := redistest.NewPipes()
	s := &subject{failed: make(chan struct{})}
	pairs = append([]string{"save", "", "enable-debug-command", "yes", "network", "portable", "hz", "4", "repl-backlog-size", "16kb"}, pairs...)
	var err error
	s.n, err = Start(Options{
		Config: settings(h.t, pairs...), Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: []net.Listener{l}, Files: files,
		Fail: func(error) { close(s.failed) },
	})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.c = l.Dial(h.t)
	return s, nil
}

// startOn starts the node on a disk that gives trouble later.
func (h *history) startOn(disk *vfs.MemFS) *subject {
	s, err := h.tryStartOn(disk)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *history) tryStartOn(disk *vfs.MemFS) (*subject, error) {
	h.totals.Starts++
	h.trouble = trouble{}
	s, err := h.tryStart(vfs.Faults(disk, h.trouble.rule), "appendonly", "yes", "appendfsync", h.profile, "dir", "/data", "wal-segment-size", "24kb", "wal-history-size", h.keep,
		"auto-aof-rewrite-min-size", "6kb", "auto-aof-rewrite-percentage", "50")
	h.trouble.set(h.rand)
	return s, err
}

// startDamaged starts the node, at times with a page of the log flipped that was safe for
// long: it passes over that, or is refused, and the page is put right.
func (h *history) startDamaged() *subject {
	h.t.Helper()
	names, _ := h.disk.List("/data/appendonlydir")
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "-") })
	const fresh = 3 // the newest segments: what they end with may look as if it was not written whole
	if len(names) <= fresh || h.rand.IntN(2) == 0 {
		return h.startOn(h.disk)
	}
	path := "/data/appendonlydir/" + names[h.rand.IntN(len(names)-fresh)]
	off := int64(h.rand.IntN(6)) * 4096
	invert := func() {
		edit(h.t, h.disk, path, off, func(b []byte) {
			for i := range min(len(b), 4096) {
				b[i] ^= 255
			}
		})
	}
	invert()
	s, err := h.tryStartOn(h.disk)
	if err == nil {
		h.totals.Passed++
		return s
	}
	h.totals.Damaged++
	if c := (*wal.CorruptError)(nil); !errors.As(err, &c) {
		h.t.Fatal(err)
	}
	invert()
	return h.startOn(h.disk)
}

func (h *history) stop(s *subject) {
	s.c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	s.n.Stop(ctx) // which fails as the disk does
}

// send writes, however long that takes.
func (s *subject) send(wire []byte) {
	s.c.Net().SetWriteDeadline(time.Time{})
	s.c.Net().Write(wire) // the node may be gone
}

func (h *history) digest(s *subject) string { return fmt.Sprint(s.c.Do("DEBUG", "DIGEST")) }

// check finds out which commands the data is of.
func (h *history) check(s *subject) {
	h.t.Helper()
	got, last := h.digest(s), len(h.digests)-1
	at := last
	for at >= 0 && h.digests[at] != got {
		at--
	}
	promised := h.promised()
	switch {
	case at < 0:
		h.t.Errorf("the data is not that after any number of the %d commands", last)
		return
	case at < promised:
		h.t.Errorf("%s: the data is that after %d of %d commands, and %d were promised", h.profile, at, last, promised)
		return
	}
	if fmt.Sprint(s.c.Do("INFO", "persistence")) != "" && infoField(h.t, s.c, "rdb_last_load_keys_loaded") != "0" {
		h.totals.FromSnapshot++
	}
	h.totals.Lost += last - at
	h.commands, h.digests, h.answered = h.commands[:at], h.digests[:at+1], h.answered[:at]
	for i := range h.answered {
		if h.answered[i].IsZero() { // it was done, so it counts from now on
			h.answered[i] = time.Now()
		}
	}
	h.alike.c.Do("FLUSHALL")
	for _, c := range h.commands {
		h.alike.c.Do(c...)
	}
	if now := h.digest(h.alike); now != got {
		h.t.Errorf("the same commands give other data")
	}
}

// promised is how many commands must be there.
func (h *history) promised() int {
	n := 0
	for i, at := range h.answered {
		if !at.IsZero() && (h.profile == "always" || h.calm && h.ended.Sub(at) > time.Second+2*writeEvery) {
			n = i + 1
		}
	}
	return n
}

// live sends commands until the node is stopped or the power is cut.
func (h *history) live(s *subject) {
	replies := make(chan any)
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			r, err := s.c.TryReceive()
			if err != nil {
				close(replies)
				return
			}
			replies <- r
		}
	})
	up := true
	for range 5 + h.rand.IntN(30) {
		if up = h.exchange(s, replies); !up {
			break
		}
		time.Sleep(time.Duration(h.rand.IntN(200)) * time.Millisecond)
	}
	var crashed *vfs.MemFS
	if up && h.rand.IntN(4) > 0 { // with some commands on their way
		var wire []byte
		for range 1 + h.rand.IntN(4) {
			c := h.command()
			h.note(c, time.Time{})
			h.totals.InFlight++
			wire = append(wire, redistest.Encode(c...)...)
		}
		var writing sync.WaitGroup
		writing.Go(func() { s.send(wire) })
		time.Sleep(time.Duration(h.rand.IntN(2000)) * time.Microsecond)
		crashed = h.disk.Crash(h.rand.Uint64())
		s.c.Close()
		writing.Wait()
	} else if !up {
		crashed = h.disk.Crash(h.rand.Uint64())
	}
	h.ended, h.calm = time.Now(), h.trouble.calm()
	h.trouble.end()
	s.c.Close()
	for range replies {
	}
	reading.Wait()
	h.stop(s)
	if crashed != nil {
		h.disk = crashed
	} else { // all that was appended was made safe
		for i := range h.answered {
			h.answered[i] = h.answered[i].Add(-time.Hour)
		}
	}
}

// exchange sends some commands and waits for their replies; false: the node has
// failed.
func (h *history) exchange(s *subject, replies chan any) (up bool) {
	var batch [][]string
	for range 1 + h.rand.IntN(3) {
		batch = append(batch, h.command())
	}
	if h.rand.IntN(6) == 0 {
		batch = append(batch, []string{[]string{"SAVE", "BGSAVE", "BGREWRITEAOF"}[h.rand.IntN(3)]})
	}
	var wire []byte
	for _, c := range batch {
		wire = append(wire, redistest.Encode(c...)...)
	}
	var writing sync.WaitGroup
	writing.Go(func() { s.send(wire) })
	defer writing.Wait()
	for i, c := range batch {
		select {
		case <-s.failed:
			h.totals.Failures++
			for _, c := range batch[i:] {
				h.note(c, time.Time{})
			}
			s.c.Close()
			return false
		case r, ok := <-replies:
			if !ok {
				h.t.Errorf("%q is not answered", c)
				return false
			}
			var e redistest.Error
			if err, ok := r.(error); ok && errors.As(err, &e) {
				h.totals.Refused++
				continue
			}
			h.note(c, time.Now())
		}
	}
	return true
}

// note takes down a command that was executed, or may have been.
func (h *history) note(c []string, answered time.Time) {
	if strings.Contains(c[0], "SAVE") || c[0] == "BGREWRITEAOF" {
		return
	}
	h.totals.Commands++
	h.alike.c.Do(c...)
	h.commands = append(h.commands, c)
	h.digests = append(h.digests, h.digest(h.alike))
	h.answered = append(h.answered, answered)
}

// command draws one that changes data, differently each time.
func (h *history) command() []string {
	n := fmt.Sprintf("%d%03d", len(h.commands), h.rand.IntN(1000))
	key := func(kind string) string { return kind + fmt.Sprint(h.rand.IntN(3)) }
	switch h.rand.IntN(12) {
	case 0:
		return []string{"MSET", "a", n, "b", n, "c", n}
	case 1:
		return []string{"RPUSH", key("l"), n, strings.Repeat("x", h.rand.IntN(300))}
	case 2:
		return []string{"SADD", key("s"), n}
	case 3:
		return []string{"HSET", key("h"), n, strings.Repeat("v", h.rand.IntN(100))}
	case 4:
		return []string{"ZADD", key("z"), n, n}
	case 5:
		return []string{"APPEND", key("t"), n}
	case 6:
		return []string{"SET", key("timed"), n, "EX", "1000000"}
	case 7:
		return []string{"LTRIM", key("l"), "-20", "-1"}
	case 8:
		return []string{"DEL", key("l"), key("h"), key("t")}
	case 9:
		return []string{"INCRBY", "counter", n}
	case 10:
		return []string{"SET", key("big"), strings.Repeat(n, 1+h.rand.IntN(3000))}
	}
	return []string{"SUNIONSTORE", key("s"), "s0", "s1", "s2"}
}

// trouble is what is the matter with a disk.
type trouble struct {
	mu    sync.Mutex
	rand  *rand.Rand // guarded by mu, like all below; nil: nothing
	kind  int
	until time.Time // of a full disk
	came  bool
}

const (
	noTrouble = iota
	stalls
	failingLog
	failingSnapshot
	fullDisk
	troubles
)

func (d *trouble) set(r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rand, d.kind = rand.New(rand.NewPCG(r.Uint64(), 1)), r.IntN(troubles)
}

func (d *trouble) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rand = nil
}

// calm: syncs came when they were due.
func (d *trouble) calm() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.came || d.kind == failingSnapshot
}

func (d *trouble) rule(op vfs.Op) vfs.Fault {
	fault, stall := d.choose(op)
	time.Sleep(stall)
	return fault
}

func (d *trouble) choose(op vfs.Op) (fault vfs.Fault, stall time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rand == nil || op.Kind == vfs.OpSpace || op.Kind == vfs.OpRead {
		return fault, 0
	}
	log := strings.Contains(op.Name, "appendonlydir") // or the directory itself
	switch {
	case d.kind == stalls && op.Kind == vfs.OpSync && d.rand.IntN(4) == 0:
		d.came = true
		return fault, time.Duration(d.rand.IntN(3000)) * time.Millisecond
	case d.kind == failingLog && log && d.rand.IntN(100) == 0, d.kind == failingSnapshot && !log && d.rand.IntN(5) == 0:
		d.came = true
		return vfs.Fault{Err: vfs.ErrIO, Done: d.rand.IntN(op.Size + 1)}, 0
	case d.kind == fullDisk && time.Now().Before(d.until):
	case d.kind == fullDisk && d.rand.IntN(60) == 0:
		d.until = time.Now().Add(time.Duration(d.rand.IntN(500)) * time.Millisecond)
	default:
		return fault, 0
	}
	d.came = true
	if op.Kind == vfs.OpWrite || op.Kind == vfs.OpAllocate || op.Kind == vfs.OpCreate {
		return vfs.Fault{Err: vfs.ErrNoSpace}, 0
	}
	return fault, 0
}
