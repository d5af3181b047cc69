package node

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/resp"
)

// peers carries messages that clients publish on this node to the other nodes of
// a static cluster, over one connection each, which is opened with the first
// message. Pub/Sub promises no delivery: what does not fit in a peer's queue, or
// is on the way when its connection breaks, is lost, and counted.
type peers struct {
	log  *slog.Logger
	cfg  *config.Config
	tls  *keeper
	list []*peer
	stop chan struct{}
	wait sync.WaitGroup
}

type peer struct {
	member *topology.Member
	queue  chan []byte // commands, encoded
	mu     sync.Mutex
	lost   int // did not fit in the queue; guarded by mu
}

const (
	// peerQueue is how many messages may wait for a peer.
	peerQueue = 4096
	// peerTimeout bounds a connect and a write.
	peerTimeout = 5 * time.Second
	// peerRetry is the pause after a failed connect.
	peerRetry = time.Second
)

// newPeers makes the links to all other members of the map.
func newPeers(m *topology.Map, self topology.NodeID, cfg *config.Config, tls *keeper, log *slog.Logger) *peers {
	ps := &peers{log: log, cfg: cfg, tls: tls, stop: make(chan struct{})}
	for _, member := range m.Members() {
		if member.ID != self {
			ps.list = append(ps.list, &peer{member: member, queue: make(chan []byte, peerQueue)})
		}
	}
	return ps
}

// start runs the links until close.
func (ps *peers) start() {
	for _, p := range ps.list {
		ps.wait.Go(func() { ps.run(p) })
	}
}

func (ps *peers) close() {
	close(ps.stop)
	ps.wait.Wait()
}

// relay hands a message to all links. It waits for nothing.
func (ps *peers) relay(channel, body []byte) {
	if len(ps.list) == 0 {
		return
	}
	wire := resp.AppendCommand(nil, []byte("BOWLINE"), []byte("RELAY"), channel, body)
	for _, p := range ps.list {
		select {
		case p.queue <- wire:
		default:
			p.mu.Lock()
			p.lost++
			p.mu.Unlock()
		}
	}
}

// run is one link's goroutine.
func (ps *peers) run(p *peer) {
	for {
		select {
		case <-ps.stop:
			return
		case first := <-p.queue:
			if lost, err := ps.carry(p, first); err != nil {
				p.mu.Lock()
				lost += p.lost
				p.lost = 0
				p.mu.Unlock()
				ps.log.Warn("link to another node broke", "peer", p.member.Host, "port", p.member.Port, "error", err, "messages_lost", lost)
			}
		}
	}
}

// carry opens a connection and writes messages until it breaks or the node
// stops. lost is how many of them were not answered; some may have arrived.
func (ps *peers) carry(p *peer, first []byte) (lost int, err error) {
	nc, err := ps.dial(p.member)
	if err != nil {
		select {
		case <-ps.stop:
		case <-time.After(peerRetry):
		}
		return 1, err
	}
	a := answers{done: make(chan struct{})}
	go a.read(nc)
	w := bufio.NewWriterSize(nc, 64<<10)
	if password := ps.cfg.String(config.MasterAuth); password != "" {
		user := ps.cfg.String(config.MasterUser)
		if user == "" {
			user = "default"
		}
		w.Write(resp.AppendCommandStrings(nil, "AUTH", user, password))
	}
	sent, err := ps.write(p, first, nc, w, a.done)
	nc.Close()
	<-a.done
	if errors.Is(err, errLinkEnded) {
		err = a.err
	}
	return sent - a.messages, err
}

// errLinkEnded says that nothing is answered any more.
var errLinkEnded = errors.New("the link ended")

// write writes messages until the connection breaks, ended is closed or the node stops.
func (ps *peers) write(p *peer, message []byte, nc net.Conn, w *bufio.Writer, ended <-chan struct{}) (sent int, err error) {
	for {
		nc.SetWriteDeadline(time.Now().Add(peerTimeout))
		w.Write(message) // an error stays until Flush
		sent++
		if len(p.queue) == 0 {
			if err := w.Flush(); err != nil {
				return sent, err
			}
		}
		select {
		case <-ps.stop:
			return sent, w.Flush()
		case <-ended:
			return sent, errLinkEnded
		case message = <-p.queue:
		}
	}
}

// dial connects by TLS when tls-cluster says so.
func (ps *peers) dial(m *topology.Member) (net.Conn, error) {
	address := func(port int) string { return net.JoinHostPort(m.Host, strconv.Itoa(port)) }
	dialer := net.Dialer{Timeout: peerTimeout}
	switch secured := ps.tls.client(); {
	case secured != nil && m.TLSPort == 0:
		return nil, errNoTLSPort
	case secured != nil:
		return tls.DialWithDialer(&dialer, "tcp", address(m.TLSPort), secured)
	case m.Port == 0:
		return nil, errNoPort
	}
	return dialer.Dial("tcp", address(m.Port))
}

// The errors for members that can't be reached the way that tls-cluster says.
var (
	errNoTLSPort = errors.New("tls-cluster is yes, but the cluster map gives this node no TLS port")
	errNoPort    = errors.New("tls-cluster is no, but the cluster map gives this node a TLS port only")
)

// answers are the replies of a link. Those to messages are numbers, which nobody needs;
// an error is told.
type answers struct {
	done     chan struct{} // closed when there are no more; the rest is set then
	messages int
	err      error
}

// read reads replies until the connection breaks.
func (a *answers) read(nc net.Conn) {
	defer close(a.done)
	lines := bufio.NewScanner(nc)
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "-"):
			a.err = fmt.Errorf("refused, nodes log in by masteruser and masterauth: %s", text[1:])
			return
		case strings.HasPrefix(text, ":"):
			a.messages++
		}
	}
	if a.err = lines.Err(); a.err == nil {
		a.err = io.EOF
	}
}
