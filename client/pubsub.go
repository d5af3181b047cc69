package client

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/resp"
)

// Message is what a subscription gets.
type Message struct {
	// Channel is where it was published. Of a gap, the channel or pattern subscribed to.
	Channel string
	// Pattern is what the channel matched, of a PSubscribe.
	Pattern string
	// Payload is what was published.
	Payload string
	// Gap says that this is no message but a notice: the connection was lost, or the
	// channel moved to another node; the subscription is in force again from here on,
	// and messages in between may have been missed.
	Gap bool
}

// Subscription receives messages on connections of its own. It is renewed when a
// connection drops or a channel's slot moves, with a [Message] that is a Gap. A
// subscriber that does not keep up holds its connection back, until the server cuts it
// off: that too ends in a gap. It must be closed.
type Subscription struct {
	core  *core
	words words
	names []string

	ctx    context.Context
	cancel context.CancelFunc
	out    chan Message
	events chan feedEvent

	mu  sync.Mutex
	err error // why it ended
}

// words are those of one kind of subscription.
type words struct {
	subscribe, subscribed, unsubscribed, message string
	sharded                                      bool
}

var (
	plainWords   = words{"SUBSCRIBE", "subscribe", "unsubscribe", "message", false}
	patternWords = words{"PSUBSCRIBE", "psubscribe", "punsubscribe", "pmessage", false}
	shardWords   = words{"SSUBSCRIBE", "ssubscribe", "sunsubscribe", "smessage", true}
)

// messagesMax is how many messages wait for a subscriber before its connection does.
const messagesMax = 256

// Subscribe subscribes to channels and waits until all are in force. The context bounds
// this wait only; the subscription lasts until Close.
func (c *Client) Subscribe(ctx context.Context, channels ...string) (*Subscription, error) {
	return c.subscribe(ctx, plainWords, channels)
}

// PSubscribe is Subscribe for glob patterns of channels.
func (c *Client) PSubscribe(ctx context.Context, patterns ...string) (*Subscription, error) {
	return c.subscribe(ctx, patternWords, patterns)
}

// SSubscribe is Subscribe for sharded channels: each is with the node that serves its
// slot, and follows the slot.
func (c *Client) SSubscribe(ctx context.Context, channels ...string) (*Subscription, error) {
	return c.subscribe(ctx, shardWords, channels)
}

func (c *Client) subscribe(ctx context.Context, w words, names []string) (*Subscription, error) {
	if len(names) == 0 {
		return nil, &Error{Command: w.subscribe, Slot: noSlot, Err: errNoChannels}
	}
	s := &Subscription{core: c.core, words: w, names: names,
		out: make(chan Message, messagesMax), events: make(chan feedEvent, 16)}
	s.ctx, s.cancel = context.WithCancel(c.core.ctx)
	desk := newDesk(s)
	if !c.core.spawn(desk.run) {
		s.cancel()
		return nil, &Error{Command: w.subscribe, Slot: noSlot, Err: ErrClosed}
	}
	select {
	case <-desk.ready:
		return s, nil
	case <-s.ctx.Done():
		return nil, &Error{Command: w.subscribe, Slot: noSlot, Err: s.cause()}
	case <-ctx.Done():
		s.Close()
		return nil, &Error{Command: w.subscribe, Slot: noSlot, Err: join(ctx.Err(), desk.lastError())}
	}
}

// Receive waits for the next message. The error is that of the context, [ErrClosed]
// after Close, or why the subscription ended.
func (s *Subscription) Receive(ctx context.Context) (Message, error) {
	select {
	case m := <-s.out:
		return m, nil
	default:
	}
	select {
	case m := <-s.out:
		return m, nil
	case <-ctx.Done():
		return Message{}, ctx.Err()
	case <-s.ctx.Done():
		return Message{}, s.cause()
	}
}

// Messages iterates over the messages until there is an error, which is the last thing
// it yields.
func (s *Subscription) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := s.Receive(ctx)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the subscription and its connections. It may be called twice.
func (s *Subscription) Close() error {
	s.end(ErrClosed)
	return nil
}

func (s *Subscription) end(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.cancel()
}

func (s *Subscription) cause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return ErrClosed
	}
	return s.err
}

// feedEvent is what a connection of a subscription tells the desk.
type feedEvent struct {
	feed *feed
	kind feedKind
	name string // the channel or pattern
	err  error
	v    resp.Value // an error reply
}

type feedKind uint8

const (
	feedOpened    feedKind = iota // the connection is there, or err says why not
	feedConfirmed                 // name is subscribed to
	feedLost                      // the server ended the subscription to name
	feedRefused                   // v is an error reply
	feedEnded                     // the connection is gone
)

// feed is a connection of a subscription.
type feed struct {
	sub   *Subscription
	node  *node
	conn  *conn
	names map[string]bool // asked for on it; the desk's
	beats uint64          // reads, at the desk's last look
}

// got takes what the server sends. It runs on the connection's reader, so waiting here
// holds the server back.
func (f *feed) got(v resp.Value) {
	s := f.sub
	if v.IsError() {
		f.tell(feedEvent{feed: f, kind: feedRefused, v: v})
		return
	}
	if len(v.Elems) < 3 {
		return // PONG
	}
	name := textOf(&v.Elems[1])
	switch kind := textOf(&v.Elems[0]); {
	case kind == s.words.message && len(v.Elems) == 4:
		s.put(Message{Pattern: name, Channel: textOf(&v.Elems[2]), Payload: textOf(&v.Elems[3])})
	case kind == s.words.message:
		s.put(Message{Channel: name, Payload: textOf(&v.Elems[2])})
	case kind == s.words.subscribed:
		f.tell(feedEvent{feed: f, kind: feedConfirmed, name: name})
	case kind == s.words.unsubscribed:
		f.tell(feedEvent{feed: f, kind: feedLost, name: name})
	}
}

func (f *feed) tell(e feedEvent) {
	select {
	case f.sub.events <- e:
	case <-f.sub.ctx.Done():
	}
}

func (s *Subscription) put(m Message) {
	select {
	case s.out <- m:
	case <-s.ctx.Done():
	}
}

// openFeed connects a feed to its node.
func (c *core) openFeed(f *feed) error {
	ctx, cancel := context.WithTimeout(f.sub.ctx, c.opt.DialTimeout)
	defer cancel()
	addr := f.node.addr
	cn, err := c.openFor(ctx, f.node, f)
	if err != nil {
		err = fmt.Errorf("connect to %s: %w", addr, err)
		c.tell(Event{Kind: EventDialFailed, Addr: addr, Slot: noSlot, Err: err})
		return err
	}
	c.tell(Event{Kind: EventDial, Addr: addr, Slot: noSlot})
	f.conn = cn
	return nil
}

func (c *core) openFor(ctx context.Context, n *node, f *feed) (*conn, error) {
	nc, err := c.openSocket(ctx, n.addr, n.serverName)
	if err != nil {
		return nil, err
	}
	cn := newConn(nc, 0, f.got)
	cn.stray = f.got
	var settled atomic.Bool // it is set up, or has ended before: then nobody wants to know
	cn.ended = func() {
		c.untrack(cn)
		if !settled.CompareAndSwap(false, true) {
			f.tell(feedEvent{feed: f, kind: feedEnded, err: cn.cause()})
		}
	}
	if !c.track(cn) {
		nc.Close()
		return nil, ErrClosed
	}
	cn.start()
	err = c.greet(ctx, cn, false)
	if err == nil && !settled.CompareAndSwap(false, true) {
		err = cn.cause()
	}
	if err != nil {
		cn.fail(err)
		<-cn.dead
		return nil, err
	}
	return cn, nil
}

// post sends a request for which no reply is waited.
func (c *conn) post(wire []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refuses(); err != nil {
		return err
	}
	c.pending = append(c.pending, wire...)
	c.appended += uint64(len(wire))
	if !c.writing {
		c.writing = true
		c.wake <- struct{}{}
	}
	return nil
}

func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
