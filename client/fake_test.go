package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is a scripted cluster inside the test process. Its nodes answer by script and
// record every command with the number of its connection. Its codec shares nothing
// with package resp: requests are read and replies are written here by hand.
type fake struct {
	t     *testing.T
	mu    sync.Mutex
	nodes map[string]*fakeNode
	conns int
}

// fakeNode is one server. answer gives the raw reply to a command; "" means none.
type fakeNode struct {
	fake *fake
	addr string

	mu      sync.Mutex
	answer  func(*request) string
	refuse  bool // dials fail
	stall   bool // dials never end
	log     []*request
	open    map[*fakeConn]bool
	data    map[string]string
	dialed  int
	silence bool // HELLO is not known: RESP2 only
}

// request is a command as it came.
type request struct {
	args []string
	node *fakeNode
	conn *fakeConn
}

func (r *request) String() string { return strings.Join(r.args, " ") }

// is reports whether the request begins with these words.
func (r *request) is(words ...string) bool {
	if len(r.args) < len(words) {
		return false
	}
	for i, w := range words {
		if !strings.EqualFold(r.args[i], w) {
			return false
		}
	}
	return true
}

// fakeConn is the server's end of a connection.
type fakeConn struct {
	id     int
	nc     net.Conn
	gone   atomic.Bool
	asking bool
	multi  []string // queued commands, nil: no MULTI
	fault  string   // why EXEC will be refused
}

// drop closes the connection, as a crash would.
func (c *fakeConn) drop() {
	c.gone.Store(true)
	c.nc.Close()
}

func (c *fakeConn) write(raw string) { io.WriteString(c.nc, raw) }

func newFake(t *testing.T, addrs ...string) *fake {
	f := &fake{t: t, nodes: map[string]*fakeNode{}}
	for _, addr := range addrs {
		f.add(addr)
	}
	return f
}

func (f *fake) add(addr string) *fakeNode {
	n := &fakeNode{fake: f, addr: addr, open: map[*fakeConn]bool{}, data: map[string]string{}}
	f.mu.Lock()
	f.nodes[addr] = n
	f.mu.Unlock()
	return n
}

func (f *fake) node(addr string) *fakeNode {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[addr]
}

// dial is the Options.Dialer of clients under test.
func (f *fake) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n := f.node(addr)
	if n == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("no such host %s", addr)}
	}
	n.mu.Lock()
	n.dialed++
	refuse, stall := n.refuse, n.stall
	n.mu.Unlock()
	if stall {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if refuse {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	near, far := newPipe()
	f.mu.Lock()
	f.conns++
	c := &fakeConn{id: f.conns, nc: far}
	f.mu.Unlock()
	n.mu.Lock()
	n.open[c] = true
	n.mu.Unlock()
	go n.serve(c)
	return near, nil
}

func (n *fakeNode) serve(c *fakeConn) {
	defer func() {
		c.nc.Close()
		n.mu.Lock()
		delete(n.open, c)
		n.mu.Unlock()
	}()
	rd := bufio.NewReader(c.nc)
	for {
		args, err := readRequest(rd)
		if err != nil || c.gone.Load() {
			return
		}
		r := &request{args: args, node: n, conn: c}
		if reply := n.reply(r); reply != "" {
			c.write(reply)
		}
	}
}

// readRequest is the whole codec for requests.
func readRequest(rd *bufio.Reader) ([]string, error) {
	n, err := readCount(rd, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readCount(rd, '$')
		if err != nil {
			return nil, err
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(rd, b); err != nil {
			return nil, err
		}
		args[i] = string(b[:size])
	}
	return args, nil
}

func readCount(rd *bufio.Reader, kind byte) (int, error) {
	line, err := rd.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 || line[0] != kind || !strings.HasSuffix(line, "\r\n") {
		return 0, fmt.Errorf("bad header %q", line)
	}
	return strconv.Atoi(line[1 : len(line)-2])
}

// reply answers the handshake, else asks the script, else the built-in store.
func (n *fakeNode) reply(r *request) string {
	n.mu.Lock()
	n.log = append(n.log, r)
	answer, silence := n.answer, n.silence
	n.mu.Unlock()
	if answer != nil {
		if reply := answer(r); reply != pass {
			return reply
		}
	}
	switch {
	case r.is("HELLO") && silence:
		return "-ERR unknown command 'HELLO'\r\n"
	case r.is("HELLO"):
		return "%1\r\n+proto\r\n:3\r\n"
	case r.is("ASKING"):
		r.conn.asking = true
		return "+OK\r\n"
	case r.is("PING"):
		return "+PONG\r\n"
	}
	return n.store(r)
}

// pass as an answer leaves a command to what the fake does by itself.
const pass = "pass"

// store is a little key space, and transactions over it.
func (n *fakeNode) store(r *request) string {
	c := r.conn
	switch {
	case r.is("MULTI"):
		c.multi, c.fault = []string{}, ""
		return "+OK\r\n"
	case r.is("EXEC"):
		list := c.multi
		c.multi = nil
		if c.fault != "" {
			return "-EXECABORT Transaction discarded because of previous errors.\r\n"
		}
		return array(list...)
	case c.multi != nil:
		c.multi = append(c.multi, n.run(r))
		return "+QUEUED\r\n"
	}
	return n.run(r)
}

func (n *fakeNode) run(r *request) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case r.is("GET"):
		return bulkOrNull(n.data, r.args[1])
	case r.is("SET"):
		n.data[r.args[1]] = r.args[2]
		return "+OK\r\n"
	case r.is("INCR"):
		i, _ := strconv.Atoi(n.data[r.args[1]])
		n.data[r.args[1]] = strconv.Itoa(i + 1)
		return fmt.Sprintf(":%d\r\n", i+1)
	case r.is("APPEND"):
		n.data[r.args[1]] += r.args[2]
		return fmt.Sprintf(":%d\r\n", len(n.data[r.args[1]]))
	case r.is("MGET"):
		var list []string
		for _, key := range r.args[1:] {
			list = append(list, bulkOrNull(n.data, key))
		}
		return array(list...)
	case r.is("MSET"):
		for i := 1; i < len(r.args); i += 2 {
			n.data[r.args[i]] = r.args[i+1]
		}
		return "+OK\r\n"
	case r.is("DEL"), r.is("UNLINK"), r.is("EXISTS"), r.is("TOUCH"):
		found := 0
		for _, key := range r.args[1:] {
			if _, ok := n.data[key]; ok {
				found++
			}
			if r.is("DEL") || r.is("UNLINK") {
				delete(n.data, key)
			}
		}
		return fmt.Sprintf(":%d\r\n", found)
	}
	return "+OK\r\n"
}

func bulkOrNull(data map[string]string, key string) string {
	v, ok := data[key]
	if !ok {
		return "_\r\n"
	}
	return bulk(v)
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func array(list ...string) string {
	return fmt.Sprintf("*%d\r\n%s", len(list), strings.Join(list, ""))
}

// script sets what the node answers from now on.
func (n *fakeNode) script(answer func(*request) string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer = answer
}

// set changes the node under its lock.
func (n *fakeNode) set(change func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

// kill refuses dials and drops all connections.
func (n *fakeNode) kill() {
	n.mu.Lock()
	n.refuse = true
	var open []*fakeConn
	for c := range n.open {
		open = append(open, c)
	}
	n.mu.Unlock()
	for _, c := range open {
		c.drop()
	}
}

// dropAll ends all connections; new ones may come.
func (n *fakeNode) dropAll() {
	n.mu.Lock()
	open := n.open
	n.open = map[*fakeConn]bool{}
	n.mu.Unlock()
	for c := range open {
		c.drop()
	}
}

// got gives the commands that a node received and that begin with a word, in order.
func (n *fakeNode) got(word string) []*request {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []*request
	for _, r := range n.log {
		if r.is(word) {
			list = append(list, r)
		}
	}
	return list
}

// gotAll gives what came beside handshakes and maps, as text.
func (n *fakeNode) gotAll() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, r := range n.log {
		if !r.is("HELLO") && !r.is("CLUSTER") && !r.is("READONLY") {
			list = append(list, r.String())
		}
	}
	return list
}

func (n *fakeNode) forget() { n.set(func(n *fakeNode) { n.log = nil }) }

func (n *fakeNode) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// share is a part of the slots and who has it, the primary first.
type share struct {
	first, last int
	members     []string
}

// shards makes the reply of CLUSTER SHARDS.
func shards(list ...share) string {
	var out []string
	for _, s := range list {
		var members []string
		for i, addr := range s.members {
			role := "replica"
			if i == 0 {
				role = "master"
			}
			host, port, _ := strings.Cut(addr, ":")
			members = append(members, mapOf("id", bulk(addr), "port", ":"+port+"\r\n", "ip", bulk(host),
				"endpoint", bulk(host), "role", bulk(role), "health", bulk("online")))
		}
		slots := array(fmt.Sprintf(":%d\r\n", s.first), fmt.Sprintf(":%d\r\n", s.last))
		out = append(out, mapOf("slots", slots, "nodes", array(members...)))
	}
	return array(out...)
}

func mapOf(pairs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%%%d\r\n", len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(bulk(pairs[i]) + pairs[i+1])
	}
	return b.String()
}

// map3 is the usual cluster: a has the low slots, b the middle, c the high ones.
func map3() string {
	return shards(share{0, 5460, []string{"a:1"}}, share{5461, 10922, []string{"b:2"}}, share{10923, 16383, []string{"c:3"}})
}

// keys of the three nodes of map3.
const (
	keyA = "bar" // 5061
	keyB = "c"   // 7365
	keyC = "foo" // 12182
)

// answerMap makes all nodes answer CLUSTER SHARDS, and the rest by a script of each.
func (f *fake) answerMap(reply func() string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nodes {
		n.script(withMap(reply, nil))
	}
}

// withMap answers CLUSTER SHARDS and passes the rest to another script.
func withMap(reply func() string, rest func(*request) string) func(*request) string {
	return func(r *request) string {
		switch {
		case r.is("CLUSTER", "SHARDS"):
			return reply()
		case rest != nil:
			return rest(r)
		}
		return pass
	}
}

// cluster3 is a running fake of map3 and a client of it.
func cluster3(t *testing.T, opt Options) (*fake, *Client) {
	t.Helper()
	f := newFake(t, "a:1", "b:2", "c:3")
	f.answerMap(map3)
	return f, f.open(opt, "a:1")
}

// open starts a client that is closed with the test.
func (f *fake) open(opt Options, addrs ...string) *Client {
	f.t.Helper()
	opt.Addrs, opt.Dialer = addrs, f.dial
	c, err := Open(f.t.Context(), opt)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	return c
}

// waitFor polls a condition until it holds; under synctest time is virtual.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// pipe is one direction of a connection in memory, with a buffer without bound, as a
// socket has one too.
type pipe struct {
	mu     sync.Mutex
	more   *sync.Cond
	buf    []byte
	closed bool
}

// pipeEnd is one end of a connection in memory.
type pipeEnd struct{ in, out *pipe }

func newPipe() (net.Conn, net.Conn) {
	a, b := &pipe{}, &pipe{}
	a.more, b.more = sync.NewCond(&a.mu), sync.NewCond(&b.mu)
	return &pipeEnd{a, b}, &pipeEnd{b, a}
}

func (e *pipeEnd) Read(b []byte) (int, error) {
	p := e.in
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.buf) == 0 && !p.closed {
		p.more.Wait()
	}
	if len(p.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.buf)
	p.buf = slices.Clone(p.buf[n:])
	return n, nil
}

func (e *pipeEnd) Write(b []byte) (int, error) {
	p := e.out
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	p.buf = append(p.buf, b...)
	p.more.Broadcast()
	return len(b), nil
}

func (e *pipeEnd) Close() error {
	for _, p := range []*pipe{e.in, e.out} {
		p.mu.Lock()
		p.closed = true
		p.more.Broadcast()
		p.mu.Unlock()
	}
	return nil
}

// alive is what a look at a socket says.
func (e *pipeEnd) alive() bool {
	e.in.mu.Lock()
	defer e.in.mu.Unlock()
	return len(e.in.buf) > 0 || !e.in.closed
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (e *pipeEnd) LocalAddr() net.Addr              { return pipeAddr{} }
func (e *pipeEnd) RemoteAddr() net.Addr             { return pipeAddr{} }
func (e *pipeEnd) SetDeadline(time.Time) error      { return nil }
func (e *pipeEnd) SetReadDeadline(time.Time) error  { return nil }
func (e *pipeEnd) SetWriteDeadline(time.Time) error { return nil }

func integer(n int) string { return fmt.Sprintf(":%d\r\n", n) }
