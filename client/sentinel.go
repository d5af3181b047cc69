package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

// askSentinel asks where the primary is and sees for itself that it is one.
func (c *core) askSentinel(ctx context.Context, addr string) (*announce.Map, error) {
	cn, err := c.dialSentinel(ctx, addr, nil)
	if err != nil {
		return nil, err
	}
	defer cn.fail(errRetired)
	replies, err := cn.exchange(ctx, [][]string{{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", c.opt.SentinelName}})
	if err != nil {
		return nil, err
	}
	v := &replies[0]
	if err := v.Err(); err != nil {
		return nil, err
	}
	if len(v.Elems) != 2 {
		return nil, fmt.Errorf("%s knows no primary named %q", addr, c.opt.SentinelName)
	}
	primary := c.announced(textOf(&v.Elems[0]), announce.Number(&v.Elems[1]), addr)
	if err := c.verifyPrimary(ctx, primary); err != nil {
		return nil, fmt.Errorf("%s says that %s is primary: %w", addr, primary, err)
	}
	g := announce.Group{Members: []announce.Member{{Addr: primary, Primary: true}}}
	return &announce.Map{Groups: []announce.Group{g}, Standalone: true}, nil
}

// dialSentinel connects without login, database or durability: those are for the data.
// stray gets what answers nothing; nil: that is a fault.
func (c *core) dialSentinel(ctx context.Context, addr string, stray func(resp.Value)) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.DialTimeout)
	defer cancel()
	nc, err := c.openSocket(ctx, addr, "")
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return c.startConn(nc, false, addr, stray)
}

func (c *core) verifyPrimary(ctx context.Context, addr string) error {
	cn, err := c.dial(addr, "", false, false)
	if err != nil {
		return err
	}
	defer cn.fail(errRetired)
	replies, err := cn.exchange(ctx, [][]string{{"ROLE"}})
	if err != nil {
		return err
	}
	v := &replies[0]
	if err := v.Err(); err != nil {
		return err
	}
	if len(v.Elems) == 0 || textOf(&v.Elems[0]) != "master" {
		return errors.New("its ROLE says otherwise")
	}
	return nil
}

// announced gives the address to dial for one that a Sentinel named.
func (c *core) announced(host, port, sentinel string) string {
	addr := announce.Join(host, port, sentinel)
	if c.opt.MapAddr != nil {
		return c.opt.MapAddr(addr)
	}
	return addr
}

const (
	// switchWaitMax is the longest wait before the next Sentinel is tried.
	switchWaitMax = 10 * time.Second
	// switchLoadsMax is how often the map is loaded after a switch until it names the
	// new primary: other Sentinels learn of it a little later.
	switchLoadsMax = 40
)

var switchWire = resp.AppendCommandStrings(nil, "SUBSCRIBE", "+switch-master")

// followSwitches keeps a subscription at one Sentinel after the other, until Close.
func (c *core) followSwitches() {
	addrs := slices.Clone(c.opt.Addrs)
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	for at, tries := 0, 0; ; at++ {
		f := &switchFeed{core: c, addr: addrs[at%len(addrs)], events: make(chan resp.Value, 16)}
		begun := time.Now()
		f.run()
		if tries++; f.confirmed && time.Since(begun) > switchWaitMax {
			tries = 0
		}
		wait := min(c.opt.ReloadMin<<min(tries, 10), switchWaitMax)
		if pause(c.ctx, wait) != nil {
			return
		}
	}
}

// switchFeed is a subscription to the switches of one Sentinel.
type switchFeed struct {
	core      *core
	addr      string
	events    chan resp.Value
	confirmed bool

	wanted string // the new primary, until the map names it
	load   *reload
	loads  int // for wanted
}

// run ends with the connection, or with the client.
func (f *switchFeed) run() {
	ctx, cancel := context.WithCancel(f.core.ctx)
	defer cancel()
	cn, err := f.core.dialSentinel(ctx, f.addr, func(v resp.Value) {
		select {
		case f.events <- v:
		case <-ctx.Done():
		}
	})
	if err != nil {
		f.core.tell(Event{Kind: EventDialFailed, Addr: f.addr, Slot: noSlot, Err: err})
		return
	}
	f.core.tell(Event{Kind: EventDial, Addr: f.addr, Slot: noSlot})
	if err = cn.post(switchWire); err == nil {
		err = f.serve(cn)
	}
	cancel()
	cn.fail(err)
	<-cn.dead
	if !errors.Is(err, ErrClosed) {
		f.core.tell(Event{Kind: EventDrop, Addr: f.addr, Slot: noSlot, Err: err})
	}
}

func (f *switchFeed) serve(cn *conn) error {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	seen := uint64(0)
	for {
		var loaded chan struct{}
		if f.load != nil {
			loaded = f.load.done
		}
		select {
		case v := <-f.events:
			if err := f.got(&v); err != nil {
				return err
			}
		case <-loaded:
			f.check()
		case <-beat.C:
			reads := cn.reads.Load()
			if reads == seen {
				return errTimeout
			}
			seen = reads
			cn.post(pingWire) // when it fails, the connection is dead
		case <-cn.dead:
			return cn.cause()
		case <-f.core.ctx.Done():
			return ErrClosed
		}
	}
}

// got reads a message. A switch before the subscription was in force may have been
// missed, so then the map is loaded too.
func (f *switchFeed) got(v *resp.Value) error {
	if err := v.Err(); err != nil {
		return err
	}
	if len(v.Elems) < 3 {
		return nil // PONG
	}
	switch textOf(&v.Elems[0]) {
	case "subscribe":
		f.confirmed = true
		f.load = f.core.loader.start()
	case "message":
		if wanted := f.switched(textOf(&v.Elems[2])); wanted != "" {
			f.wanted, f.loads = wanted, 0
			f.load = f.core.loader.start()
		}
	}
	return nil
}

// switched reads "name host port host port", the old address and the new one, and gives
// the latter; "": it is about another primary.
func (f *switchFeed) switched(text string) string {
	words := strings.Fields(text)
	if len(words) != 5 || words[0] != f.core.opt.SentinelName {
		return ""
	}
	return f.core.announced(words[3], words[4], f.addr)
}

// check loads the map again when it does not name the new primary: the loading that
// ended may have begun before the switch, or asked a Sentinel that was behind.
func (f *switchFeed) check() {
	f.load = nil
	if f.wanted == "" {
		return
	}
	if f.core.top.Load().nodes[f.wanted] != nil || f.loads == switchLoadsMax {
		f.wanted = ""
		return
	}
	f.loads++
	f.load = f.core.loader.start()
}
