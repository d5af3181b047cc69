package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// echo is a server on a real socket that answers GET with the key, unless fault says
// what happens instead.
type echo struct {
	listener net.Listener
	fault    func() string
	mu       sync.Mutex
	open     map[net.Conn]bool
	group    sync.WaitGroup
}

func newEcho(t *testing.T, fault func() string) *echo {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &echo{listener: l, fault: fault, open: map[net.Conn]bool{}}
	s.group.Go(s.accept)
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for nc := range s.open {
			nc.Close()
		}
		s.mu.Unlock()
		s.group.Wait()
	})
	return s
}

func (s *echo) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[nc] = true
		s.mu.Unlock()
		s.group.Go(func() {
			s.serve(nc)
			nc.Close()
		})
	}
}

func (s *echo) serve(nc net.Conn) {
	rd, w := bufio.NewReader(nc), bufio.NewWriter(nc)
	for {
		args, err := readRequest(rd)
		if err != nil {
			return
		}
		switch args[0] {
		case "HELLO":
			w.WriteString("%1\r\n+proto\r\n:3\r\n")
		case "CLUSTER":
			w.WriteString("-ERR This instance has cluster support disabled\r\n")
		default:
			if !s.answer(nc, w, bulk(args[1])) {
				return
			}
		}
		if rd.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

// faults are what a server may do beside answering.
var faults = []string{"push before", "push behind", "half a push", "half", "slow half", "end", "end behind", "garbage", "garbage behind"}

// answer writes a reply, or what the fault makes of it; false: that is the end.
func (s *echo) answer(nc io.Writer, w *bufio.Writer, reply string) bool {
	const push = ">2\r\n+x\r\n$3\r\nabc\r\n"
	send := func(text string) { w.WriteString(text); w.Flush() }
	switch s.fault() {
	case "push before":
		send(push + reply)
	case "push behind":
		send(reply + push)
	case "half a push":
		send(reply + push[:7])
		send(push[7:])
	case "half":
		send(reply[:len(reply)/2])
		return false
	case "slow half":
		send(reply[:len(reply)/2])
		time.Sleep(time.Millisecond)
		send(reply[len(reply)/2:])
	case "end":
		w.Flush()
		return false
	case "end behind":
		send(reply)
		return false
	case "garbage":
		send("\x00\xffgarbage\r\n")
	case "garbage behind":
		send(reply + "garbage\r\n")
	default:
		w.WriteString(reply)
	}
	return true
}

// Whatever a server and the contexts of others do, nobody gets another's reply, and
// everybody gets an end.
func TestNobodyGetsTheReplyOfAnother(t *testing.T) {
	for _, goroutines := range []int{1, 2, 8, 64} {
		for _, every := range []int{3, 50, 1000} {
			t.Run(fmt.Sprintf("%d goroutines, one fault in %d", goroutines, every), func(t *testing.T) {
				s := newEcho(t, func() string {
					if rand.IntN(every) > 0 {
						return ""
					}
					return faults[rand.IntN(len(faults))]
				})
				c, err := Open(t.Context(), Options{Addrs: []string{s.listener.Addr().String()}, DialAttempts: 20})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				var group sync.WaitGroup
				for i := range goroutines {
					group.Go(func() { askAround(t, c, i, 1000/goroutines) })
				}
				group.Wait()
			})
		}
	}
}

// askAround sends commands and pipelines under contexts of all kinds.
func askAround(t *testing.T, c *Client, id, rounds int) {
	p := c.Pipeline()
	for n := range rounds {
		ctx, cancel := context.Background(), func() {}
		switch rand.IntN(4) {
		case 0:
			ctx, cancel = context.WithCancel(t.Context())
		case 1:
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rand.IntN(2000))*time.Microsecond)
		}
		keys := make([]string, 1+rand.IntN(3)*rand.IntN(8))
		for i := range keys {
			keys[i] = fmt.Sprintf("%d-%d-%d", id, n, i)
			p.Do("GET", keys[i])
		}
		replies, _ := p.Exec(ctx)
		if len(keys) == 1 {
			replies = append(replies, c.Do(ctx, "GET", keys[0]))
			keys = append(keys, keys[0])
		}
		cancel()
		for i := range replies {
			if got, err := replies[i].Text(); err == nil && got != keys[i] {
				t.Errorf("got %q, want %q", got, keys[i])
			}
		}
	}
}

func TestCloseWhileCommandsRun(t *testing.T) {
	s := newEcho(t, func() string { return "" })
	for range 50 {
		c, err := Open(t.Context(), Options{Addrs: []string{s.listener.Addr().String()}})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 8 {
			ctx := context.Background()
			if i%2 == 0 {
				ctx = t.Context()
			}
			group.Go(func() {
				err := error(nil)
				for err == nil {
					err = c.Do(ctx, "GET", "k").Err()
				}
				if !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
		c.Close()
		group.Wait()
	}
}
