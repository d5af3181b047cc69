package redistest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// replyTimeout bounds the wait for one reply.
const replyTimeout = 30 * time.Second

// Conn is a plain blocking connection for one goroutine. Failures of the
// transport fail the test.
type Conn struct {
	tb testing.TB
	nc net.Conn
	rd *bufio.Reader
	// raw collects the bytes of the reply being read.
	raw []byte
}

// Error is an error reply without its '-'.
type Error string

func (e Error) Error() string { return string(e) }

// Map is a RESP3 map in the order of the wire: key, value, key, value.
type Map []any

// Set is a RESP3 set in the order of the wire.
type Set []any

// Push is a RESP3 out-of-band message.
type Push []any

// Simple is a simple string, to tell "+OK" from "$2 OK".
type Simple string

// Verbatim is a RESP3 verbatim string with its format ("txt:...").
type Verbatim string

// Dial connects to any server, on network "tcp" or "unix". The connection is
// closed with the test.
func Dial(tb testing.TB, network, addr string) *Conn {
	tb.Helper()
	nc, err := net.Dial(network, addr)
	if err != nil {
		tb.Fatalf("dial %s: %v", addr, err)
	}
	tb.Cleanup(func() { nc.Close() })
	return &Conn{tb: tb, nc: nc, rd: bufio.NewReader(nc)}
}

// DialTLS is Dial by TLS, over TCP. The handshake is done with the first command.
func DialTLS(tb testing.TB, addr string, config *tls.Config) *Conn {
	tb.Helper()
	c := Dial(tb, "tcp", addr)
	c.nc = tls.Client(c.nc, config)
	c.rd.Reset(c.nc)
	return c
}

// Another is one more connection to the same server, without TLS.
func (c *Conn) Another() *Conn {
	c.tb.Helper()
	addr := c.nc.RemoteAddr()
	return Dial(c.tb, addr.Network(), addr.String())
}

// Net is the connection below, for tests that cut or stall it.
func (c *Conn) Net() net.Conn { return c.nc }

// Close closes the connection before the test ends.
func (c *Conn) Close() { c.nc.Close() }

// Do sends one command and returns its decoded reply: [Simple], string, int64,
// float64, bool, nil, *big.Int, [Verbatim], [Error], []any, [Map], [Set] or [Push].
func (c *Conn) Do(args ...string) any {
	c.tb.Helper()
	c.Send(args...)
	return c.Receive()
}

// Raw sends one command and returns the exact bytes of its reply.
func (c *Conn) Raw(args ...string) []byte {
	c.tb.Helper()
	return c.RawBytes(Encode(args...))
}

// RawBytes writes any bytes and returns the bytes of the next reply; nil when
// the server closed the connection instead.
func (c *Conn) RawBytes(wire []byte) []byte {
	c.tb.Helper()
	c.Write(wire)
	return c.ReceiveRaw()
}

// Send writes one command without waiting.
func (c *Conn) Send(args ...string) {
	c.tb.Helper()
	c.Write(Encode(args...))
}

// Write writes any bytes.
func (c *Conn) Write(wire []byte) {
	c.tb.Helper()
	c.nc.SetWriteDeadline(time.Now().Add(replyTimeout))
	if _, err := c.nc.Write(wire); err != nil {
		c.tb.Fatalf("write: %v", err)
	}
}

// Receive reads one reply.
func (c *Conn) Receive() any {
	c.tb.Helper()
	v, err := c.read()
	if err != nil {
		c.tb.Fatalf("read reply: %v (so far %q)", err, c.raw)
	}
	return v
}

// ReceiveRaw reads one reply and returns its bytes, nil at the end of the stream.
func (c *Conn) ReceiveRaw() []byte {
	c.tb.Helper()
	if _, err := c.read(); err != nil {
		if len(c.raw) == 0 {
			return nil
		}
		c.tb.Fatalf("read reply: %v (so far %q)", err, c.raw)
	}
	return append([]byte(nil), c.raw...)
}

// TryReceive is Receive for tests in which the connection may end.
func (c *Conn) TryReceive() (any, error) { return c.read() }

// Encode gives the request bytes of one command.
func Encode(args ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return []byte(b.String())
}

func (c *Conn) read() (any, error) {
	c.raw = c.raw[:0]
	c.nc.SetReadDeadline(time.Now().Add(replyTimeout))
	return c.value()
}

func (c *Conn) line() (string, error) {
	s, err := c.rd.ReadString('\n')
	c.raw = append(c.raw, s...)
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(s, "\r\n") {
		return "", fmt.Errorf("line %q does not end in CRLF", s)
	}
	return s[:len(s)-2], nil
}

func (c *Conn) value() (any, error) {
	s, err := c.line()
	if err != nil {
		return nil, err
	}
	if s == "" {
		return nil, fmt.Errorf("empty reply line")
	}
	rest := s[1:]
	switch s[0] {
	case '+':
		return Simple(rest), nil
	case '-':
		return Error(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '_':
		return nil, nil
	case '#':
		return rest == "t", nil
	case ',':
		return parseDouble(rest)
	case '(':
		n, ok := new(big.Int).SetString(rest, 10)
		if !ok {
			return nil, fmt.Errorf("bad big number %q", rest)
		}
		return n, nil
	case '$', '=', '!':
		return c.blob(s[0], rest)
	case '*', '%', '~', '>', '|':
		return c.aggregate(s[0], rest)
	}
	return nil, fmt.Errorf("unknown reply type in %q", s)
}

func parseDouble(s string) (any, error) {
	switch s {
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan", "-nan":
		return math.NaN(), nil
	}
	return strconv.ParseFloat(s, 64)
}

func (c *Conn) blob(kind byte, size string) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, nil
	}
	buf := make([]byte, n+2)
	if _, err := io.ReadFull(c.rd, buf); err != nil {
		return nil, err
	}
	c.raw = append(c.raw, buf...)
	text := string(buf[:n])
	switch kind {
	case '=':
		return Verbatim(text), nil
	case '!':
		return Error(text), nil
	}
	return text, nil
}

func (c *Conn) aggregate(kind byte, size string) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, nil
	}
	if kind == '%' || kind == '|' {
		n *= 2
	}
	elems := make([]any, 0, min(n, 1024))
	for range n {
		v, err := c.value()
		if err != nil {
			return nil, err
		}
		elems = append(elems, v)
	}
	switch kind {
	case '%':
		return Map(elems), nil
	case '~':
		return Set(elems), nil
	case '>':
		return Push(elems), nil
	case '|':
		return c.value() // attributes are passed over
	}
	return elems, nil
}
