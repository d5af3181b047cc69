package redisc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
	"github.com/bowline-kv/bowline/internal/devcluster"
)

// start starts a cluster of three nodes for an example, and gives the address of one and
// what stops them. In a program the address is that of a node of your cluster.
func start() (addr string, stop func()) {
	nodes, err := devcluster.Start(devcluster.Options{Nodes: 3, Shards: 1, Version: "example", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	return nodes.Nodes[0].Addrs()[0].String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := nodes.Stop(ctx); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{
		StartupNodes: []string{addr},
		DialOptions:  []redis.DialOption{redis.DialConnectTimeout(5 * time.Second)},
		CreatePool: func(addr string, opts ...redis.DialOption) (*redis.Pool, error) {
			return &redis.Pool{
				MaxIdle:     5,
				MaxActive:   10,
				IdleTimeout: time.Minute,
				Dial:        func() (redis.Conn, error) { return redis.Dial("tcp", addr, opts...) },
			}, nil
		},
	}
	defer cluster.Close()
	if err := cluster.Refresh(); err != nil {
		log.Fatal(err)
	}

	conn := cluster.Get()
	defer conn.Close()
	if _, err := conn.Do("SET", "greeting", "hello"); err != nil {
		log.Fatal(err)
	}
	greeting, err := redis.String(conn.Do("GET", "greeting"))
	fmt.Println(greeting, err)
	// Output: hello <nil>
}

// A connection stays with the node of its first key. For keys of other slots take another
// one, or let RetryConn follow to their nodes.
func ExampleRetryConn() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}}
	defer cluster.Close()

	conn, err := redisc.RetryConn(cluster.Get(), 3, 100*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	for _, key := range []string{"a", "b", "c"} {
		if _, err := conn.Do("INCR", key); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(redis.Int(conn.Do("INCR", "a")))
	// Output: 2 <nil>
}

// A script names its keys late, so the connection is bound by them first.
func ExampleBindConn() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}}
	defer cluster.Close()
	if err := cluster.Refresh(); err != nil {
		log.Fatal(err)
	}

	conn := cluster.Get()
	defer conn.Close()
	if err := redisc.BindConn(conn, "{cart:7}items", "{cart:7}total"); err != nil {
		log.Fatal(err)
	}
	conn.Send("MULTI")
	conn.Send("RPUSH", "{cart:7}items", "book")
	conn.Send("INCRBY", "{cart:7}total", 12)
	fmt.Println(redis.Ints(conn.Do("EXEC")))
	// Output: [1 12] <nil>
}

func ExampleReadOnlyConn() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}}
	defer cluster.Close()
	if err := cluster.Refresh(); err != nil {
		log.Fatal(err)
	}

	conn := cluster.Get()
	defer conn.Close()
	if err := redisc.ReadOnlyConn(conn); err != nil { // to a replica, if the slot has one
		log.Fatal(err)
	}
	_, err := redis.String(conn.Do("GET", "nothing"))
	fmt.Println(errors.Is(err, redis.ErrNil))
	// Output: true
}

func ExampleSplitBySlot() {
	for _, keys := range redisc.SplitBySlot("foo", "bar", "{foo}1") {
		fmt.Println(redisc.Slot(keys[0]), keys)
	}
	// Output:
	// 5061 [bar]
	// 12182 [foo {foo}1]
}

func ExampleParseRedir() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}}
	defer cluster.Close()
	if err := cluster.Refresh(); err != nil {
		log.Fatal(err)
	}
	conn := cluster.Get()
	defer conn.Close()
	if err := redisc.BindConn(conn, "foo"); err != nil {
		log.Fatal(err)
	}
	_, err := conn.Do("GET", "bar")
	if re := redisc.ParseRedir(err); re != nil {
		fmt.Println(re.Type, re.NewSlot)
	}
	// Output: MOVED 5061
}

func ExampleCluster_EachNode() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}}
	defer cluster.Close()
	if err := cluster.Refresh(); err != nil {
		log.Fatal(err)
	}
	keys := 0
	err := cluster.EachNode(false, func(_ string, conn redis.Conn) error {
		n, err := redis.Int(conn.Do("DBSIZE"))
		keys += n
		return err
	})
	fmt.Println(keys, err)
	// Output: 0 <nil>
}

// With SpreadPipelines a connection that is not bound sends every command to the node of
// its keys, and splits what spans slots.
func ExampleCluster_spreadPipelines() {
	addr, stop := start()
	defer stop()
	cluster := &redisc.Cluster{StartupNodes: []string{addr}, SpreadPipelines: true}
	defer cluster.Close()
	conn := cluster.Get()
	defer conn.Close()
	conn.Send("SET", "foo", 1)
	conn.Send("SET", "bar", 2)
	conn.Send("MGET", "foo", "bar")
	if err := conn.Flush(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(redis.String(conn.Receive()))
	fmt.Println(redis.String(conn.Receive()))
	fmt.Println(redis.Ints(conn.Receive()))
	// Output:
	// OK <nil>
	// OK <nil>
	// [1 2] <nil>
}
