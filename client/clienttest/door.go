package clienttest

import (
	"net"
	"sync"
)

// door is the listener through which clients come to a node. It knows their
// connections and makes them fail.
//
//	client -> socket -> doorConn: held back? cut off? -> the node's driver
//
// As a connection of the door is no plain socket for the node, the portable driver
// serves it, with a goroutine of its own, which may wait here as long as it takes.
type door struct {
	mu       sync.Mutex
	l        net.Listener           // guarded by mu
	conns    map[*doorConn]struct{} // guarded by mu
	accepted int                    // guarded by mu
	stalled  chan struct{}          // closed with the end of the stall; nil: none; guarded by mu
	cutNext  int                    // for the next connection with a reply; noCut: none; guarded by mu
	cutAll   int                    // for every new connection; noCut: none; guarded by mu
	waiting  int                    // reads and writes that a stall holds back; guarded by mu
}

// noCut stands for connections that may send what they want.
const noCut = -1

func newDoor(l net.Listener) *door {
	return &door{l: l, conns: map[*doorConn]struct{}{}, cutNext: noCut, cutAll: noCut}
}

// reopen puts another listener in place of one that is closed, and ends all faults.
func (d *door) reopen(l net.Listener) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.l, d.cutNext, d.cutAll = l, noCut, noCut
}

func (d *door) listener() net.Listener {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.l
}

// Accept implements [net.Listener].
func (d *door) Accept() (net.Conn, error) {
	nc, err := d.listener().Accept()
	if err != nil {
		return nil, err
	}
	c := &doorConn{Conn: nc, door: d, closed: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.left = d.cutAll
	d.accepted++
	d.conns[c] = struct{}{}
	return c, nil
}

// Close implements [net.Listener]. A second call is no error.
func (d *door) Close() error {
	d.listener().Close()
	return nil
}

// Addr implements [net.Listener].
func (d *door) Addr() net.Addr { return d.listener().Addr() }

// breakDown closes the port and resets all connections.
func (d *door) breakDown() {
	d.Close()
	d.resetAll()
}

func (d *door) resetAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		c.reset()
	}
}

// Resume ends a stall.
func (d *door) Resume() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stalled != nil {
		close(d.stalled)
		d.stalled = nil
	}
}

// Stall holds everything back until Resume.
func (d *door) Stall() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stalled == nil {
		d.stalled = make(chan struct{})
	}
}

// stall is closed when the connections may go on; nil: at once.
func (d *door) stall() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stalled
}

// doorConn is a connection of a door, at the node's end.
type doorConn struct {
	net.Conn
	door   *door
	left   int           // bytes until it is cut, or noCut; guarded by door.mu
	once   sync.Once     // closes closed
	closed chan struct{} // closed by Close
}

// Read implements [net.Conn]. In a stall it keeps back what came.
func (c *doorConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.passes() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements [net.Conn]. It waits for the end of a stall, and ends the connection
// when its bytes are used up.
func (c *doorConn) Write(b []byte) (int, error) {
	if !c.passes() {
		return 0, net.ErrClosed
	}
	n, cut := c.allowed(len(b))
	if !cut {
		return c.Conn.Write(b)
	}
	n, err := c.Conn.Write(b[:n])
	if err == nil {
		err = net.ErrClosed
	}
	c.CloseWrite() // not Close: that could take back bytes that are on their way
	return n, err
}

// passes waits for the end of a stall; false: the connection was closed meanwhile.
func (c *doorConn) passes() bool {
	for stalled := c.door.stall(); stalled != nil; stalled = c.door.stall() {
		c.door.wait(1)
		select {
		case <-stalled:
			c.door.wait(-1)
		case <-c.closed:
			c.door.wait(-1)
			return false
		}
	}
	return true
}

func (d *door) wait(change int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting += change
}

// allowed says how many of n bytes may be sent, and whether the connection ends then.
func (c *doorConn) allowed(n int) (allowed int, cut bool) {
	d := c.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cutNext != noCut && c.left == noCut {
		c.left, d.cutNext = d.cutNext, noCut
	}
	if c.left == noCut {
		return n, false
	}
	allowed = min(n, c.left)
	c.left -= allowed
	return allowed, c.left == 0
}

// CloseWrite ends what the node sends: the client finds the end of the stream.
func (c *doorConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// reset closes the connection so that the client gets an error, not an end.
// c.door.mu is held.
func (c *doorConn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.end()
}

// end closes the socket and lets go who waits for the end of a stall.
func (c *doorConn) end() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Close implements [net.Conn].
func (c *doorConn) Close() error {
	c.door.mu.Lock()
	delete(c.door.conns, c)
	c.door.mu.Unlock()
	return c.end()
}
