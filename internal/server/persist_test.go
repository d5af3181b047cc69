package server

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
)

// memorySnapshots keeps the snapshot file in memory.
type memorySnapshots struct {
	running sync.WaitGroup

	mu     sync.Mutex
	file   []byte        // guarded by mu, like all below
	broken bool          // writing fails
	hold   chan struct{} // writing waits for it; nil: it does not
}

func (m *memorySnapshots) Go(f func()) { m.running.Go(f) }

func (m *memorySnapshots) set(broken bool, hold chan struct{}) {
	m.mu.Lock()
	m.broken, m.hold = broken, hold
	m.mu.Unlock()
}

func (m *memorySnapshots) Write(s *shard.Snapshot, stop func() bool) error {
	m.mu.Lock()
	broken, hold := m.broken, m.hold
	m.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if broken || stop() {
		return errors.New("broken")
	}
	file, err := written(s, nil)
	m.mu.Lock()
	m.file = file
	m.mu.Unlock()
	return err
}

func (m *memorySnapshots) Read(l *shard.Loader) (unsaved bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err = rdb.Read(bytes.NewReader(m.file), l, rdb.Options{})
	return false, errors.Join(err, l.Close())
}

func (m *memorySnapshots) Recover(newLoader func() *shard.Loader) (unsaved bool, err error) {
	return m.Read(newLoader())
}

func (m *memorySnapshots) RecoverAgain(func(), func() *shard.Loader) error { return ErrNoLog }

// written is the file of a snapshot; between is called between the steps.
func written(s *shard.Snapshot, between func()) ([]byte, error) {
	var out bytes.Buffer
	w := rdb.NewWriter(&out, s.Version())
	for more := true; more; {
		if between != nil {
			between()
		}
		var err error
		if more, err = s.Step(w); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// startSaving starts a subject that has a snapshot file in memory.
func startSaving(t *testing.T, settings ...string) (*subject, *memorySnapshots) {
	t.Helper()
	s := startSubject(t, "n1", 1, append([]string{"enable-debug-command", "yes"}, settings...)...)
	m := &memorySnapshots{}
	s.process.Snapshots = m
	t.Cleanup(m.running.Wait)
	return s, m
}

// program draws commands that change values of all types, in both of their forms.
type program struct {
	*rapid.T
	c  *redistest.Conn
	tx *shard.Tx
}

func (p *program) n(label string, most int) int { return rapid.IntRange(0, most).Draw(p.T, label) }

func (p *program) key() string {
	return rapid.SampledFrom([]string{"l", "h", "s", "z", "t", "x"}).Draw(p.T, "kind") + strconv.Itoa(p.n("key", 1))
}

// many are elements, few or so many that the collection gets large.
func (p *program) many(format string) []string {
	n := rapid.SampledFrom([]int{1, 3, 400, 600, 2000}).Draw(p.T, "many")
	first := p.n("first", 500)
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, first+i)
	}
	return list
}

// templates are commands; k is a key, m an element or field, n a number, and M a
// run of elements.
var templates = []string{
	"DEL k", "DEL k", "UNLINK k", "EXPIRE k 1000", "PERSIST k", "PEXPIRE k -1", "RENAME k k", "RENAMENX k k", "COPY k k REPLACE",
	"COPY k k DB 1 REPLACE", "MOVE k 1", "SELECT 0", "SELECT 1", "SELECT 0", "SWAPDB 0 1", "FLUSHDB",
	"SET k m", "SET k m", "APPEND k m", "SETRANGE k n m", "SETBIT k n 1", "INCR k", "GETDEL k", "GETEX k EX 1000", "MSET k m k m", "BITOP OR k k k", "BITFIELD k SET u8 n n", "SET k m GET KEEPTTL",
	"RPUSH k M", "LPUSH k M", "LPOP k n", "RPOP k", "LREM k 0 m", "LSET k n m", "LINSERT k BEFORE m m", "LTRIM k n -3", "LMOVE k k LEFT RIGHT", "SORT k ALPHA STORE k", "LMPOP 1 k LEFT COUNT n",
	"SADD k M", "SADD k M", "SREM k m", "SPOP k", "SPOP k n", "SMOVE k k m", "SUNIONSTORE k k k", "SINTERSTORE k k k", "SDIFFSTORE k k k",
	"HSET k m m", "HSETM k M", "HSETM k M", "HDEL k m", "HINCRBY k m 3", "HEXPIRE k 1000 FIELDS 1 m", "HPERSIST k FIELDS 1 m", "HEXPIRE k 0 FIELDS 1 m", "HSETNX k m m",
	"ZADDM k M", "ZADDM k M", "ZREM k m", "ZINCRBY k 2.5 m", "ZPOPMIN k n", "ZREMRANGEBYRANK k n n", "ZUNIONSTORE k 2 k k", "ZRANGESTORE k k n -3", "ZREMRANGEBYSCORE k n 50",
}

func (p *program) step() {
	if p.n("expire", 30) == 0 { // what expires later does so now
		p.tx.ExpireStep(time.Now().Add(time.Hour).UnixMilli(), 1000)
		return
	}
	p.run(rapid.SampledFrom(templates).Draw(p.T, "command"))
}

// fill adds many elements to a key.
func (p *program) fill(command, key string) {
	p.run("DEL " + key)
	p.run(command + " " + key + " M")
}

func (p *program) run(template string) {
	var args []string
	name, rest, _ := strings.Cut(template, " ")
	pairs := strings.TrimSuffix(name, "M")
	for _, word := range strings.Fields(rest) {
		switch word {
		case "k":
			args = append(args, p.key())
		case "m":
			args = append(args, fmt.Sprintf("member:%d", p.n("member", 600)))
		case "n":
			args = append(args, strconv.Itoa(p.n("number", 40)))
		case "M":
			for i, m := range p.many("member:%d") {
				switch name {
				case "HSETM":
					args = append(args, m, m)
				case "ZADDM":
					args = append(args, strconv.Itoa(i%70), m)
				default:
					args = append(args, m)
				}
			}
		default:
			args = append(args, word)
		}
	}
	if pairs == "HSET" || pairs == "ZADD" {
		name = pairs
	}
	p.c.Do(append([]string{name}, args...)...)
}

// TestASnapshotHoldsAllTypesAsOfItsCut runs commands between the steps of a
// snapshot. The digest is that of redis-server.
func TestASnapshotHoldsAllTypesAsOfItsCut(t *testing.T) {
	from, _ := startSaving(t)
	to, _ := startSaving(t)
	c, loaded := from.dial(t), to.dial(t)
	rapid.Check(t, func(t *rapid.T) {
		c.Do("FLUSHALL")
		loaded.Do("FLUSHALL")
		p := &program{t, c, from.space.NewTx()}
		for range rapid.IntRange(0, 15).Draw(t, "before") {
			p.step()
		}
		for _, kind := range []string{"l", "h", "s", "z"} { // something large of each type
			p.fill(map[string]string{"l": "RPUSH", "h": "HSETM", "s": "SADD", "z": "ZADDM"}[kind], kind+"0")
		}
		want := c.Do("DEBUG", "DIGEST")
		s := from.space.BeginSnapshot(shard.SnapshotOptions{Compress: rapid.Bool().Draw(t, "compress")})
		defer s.Close()
		left := 60
		file, err := written(s, func() {
			for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "between") {
				if left--; left > 0 {
					p.step()
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		l := to.space.NewLoader(1, engine.Limits(to.cfg))
		if err := errors.Join(rdb.Read(bytes.NewReader(file), l, rdb.Options{}), l.Close()); err != nil {
			t.Fatal(err)
		}
		if got := loaded.Do("DEBUG", "DIGEST"); got != want {
			t.Fatalf("the digest is %v, want %v", got, want)
		}
	})
}

func TestFieldsThatExpireMeanwhileAreInTheSnapshot(t *testing.T) {
	for _, fields := range []int{3, 2000} {
		from, m := startSaving(t)
		c := from.dial(t)
		args := []string{"HSET", "h"}
		for i := range fields {
			args = append(args, strconv.Itoa(i), "v")
		}
		c.Do(args...)
		expect(t, c, "[1 1]", "HEXPIRE", "h", "1000", "FIELDS", "2", "0", "1")
		want := c.Do("DEBUG", "DIGEST")
		s := from.space.BeginSnapshot(shard.SnapshotOptions{})
		if from.space.NewTx().ExpireStep(time.Now().Add(time.Hour).UnixMilli(), 100) {
			t.Error("more is to expire")
		}
		expect(t, c, strconv.Itoa(fields-2), "HLEN", "h")
		var err error
		if m.file, err = written(s, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		expect(t, c, "OK", "DEBUG", "RELOAD", "NOSAVE")
		expect(t, c, strconv.Itoa(fields), "HLEN", "h")
		if got := c.Do("DEBUG", "DIGEST"); got != want {
			t.Errorf("the digest is %v, want %v", got, want)
		}
	}
}

func TestSavesAnswerAsInRedis(t *testing.T) {
	redis := redistest.Start(t)
	s, m := startSaving(t, "save", "3600 1")
	c, theirs := s.dial(t), redis.Dial(t)
	for _, args := range [][]string{
		{"SET", "a", "1"}, {"SAVE"}, {"SAVE", "now"}, {"BGSAVE", "foo"}, {"BGSAVE", "SCHEDULE", "x"},
		{"DEBUG", "RELOAD", "foo"}, {"DEBUG", "RELOAD"}, {"GET", "a"}, {"DEBUG", "RELOAD", "NOSAVE", "MERGE", "NOFLUSH"},
		{"MULTI"}, {"SAVE"}, {"EXEC"}, {"MULTI"}, {"BGSAVE"}, {"BGREWRITEAOF"}, {"EXEC"},
		{"SHUTDOWN", "SAVE", "NOSAVE"}, {"SHUTDOWN", "ABORT"}, {"SHUTDOWN", "foo"},
	} {
		if args[0] == "BGREWRITEAOF" {
			continue // theirs does it
		}
		expect(t, c, fmt.Sprint(theirs.Do(args...)), args...)
	}
	m.running.Wait() // for the one that EXEC has begun
	s.saving.wanted = false
	hold := make(chan struct{})
	m.set(false, hold)
	expect(t, c, "Background saving started", "BGSAVE")
	for _, args := range [][]string{{"BGSAVE"}, {"BGSAVE", "SCHEDULE"}, {"SAVE"}, {"DEBUG", "RELOAD"}} {
		expect(t, c, "ERR Background save already in progress", args...)
	}
	if got := infoField(t, c, "rdb_bgsave_in_progress"); got != "1" {
		t.Errorf("in progress: %s", got)
	}
	close(hold)
	m.running.Wait()
	if got := infoField(t, c, "rdb_bgsave_in_progress") + infoField(t, c, "rdb_changes_since_last_save"); got != "00" {
		t.Errorf("in progress and changes: %s", got)
	}
}

func infoField(t *testing.T, c *redistest.Conn, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(c.Do("INFO", "everything").(string), "\n"+name+":")
	if !found {
		t.Fatalf("no field %s", name)
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// TestWritesStopWhileSavingFails compares with a redis-server whose directory is gone.
func TestWritesStopWhileSavingFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	redis := redistest.Start(t, "--save", "3600 1", "--dir", dir, "--logfile", "")
	s, m := startSaving(t, "save", "3600 1")
	c, theirs := s.dial(t), redis.Dial(t)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	m.set(true, nil)
	theirs.Do("BGSAVE")
	c.Do("BGSAVE")
	m.running.Wait()
	for deadline := time.Now().Add(10 * time.Second); infoField(t, theirs, "rdb_last_bgsave_status") != "err"; {
		if time.Now().After(deadline) {
			t.Fatal("redis-server does not notice")
		}
	}
	for _, args := range [][]string{
		{"SET", "a", "1"}, {"GET", "a"}, {"PING"}, {"MULTI"}, {"SET", "a", "1"}, {"EXEC"}, {"SAVE"}, {"DEBUG", "RELOAD"}, {"SHUTDOWN"}, {"SHUTDOWN", "SAVE"},
		{"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"}, {"SET", "a", "1"}, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "yes"}, {"SET", "a", "1"},
		{"CONFIG", "SET", "save", ""}, {"SET", "a", "2"}, {"CONFIG", "SET", "save", "3600 1"}, {"SET", "a", "3"},
	} {
		expect(t, c, fmt.Sprint(theirs.Do(args...)), args...)
	}
	m.set(false, nil)
	expect(t, c, "OK", "SAVE")
	expect(t, c, "OK", "SET", "a", "4")
}

func TestSavePointsCountChangesAndSeconds(t *testing.T) {
	s, m := startSaving(t, "save", "60 3")
	c := s.dial(t)
	at := s.now()
	tick := func(seconds int64) string {
		s.tickSaves(s.changes(), session.Instant{Wall: at.Wall + seconds*1e6, Mono: at.Mono + seconds*1e9})
		m.running.Wait()
		return infoField(t, c, "rdb_saves")
	}
	expect(t, c, "OK", "MSET", "a", "1")
	expect(t, c, "2", "INCR", "a")
	if got := tick(100); got != "0" {
		t.Errorf("%s snapshots of two changes", got)
	}
	expect(t, c, "3", "INCR", "a")
	if got := tick(50); got != "0" {
		t.Errorf("%s snapshots after 50 seconds", got)
	}
	if got := tick(100); got != "1" {
		t.Errorf("%s snapshots, want one", got)
	}
	if got := tick(200); got != "1" {
		t.Errorf("%s snapshots, want one still", got)
	}
	expect(t, c, "3", "INCRBY", "a", "0")
	for range 2 {
		c.Do("INCR", "a")
	}
	m.set(true, nil)
	tick(300)
	m.set(false, nil)
	if got := infoField(t, c, "rdb_last_bgsave_status"); got != "err" {
		t.Errorf("the status is %s", got)
	}
	s.saving.tried = at.Mono + 300e9
	if got := tick(302); got != "1" {
		t.Errorf("it is tried again at once: %s", got)
	}
	if got := tick(306); got != "2" {
		t.Errorf("it is not tried again: %s", got)
	}
}

// TestASnapshotThatIsUnderWayMayBeTheOneThatIsDue: no other one follows it for what was
// due before its end.
func TestASnapshotThatIsUnderWayMayBeTheOneThatIsDue(t *testing.T) {
	s, m := startSaving(t)
	c := s.dial(t)
	var due atomic.Bool
	due.Store(true)
	s.process.LogState = func() LogState { return LogState{On: true, Due: due.Load()} }
	tick := func(want string) {
		t.Helper()
		s.tickSaves(s.changes(), s.now())
		m.running.Wait()
		if got := infoField(t, c, "aof_rewrite_scheduled") + infoField(t, c, "rdb_saves"); got != want {
			t.Errorf("scheduled and written: %s, want %s", got, want)
		}
	}
	s.setState(stateLoading, true)
	tick("00")
	s.setState(stateLoading, false)
	hold := make(chan struct{})
	m.set(false, hold)
	expect(t, c, "Background saving started", "BGSAVE")
	s.tickSaves(s.changes(), s.now())
	due.Store(false)
	close(hold)
	m.running.Wait()
	tick("01")
	due.Store(true)
	m.set(false, nil)
	tick("02")
}

// TestChangesInPlaceComeTooLateForASnapshot changes values of forms that are not
// built anew for a change.
func TestChangesInPlaceComeTooLateForASnapshot(t *testing.T) {
	from, m := startSaving(t)
	c := from.dial(t)
	elements := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("element:%d", i))
		}
		return list
	}
	tests := []struct {
		fill   []string
		n      int
		change string
	}{
		{[]string{"RPUSH", "packed"}, 500, "RPUSH packed x"},
		{[]string{"RPUSH", "packed2"}, 500, "LPOP packed2"},
		{[]string{"RPUSH", "list"}, 5000, "LSET list 700 x"},
		{[]string{"SADD", "set"}, 5000, "SREM set element:7"},
		{[]string{"HSET", "hash"}, 400, "HSET hash element:2 x"},
		{[]string{"HSET", "large"}, 5000, "HDEL large element:2"},
		{[]string{"SET", "text", strings.Repeat("x", 5000)}, 0, "SETRANGE text 9 y"},
		{[]string{"SET", "long", strings.Repeat("x", 500000)}, 0, "APPEND long y"},
		{[]string{"SET", "bits", strings.Repeat("x", 500000)}, 0, "SETBIT bits 101 1"},
	}
	for _, tt := range tests {
		c.Do(append(tt.fill, elements(tt.n)...)...)
	}
	want := c.Do("DEBUG", "DIGEST")
	s := from.space.BeginSnapshot(shard.SnapshotOptions{})
	for _, tt := range tests {
		before := c.Do("DEBUG", "DIGEST")
		if c.Do(strings.Fields(tt.change)...); c.Do("DEBUG", "DIGEST") == before {
			t.Errorf("%s changes nothing", tt.change)
		}
	}
	var err error
	if m.file, err = written(s, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	expect(t, c, "OK", "DEBUG", "RELOAD", "NOSAVE")
	if got := c.Do("DEBUG", "DIGEST"); got != want {
		t.Errorf("the digest is %v, want %v", got, want)
	}
}

// TestInfoInATransactionMeetsTheBeginOfASnapshot: both want the locks of the space
// and what is known of snapshots.
func TestInfoInATransactionMeetsTheBeginOfASnapshot(t *testing.T) {
	s, m := startSaving(t)
	saves, asks := s.dial(t), s.dial(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			saves.Do("BGSAVE")
		}
	}()
	for range 200 {
		asks.Do("MULTI")
		asks.Do("INFO", "persistence")
		asks.Do("BGSAVE")
		asks.Do("EXEC")
	}
	<-done
	m.running.Wait()
}
