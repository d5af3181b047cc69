package redisc_test

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

// The compiler checks here that everything which programs use of the package that this
// one replaces has the type that it had. Nothing may be taken from this list.
var (
	_ func(redis.Conn, ...string) error                               = redisc.BindConn
	_ func(redis.Conn) error                                          = redisc.ReadOnlyConn
	_ func(redis.Conn, int, time.Duration) (redis.Conn, error)        = redisc.RetryConn
	_ func(error) bool                                                = redisc.IsCrossSlot
	_ func(error) bool                                                = redisc.IsTryAgain
	_ func(error) *redisc.RedirError                                  = redisc.ParseRedir
	_ func(string) int                                                = redisc.Slot
	_ func(...string) [][]string                                      = redisc.SplitBySlot
	_ [16384]struct{}                                                 = [redisc.HashSlots]struct{}{}
	_ uint                                                            = uint(redisc.BgErrorSrc(0))
	_ []redisc.BgErrorSrc                                             = []redisc.BgErrorSrc{redisc.ClusterRefresh, redisc.RetryCloseConn}
	_ func(*redisc.Cluster) error                                     = (*redisc.Cluster).Close
	_ func(*redisc.Cluster) (redis.Conn, error)                       = (*redisc.Cluster).Dial
	_ func(*redisc.Cluster) redis.Conn                                = (*redisc.Cluster).Get
	_ func(*redisc.Cluster) error                                     = (*redisc.Cluster).Refresh
	_ func(*redisc.Cluster) map[string]redis.PoolStats                = (*redisc.Cluster).Stats
	_ func(*redisc.Conn, ...string) error                             = (*redisc.Conn).Bind
	_ func(*redisc.Conn) error                                        = (*redisc.Conn).ReadOnly
	_ func(*redisc.Conn) error                                        = (*redisc.Conn).Close
	_ func(*redisc.Conn) error                                        = (*redisc.Conn).Err
	_ func(*redisc.Conn) error                                        = (*redisc.Conn).Flush
	_ func(*redisc.Conn, string, ...interface{}) (interface{}, error) = (*redisc.Conn).Do
	_ func(*redisc.Conn, string, ...interface{}) error                = (*redisc.Conn).Send
	_ func(*redisc.Conn) (interface{}, error)                         = (*redisc.Conn).Receive
	_ func(*redisc.Conn, time.Duration) (interface{}, error)          = (*redisc.Conn).ReceiveWithTimeout
	_ error                                                           = (*redisc.RedirError)(nil)
	_ redis.ConnWithTimeout                                           = (*redisc.Conn)(nil)
	_ redis.ConnWithContext                                           = (*redisc.Conn)(nil)
	_ redisc.BgErrorSrc                                               = redisc.ClusterRefresh

	_ func(*redisc.Cluster, bool, func(string, redis.Conn) error) error = (*redisc.Cluster).EachNode

	_ func(*redisc.Conn, time.Duration, string, ...interface{}) (interface{}, error) = (*redisc.Conn).DoWithTimeout

	_ interface {
		Get() redis.Conn
		Close() error
	} = (*redisc.Cluster)(nil)
)

var _ = redisc.Cluster{
	StartupNodes:  []string(nil),
	DialOptions:   []redis.DialOption(nil),
	CreatePool:    (func(address string, options ...redis.DialOption) (*redis.Pool, error))(nil),
	PoolWaitTime:  time.Duration(0),
	BgError:       (func(src redisc.BgErrorSrc, err error))(nil),
	LayoutRefresh: (func(old, new [redisc.HashSlots][]string))(nil),
}

var _ = redisc.RedirError{Type: string(""), NewSlot: int(0), Addr: string("")}

// TestGetGivesConn: programs assert the concrete type.
func TestGetGivesConn(t *testing.T) {
	f := newFake(t)
	c := f.cluster()
	conn, ok := c.Get().(*redisc.Conn)
	if !ok || conn.Bind("my-key") != nil {
		t.Errorf("Get gave %T", conn)
	}
	conn.Close()
	dialed, err := c.Dial()
	if _, ok := dialed.(*redisc.Conn); !ok || err != nil {
		t.Errorf("Dial gave %T, %v", dialed, err)
	}
}
