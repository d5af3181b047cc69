package clienttest

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// link is a connection to a node behind its door: no fault touches it.
type link struct {
	nc  net.Conn
	buf []byte
	rr  resp.ReplyReader
}

// linkTimeout bounds one exchange on a link.
const linkTimeout = 30 * time.Second

var errNotRunning = errors.New("the node is not running")

// link connects to the node from inside.
func (n *Node) link() (*link, error) {
	n.mu.Lock()
	running, inside := n.running, n.inside
	n.mu.Unlock()
	if running == nil {
		return nil, errNotRunning
	}
	nc, err := net.Dial("tcp4", inside.String())
	if err != nil {
		return nil, err
	}
	l := &link{nc: nc}
	if n.password != "" {
		if _, err := l.do("AUTH", n.password); err != nil {
			nc.Close()
			return nil, fmt.Errorf("log in: %w", err)
		}
	}
	return l, nil
}

func (l *link) Close() error { return l.nc.Close() }

// do sends a command and gives its reply, which is valid until the next call.
func (l *link) do(args ...string) (resp.Value, error) {
	l.nc.SetDeadline(time.Now().Add(linkTimeout))
	if _, err := l.nc.Write(resp.AppendCommandStrings(nil, args...)); err != nil {
		return resp.Value{}, err
	}
	return l.receive()
}

func (l *link) receive() (resp.Value, error) {
	l.buf = l.buf[:0]
	var chunk [16 << 10]byte
	for {
		v, n, err := l.rr.Next(l.buf)
		switch {
		case err == nil && n == len(l.buf):
			return v, v.Err()
		case err == nil:
			return v, errors.New("more replies than commands")
		case !errors.Is(err, resp.ErrIncomplete):
			return v, err
		}
		read, err := l.nc.Read(chunk[:])
		if err != nil {
			return v, err
		}
		l.buf = append(l.buf, chunk[:read]...)
	}
}

// mover is a link for which detours do not count.
func (n *Node) mover() (*link, error) {
	l, err := n.link()
	if err != nil {
		return nil, err
	}
	id, err := l.do("CLIENT", "ID")
	if err != nil {
		l.Close()
		return nil, err
	}
	n.change(func(d *server.Detours) { d.Mover = uint64(id.Int) })
	return l, nil
}

// carry moves all keys of a slot, which must be closed at both nodes. The keys of a dead
// node are lost.
func carry(id slot.ID, from, to *Node) error {
	if from == to {
		return nil
	}
	source, err := from.mover()
	if errors.Is(err, errNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.mover()
	if err != nil {
		return err
	}
	defer target.Close()
	n, err := source.do("CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(int(id)))
	if err != nil {
		return err
	}
	list, err := source.do("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(int(id)), strconv.FormatInt(n.Int, 10))
	if err != nil {
		return err
	}
	var keys []string
	for _, v := range list.Elems {
		keys = append(keys, string(v.Str))
	}
	for _, key := range keys {
		if err := carryKey(key, source, target); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return nil
}

func carryKey(key string, source, target *link) error {
	expires, err := source.do("PEXPIRETIME", key)
	if err != nil {
		return err
	}
	until := max(expires.Int, 0) // negative: never, or the key is gone
	value, err := source.do("DUMP", key)
	if err != nil {
		return err
	}
	if value.IsNull() { // it has expired
		return nil
	}
	payload := string(value.Str)
	if _, err := target.do("RESTORE", key, strconv.FormatInt(until, 10), payload, "REPLACE", "ABSTTL"); err != nil {
		return err
	}
	_, err = source.do("DEL", key)
	return err
}
