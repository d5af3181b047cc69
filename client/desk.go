package client

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

var errNoChannels = errors.New("no channels given")

// desk keeps a subscription in force: one goroutine that places channels on
// connections, and places them anew when they get lost.
//
//	wanted --place--> asked on a feed --confirmed--> in force
//	   ^------------- refused, lost, feed ended ---------'
//
// Feeds are opened beside it, so that a node that hangs holds up no channel of others.
type desk struct {
	sub   *Subscription
	core  *core
	ready chan struct{} // closed when all channels were in force once
	last  atomic.Pointer[error]

	wanted map[string]bool // to be placed
	state  map[string]bool // of those confirmed at least once: in force now
	feeds  map[*node]*feed
	dials  map[*node]bool // feeds that are being opened
	dialed sync.WaitGroup // for their goroutines
	tries  int            // failures since the last channel came in force
	next   time.Time      // no attempt before
}

func newDesk(s *Subscription) *desk {
	d := &desk{sub: s, core: s.core, ready: make(chan struct{}),
		wanted: map[string]bool{}, state: map[string]bool{}, feeds: map[*node]*feed{}, dials: map[*node]bool{}}
	for _, name := range s.names {
		d.wanted[name] = true
	}
	return d
}

// lastError is the last reason why a channel could not be placed.
func (d *desk) lastError() error {
	if p := d.last.Load(); p != nil {
		return *p
	}
	return nil
}

// beatEvery is the time between two PINGs on a feed; after two without a sign of life
// its connection is taken for dead.
const beatEvery = 5 * time.Second

func (d *desk) run() {
	defer d.close()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		timer := d.attempt()
		select {
		case e := <-d.sub.events:
			d.handle(&e)
		case <-beat.C:
			d.beat()
		case <-timer.C:
		case <-d.sub.ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// attempt places what is wanted, when it is time for that, and gives the timer for the
// next attempt.
func (d *desk) attempt() *time.Timer {
	now, again := time.Now(), len(d.wanted) > 0
	if again && !now.Before(d.next) {
		again = d.place()
	}
	if !again {
		return time.NewTimer(time.Hour) // an event comes before
	}
	return time.NewTimer(max(0, d.next.Sub(now)))
}

func (d *desk) close() {
	d.sub.end(ErrClosed)
	d.dialed.Wait()
	for len(d.sub.events) > 0 {
		if e := <-d.sub.events; e.kind == feedOpened && e.err == nil {
			d.feeds[e.feed.node] = e.feed // came too late
		}
	}
	for _, f := range d.feeds {
		f.conn.fail(ErrClosed)
		<-f.conn.dead
	}
}

// place asks for all wanted channels; again: not even a feed is being opened for some.
func (d *desk) place() (again bool) {
	bySlot := map[int][]string{}
	for name := range d.wanted {
		at := noSlot
		if d.sub.words.sharded {
			at = int(slot.OfString(name))
		}
		bySlot[at] = append(bySlot[at], name)
	}
	for at, names := range bySlot {
		switch err := d.ask(at, names); {
		case err == errOpening:
			continue
		case err != nil:
			d.failed(err)
			d.core.reloadSoon()
			again = true
			continue
		}
		for _, name := range names {
			delete(d.wanted, name)
		}
	}
	return again
}

// triesAtOnce is how many failures in a row are answered without a wait.
const triesAtOnce = 2

func (d *desk) failed(err error) {
	d.last.Store(&err)
	if d.tries++; d.tries > triesAtOnce {
		d.next = time.Now().Add(min(backoffFirst<<min(d.tries-triesAtOnce, 10), failedWaitMax))
	}
}

// ask sends one request for channels of one slot.
func (d *desk) ask(at int, names []string) error {
	f, err := d.feedFor(at)
	if err != nil {
		return err
	}
	if err := f.conn.post(resp.AppendCommandStrings(nil, append([]string{d.sub.words.subscribe}, names...)...)); err != nil {
		return err
	}
	for _, name := range names {
		f.names[name] = true
	}
	return nil
}

// errOpening says that a feed is being opened, and that an event will tell.
var errOpening = errors.New("the connection is being opened")

func (d *desk) feedFor(at int) (*feed, error) {
	if !d.sub.words.sharded {
		for _, f := range d.feeds { // any node passes messages on
			return f, nil
		}
		if len(d.dials) > 0 {
			return nil, errOpening
		}
	}
	g := d.core.top.Load().group(at)
	if g == nil {
		return nil, errUncovered
	}
	n := g.primary
	if f := d.feeds[n]; f != nil {
		return f, nil
	}
	if !d.dials[n] {
		d.dials[n] = true
		d.dialed.Go(func() { d.open(n) })
	}
	return nil, errOpening
}

// open connects to a node and tells the desk.
func (d *desk) open(n *node) {
	f := &feed{sub: d.sub, node: n, names: map[string]bool{}}
	err := d.core.openFeed(f)
	select {
	case d.sub.events <- feedEvent{feed: f, kind: feedOpened, err: err}:
	case <-d.sub.ctx.Done():
		if err == nil {
			f.conn.fail(ErrClosed)
			<-f.conn.dead
		}
	}
}

// opened takes a new feed, unless it has ended already.
func (d *desk) opened(e *feedEvent) {
	delete(d.dials, e.feed.node)
	if e.err == nil && !e.feed.conn.usable() {
		e.err = e.feed.conn.cause()
	}
	if e.err != nil {
		d.failed(e.err)
		d.core.reloadSoon()
		return
	}
	d.feeds[e.feed.node] = e.feed
	d.next = time.Time{}
}

func (d *desk) handle(e *feedEvent) {
	if e.kind == feedOpened {
		d.opened(e)
		return
	}
	if d.feeds[e.feed.node] != e.feed {
		return // of a connection given up
	}
	switch e.kind {
	case feedConfirmed:
		d.confirm(e.name)
	case feedLost:
		if e.feed.names[e.name] {
			d.want(e.feed, e.name)
			d.core.reloadSoon()
		}
	case feedRefused:
		d.refused(e.feed, &e.v)
	case feedEnded:
		delete(d.feeds, e.feed.node)
		for name := range e.feed.names {
			d.want(e.feed, name)
		}
		d.core.tell(Event{Kind: EventDrop, Addr: e.feed.node.addr, Slot: noSlot, Err: e.err})
		d.failed(e.err)
		d.core.reloadSoon()
	}
}

func (d *desk) confirm(name string) {
	d.tries = 0
	inForce, before := d.state[name]
	d.state[name] = true
	if before && !inForce {
		d.sub.put(Message{Channel: name, Gap: true})
	}
	if len(d.state) == len(d.allNames()) {
		select {
		case <-d.ready:
		default:
			close(d.ready)
		}
	}
}

// allNames are the channels without repetitions.
func (d *desk) allNames() map[string]bool {
	all := map[string]bool{}
	for _, name := range d.sub.names {
		all[name] = true
	}
	return all
}

// want takes a channel off its feed; a feed without channels is closed.
func (d *desk) want(f *feed, name string) {
	delete(f.names, name)
	d.wanted[name] = true
	if d.state[name] {
		d.state[name] = false
	}
	if len(f.names) == 0 && d.feeds[f.node] == f {
		delete(d.feeds, f.node)
		f.conn.fail(errRetired)
	}
}

// refused sees to an error reply. A request has channels of one slot, so the slot of a
// redirection tells which are meant; for other errors it may be any not yet in force.
func (d *desk) refused(f *feed, v *resp.Value) {
	err := v.Err()
	at := noSlot
	switch code(v) {
	case "MOVED":
		to, ok := parseRedirect(v, f.node.addr)
		d.failed(err)
		if !ok {
			d.core.reloadSoon()
			break
		}
		at = to.slot
		d.core.follow(&outcome{node: f.node}, to, false)
	case "CLUSTERDOWN", "LOADING", "MASTERDOWN", "TRYAGAIN", "READONLY":
		d.failed(err)
		d.core.reloadSoon()
	default:
		d.sub.end(&Error{Command: d.sub.words.subscribe, Addr: f.node.addr, Slot: noSlot, Err: err})
		return
	}
	for name := range f.names {
		if !d.state[name] && (at == noSlot || int(slot.OfString(name)) == at) {
			d.want(f, name)
		}
	}
}

var pingWire = resp.AppendCommandStrings(nil, "PING")

// beat sees whether the connections live.
func (d *desk) beat() {
	if len(d.sub.out) == cap(d.sub.out) {
		return // the subscriber is slow, not the server
	}
	for _, f := range d.feeds {
		reads := f.conn.reads.Load()
		if f.beats == reads && f.beats != 0 {
			f.conn.fail(errTimeout)
			continue
		}
		f.beats = reads
		f.conn.post(pingWire)
	}
}
