package redisc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/client/redisc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a scripted cluster. Its nodes listen on loopback and are known by names, "a:1",
// that only connections made with its options find. They redirect by the owners below and
// share one key space; a script may answer in place of that.
type fake struct {
	t *testing.T

	mu     sync.Mutex
	nodes  map[string]*fakeNode
	shares []share
	slots  string // the answer to CLUSTER SLOTS, "": made of shares
	data   map[string]string
}

// share is a part of the slots and who has it, the primary first.
type share struct {
	first, last int
	members     []string
}

type fakeNode struct {
	fake   *fake
	addr   string
	ln     net.Listener
	script func(*fakeConn, []string) string // guarded by fake.mu; "" as an answer: as usual
	log    []string                         // guarded by fake.mu
	open   map[*fakeConn]bool               // guarded by fake.mu
	dialed int                              // guarded by fake.mu
	refuse bool                             // guarded by fake.mu
}

// fakeConn is the server's end of a connection.
type fakeConn struct {
	nc       net.Conn
	readonly bool
	asking   bool
	queued   []string // replies of a transaction, nil: none
}

// keys of the three shares.
const (
	keyA = "bar" // 5061
	keyB = "c"   // 7365
	keyC = "foo" // 12182
)

// newFake starts a cluster in which a has the low slots, b the middle and c the high
// ones, and ra, rb and rc are their replicas.
func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, nodes: map[string]*fakeNode{}, data: map[string]string{}}
	f.shares = []share{{0, 5460, []string{"a:1", "ra:1"}}, {5461, 10922, []string{"b:2", "rb:2"}}, {10923, 16383, []string{"c:3", "rc:3"}}}
	for _, s := range f.shares {
		for _, addr := range s.members {
			f.add(addr)
		}
	}
	return f
}

func (f *fake) add(addr string) *fakeNode {
	f.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	n := &fakeNode{fake: f, addr: addr, ln: ln, open: map[*fakeConn]bool{}}
	f.mu.Lock()
	f.nodes[addr] = n
	f.mu.Unlock()
	var group sync.WaitGroup
	group.Go(func() { n.accept(&group) })
	f.t.Cleanup(func() {
		ln.Close()
		n.drop()
		group.Wait()
	})
	return n
}

func (n *fakeNode) accept(group *sync.WaitGroup) {
	for {
		nc, err := n.ln.Accept()
		if err != nil {
			return
		}
		c := &fakeConn{nc: nc}
		n.fake.mu.Lock()
		n.dialed++
		n.open[c] = true
		n.fake.mu.Unlock()
		group.Go(func() { n.serve(c) })
	}
}

func (n *fakeNode) serve(c *fakeConn) {
	defer func() {
		c.nc.Close()
		n.fake.mu.Lock()
		delete(n.open, c)
		n.fake.mu.Unlock()
	}()
	r := bufio.NewReader(c.nc)
	for {
		args, err := readRequest(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(c.nc, n.answer(c, args)); err != nil {
			return
		}
	}
}

func readRequest(r *bufio.Reader) ([]string, error) {
	number := func(kind string) (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, kind)))
	}
	n, err := number("*")
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := number("$")
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

func (n *fakeNode) answer(c *fakeConn, args []string) string {
	f := n.fake
	f.mu.Lock()
	n.log = append(n.log, strings.Join(args, " "))
	script := n.script
	f.mu.Unlock()
	if script != nil {
		if raw := script(c, args); raw != "" {
			return raw
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.ToUpper(args[0])
	switch name {
	case "CLUSTER":
		return f.slotTable()
	case "READONLY", "READWRITE":
		c.readonly = name == "READONLY"
		return "+OK\r\n"
	case "ASKING":
		c.asking = true
		return "+OK\r\n"
	case "PING":
		return "+PONG\r\n"
	case "MULTI":
		c.queued = []string{}
		return "+OK\r\n"
	case "EXEC":
		list := c.queued
		c.queued = nil
		return array(list...)
	case "ECHO":
		return bulk(args[1])
	case "UNSUBSCRIBE", "PUNSUBSCRIBE":
		return array(bulk(strings.ToLower(name)), "$-1\r\n", ":0\r\n")
	}
	asking := c.asking
	c.asking = false
	if raw := f.redirect(n.addr, args, asking, c.readonly); raw != "" {
		return raw
	}
	raw := f.run(name, args)
	if c.queued != nil {
		c.queued = append(c.queued, raw)
		return "+QUEUED\r\n"
	}
	return raw
}

// redirect answers MOVED when another node has the key. mu is held.
func (f *fake) redirect(addr string, args []string, asking, readonly bool) string {
	if asking || len(args) < 2 {
		return ""
	}
	at := redisc.Slot(args[1])
	for _, s := range f.shares {
		if at < s.first || at > s.last {
			continue
		}
		if s.members[0] == addr || readonly && args[0] == "GET" && slices.Contains(s.members, addr) {
			return ""
		}
		return fmt.Sprintf("-MOVED %d %s\r\n", at, s.members[0])
	}
	return "-CLUSTERDOWN Hash slot not served\r\n"
}

// run executes a command. mu is held.
func (f *fake) run(name string, args []string) string {
	switch name {
	case "GET":
		return f.get(args[1])
	case "SET":
		f.data[args[1]] = args[2]
		return "+OK\r\n"
	case "INCR":
		n, _ := strconv.Atoi(f.data[args[1]])
		f.data[args[1]] = strconv.Itoa(n + 1)
		return fmt.Sprintf(":%d\r\n", n+1)
	case "MGET":
		var list []string
		for _, key := range args[1:] {
			list = append(list, f.get(key))
		}
		return array(list...)
	case "MSET":
		if len(args)%2 == 0 {
			return "-ERR wrong number of arguments for 'mset' command\r\n"
		}
		for i := 1; i < len(args); i += 2 {
			f.data[args[i]] = args[i+1]
		}
		return "+OK\r\n"
	case "DEL", "EXISTS":
		found := 0
		for _, key := range args[1:] {
			if _, ok := f.data[key]; ok {
				found++
			}
			if name == "DEL" {
				delete(f.data, key)
			}
		}
		return fmt.Sprintf(":%d\r\n", found)
	}
	return "+OK\r\n"
}

func (f *fake) get(key string) string {
	v, ok := f.data[key]
	if !ok {
		return "$-1\r\n"
	}
	return bulk(v)
}

// slotTable is the reply of CLUSTER SLOTS. mu is held.
func (f *fake) slotTable() string {
	if f.slots != "" {
		return f.slots
	}
	var rows []string
	for _, s := range slices.Backward(f.shares) { // what was moved counts
		row := []string{fmt.Sprintf(":%d\r\n", s.first), fmt.Sprintf(":%d\r\n", s.last)}
		for _, addr := range s.members {
			host, port, _ := strings.Cut(addr, ":")
			row = append(row, array(bulk(host), ":"+port+"\r\n", bulk("id-"+addr)))
		}
		rows = append(rows, array(row...))
	}
	return array(rows...)
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func array(list ...string) string {
	return fmt.Sprintf("*%d\r\n%s", len(list), strings.Join(list, ""))
}

// dial finds nodes by their names.
func (f *fake) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	f.mu.Lock()
	n := f.nodes[addr]
	refuse := n != nil && n.refuse
	f.mu.Unlock()
	if n == nil || refuse {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("no way to %q", addr)}
	}
	return new(net.Dialer).DialContext(ctx, network, n.ln.Addr().String())
}

// cluster gives a cluster of dialed connections that is closed with the test.
func (f *fake) cluster(change ...func(*redisc.Cluster)) *redisc.Cluster {
	c := &redisc.Cluster{StartupNodes: []string{"a:1", "b:2", "c:3"}, DialOptions: []redis.DialOption{redis.DialContextFunc(f.dial)}}
	for _, f := range change {
		f(c)
	}
	f.t.Cleanup(func() { c.Close() })
	return c
}

// refreshed is cluster with the map loaded.
func (f *fake) refreshed(change ...func(*redisc.Cluster)) *redisc.Cluster {
	f.t.Helper()
	c := f.cluster(change...)
	if err := c.Refresh(); err != nil {
		f.t.Fatal(err)
	}
	f.forget()
	return c
}

// pools lets a cluster make pools with these limits and stores them by address, of which
// none may get two.
func pools(maxActive int, wait bool, made *sync.Map) func(*redisc.Cluster) {
	return func(c *redisc.Cluster) {
		c.CreatePool = func(addr string, options ...redis.DialOption) (*redis.Pool, error) {
			p := &redis.Pool{MaxIdle: 2, MaxActive: maxActive, Wait: wait,
				DialContext: func(ctx context.Context) (redis.Conn, error) {
					return redis.DialContext(ctx, "tcp", addr, options...)
				}}
			if made != nil {
				if _, twice := made.LoadOrStore(addr, p); twice {
					return nil, fmt.Errorf("a second pool for %s", addr)
				}
			}
			return p, nil
		}
	}
}

// set changes the fake under its lock.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) forget() {
	f.set(func() {
		for _, n := range f.nodes {
			n.log = nil
		}
	})
}

// move gives a slot to another node.
func (f *fake) move(at int, members ...string) {
	f.set(func() { f.shares = append([]share{{at, at, members}}, f.shares...) })
}

func (f *fake) script(addr string, answer func(c *fakeConn, args []string) string) {
	f.set(func() { f.nodes[addr].script = answer })
}

// got gives the commands that a node received, but for the loading of the map.
func (f *fake) got(addr string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, line := range f.nodes[addr].log {
		if line != "CLUSTER SLOTS" {
			list = append(list, line)
		}
	}
	return list
}

// loads counts how often the map was asked for.
func (f *fake) loads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := 0
	for _, n := range f.nodes {
		for _, line := range n.log {
			if line == "CLUSTER SLOTS" {
				count++
			}
		}
	}
	return count
}

// drop closes all connections of a node.
func (n *fakeNode) drop() {
	n.fake.mu.Lock()
	defer n.fake.mu.Unlock()
	for c := range n.open {
		c.nc.Close()
	}
}

// kill lets a node be gone.
func (f *fake) kill(addr string) {
	f.set(func() { f.nodes[addr].refuse = true })
	f.nodes[addr].drop()
}

// connections counts those open to all nodes.
func (f *fake) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := 0
	for _, n := range f.nodes {
		count += len(n.open)
	}
	return count
}

func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// want checks one command's reply.
func want(t *testing.T, conn redis.Conn, reply any, cmd string, args ...any) {
	t.Helper()
	got, err := conn.Do(cmd, args...)
	if b, ok := got.([]byte); ok {
		got = string(b)
	}
	if err != nil || got != reply {
		t.Errorf("%s %v: %v (%T), %v; want %v", cmd, args, got, got, err, reply)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want %q", err, part)
	}
}
