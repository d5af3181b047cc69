package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"sync/atomic"

	"github.com/bowline-kv/bowline/client"
)

// open stands for client.Open with the addresses of a real cluster.
func open() *client.Client {
	c, err := client.Open(context.Background(), client.FakeCluster())
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func Example() {
	ctx := context.Background()
	c, err := client.Open(ctx, client.FakeCluster()) // client.Options{Addrs: []string{"10.0.0.1:6379"}}
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if err := c.Set(ctx, "greeting", "hello"); err != nil {
		log.Fatal(err)
	}
	text, err := c.Get(ctx, "greeting")
	fmt.Println(text, err)
	_, err = c.Get(ctx, "nothing")
	fmt.Println(errors.Is(err, client.ErrNil))
	// Output:
	// hello <nil>
	// true
}

// Any command goes through Do, whether the client has a method for it or not.
func ExampleClient_Do() {
	ctx, c := context.Background(), open()
	defer c.Close()
	n, err := c.Do(ctx, "INCR", "visits").Int()
	fmt.Println(n, err)
	// Output: 1 <nil>
}

// The keys of MGET may lie in several slots: the command is split and its replies are
// put together in the order of the keys.
func ExampleClient_MGet() {
	ctx, c := context.Background(), open()
	defer c.Close()
	if err := c.MSet(ctx, "foo", 1, "bar", 2); err != nil {
		log.Fatal(err)
	}
	values, err := c.MGet(ctx, "bar", "none", "foo")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*values[0], values[1] == nil, *values[2])
	// Output: 2 true 1
}

func ExamplePipeline() {
	ctx, c := context.Background(), open()
	defer c.Close()
	p := c.Pipeline()
	p.Do("SET", "a", 1)
	p.Do("INCR", "a")
	p.Do("GET", "none")
	replies, err := p.Exec(ctx)
	if err != nil {
		log.Fatal(err)
	}
	n, err := replies[1].Int()
	fmt.Println(n, err, replies[2].IsNull())
	// Output: 2 <nil> true
}

// A transaction's keys share a slot, here by the hash tag {user1}.
func ExampleTx() {
	ctx, c := context.Background(), open()
	defer c.Close()
	tx := c.Tx()
	tx.Do("SET", "{user1}.name", "Ada")
	tx.Do("INCR", "{user1}.changes")
	replies, err := tx.Exec(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(replies[1].Int())
	// Output: 1 <nil>
}

// An optimistic transaction: when somebody changes the key in between, nothing is
// written and it is tried again.
func ExampleClient_Watch() {
	ctx, c := context.Background(), open()
	defer c.Close()
	double := func(conn *client.Conn) error {
		n, err := conn.Do(ctx, "GET", "balance").Int()
		if err != nil {
			return err
		}
		tx := conn.Tx()
		tx.Do("SET", "balance", 2*n)
		_, err = tx.Exec(ctx)
		return err
	}
	if err := c.Set(ctx, "balance", 21); err != nil {
		log.Fatal(err)
	}
	err := c.Watch(ctx, double, "balance")
	for errors.Is(err, client.ErrAborted) {
		err = c.Watch(ctx, double, "balance")
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Get(ctx, "balance"))
	// Output: 42 <nil>
}

func ExampleScript() {
	ctx, c := context.Background(), open()
	defer c.Close()
	s := client.NewScript(`return KEYS[1] .. "=" .. ARGV[1]`)
	fmt.Println(s.Run(ctx, c, []string{"key"}, "value").Text())
	// Output: key=value <nil>
}

func ExampleClient_Subscribe() {
	ctx, c := context.Background(), open()
	defer c.Close()
	news, err := c.Subscribe(ctx, "news")
	if err != nil {
		log.Fatal(err)
	}
	defer news.Close()
	if _, err := c.Publish(ctx, "news", "it works"); err != nil {
		log.Fatal(err)
	}
	for m, err := range news.Messages(ctx) {
		switch {
		case err != nil:
			log.Fatal(err)
		case m.Gap:
			continue // messages may have been missed: look for oneself
		}
		fmt.Println(m.Channel, m.Payload)
		break
	}
	// Output: news it works
}

func ExampleClient_Scan() {
	ctx, c := context.Background(), open()
	defer c.Close()
	if err := c.MSet(ctx, "foo", 1, "bar", 2, "c", 3); err != nil {
		log.Fatal(err)
	}
	var keys []string
	for key, err := range c.Scan(ctx, client.ScanOptions{Count: 1000}) {
		if err != nil {
			log.Fatal(err)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	fmt.Println(keys)
	// Output: [bar c foo]
}

func ExampleClient_ForEachPrimary() {
	ctx, c := context.Background(), open()
	defer c.Close()
	if err := c.MSet(ctx, "foo", 1, "bar", 2, "c", 3); err != nil {
		log.Fatal(err)
	}
	var sum atomic.Int64
	err := c.ForEachPrimary(ctx, func(ctx context.Context, n *client.Node) error {
		size, err := n.Do(ctx, "DBSIZE").Int()
		sum.Add(size)
		return err
	})
	fmt.Println(sum.Load(), err)
	fmt.Println(c.DBSize(ctx)) // does the same
	// Output:
	// 3 <nil>
	// 3 <nil>
}

// Commands that only read may go to replicas, for some callers or for all.
func ExampleClient_WithRoute() {
	ctx, c := context.Background(), open()
	defer c.Close()
	relaxed := c.WithRoute(client.RoutePreferReplica)
	_, err := relaxed.Get(ctx, "key")
	fmt.Println(errors.Is(err, client.ErrNil))
	// Output: true
}

// A blocking command waits on a connection of its own and holds nobody up.
func ExampleClient_BLPop() {
	ctx, c := context.Background(), open()
	defer c.Close()
	job, err := c.BLPop(ctx, []string{"jobs"}, 5)
	fmt.Println(job, err)
	// Output: [jobs job 1] <nil>
}

// What became of a command that failed.
func ExampleError() {
	ctx, cancel := context.WithCancel(context.Background())
	c := open()
	defer c.Close()
	cancel()
	err := c.Set(ctx, "key", "value")
	switch {
	case errors.Is(err, client.ErrMaybeExecuted):
		fmt.Println("look whether it was")
	case err != nil:
		fmt.Println("not executed:", err)
	}
	// Output: not executed: SET (slot 12539): context canceled
}
