package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/devcluster"
)

// TestBowlineCluster runs every kind of call against three nodes of Bowline.
func TestBowlineCluster(t *testing.T) {
	cluster, err := devcluster.Start(devcluster.Options{Nodes: 3, Shards: 2, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := cluster.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	c, err := Open(ctx, Options{Addrs: []string{cluster.Nodes[1].Addrs()[0].String()}, RequireCluster: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	const keys = 300
	p := c.Pipeline()
	var names []string
	for i := range keys {
		names = append(names, fmt.Sprint("key:", i))
		p.Do("SET", names[i], i)
	}
	if _, err := p.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Do(ctx, "MGET", names).Ints(); err != nil || len(list) != keys || list[17] != 17 {
		t.Errorf("MGET: %v, %v", list, err)
	}
	if n, err := c.DBSize(ctx); n != keys || err != nil {
		t.Errorf("DBSIZE over all nodes: %d, %v", n, err)
	}
	seen := map[string]bool{}
	for key, err := range c.Scan(ctx, ScanOptions{Match: "key:*", Count: 50}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[key] = true
	}
	if len(seen) != keys {
		t.Errorf("a scan saw %d keys of %d", len(seen), keys)
	}
	if n, err := c.Del(ctx, names...); n != keys || err != nil {
		t.Errorf("DEL: %d, %v", n, err)
	}
	bowlineTransactions(t, c)
	bowlineSubscriptions(t, c)
	bowlineBlocking(t, c)
	if s := c.Stats(); s.Moved != 0 || s.Drops != 0 || s.Failures != 0 {
		t.Errorf("not every command went straight to its node: %+v", s)
	}
}

func bowlineTransactions(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	err := c.Watch(ctx, func(conn *Conn) error {
		if err := c.Set(ctx, "{tx}a", "changed"); err != nil {
			return err
		}
		tx := conn.Tx()
		tx.Do("SET", "{tx}b", 1)
		_, err := tx.Exec(ctx)
		return err
	}, "{tx}a")
	if !errors.Is(err, ErrAborted) {
		t.Errorf("a watched key changed: %v", err)
	}
	tx := c.Tx()
	tx.Do("INCR", "{tx}n")
	tx.Do("LPUSH", "{tx}n", "x")
	tx.Do("INCR", "{tx}n")
	replies, err := tx.Exec(ctx)
	if err == nil || len(replies) != 3 || replies[1].Err() == nil {
		t.Fatalf("the second command fails alone: %v, %v", replies, err)
	}
	if n, err := replies[2].Int(); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func bowlineSubscriptions(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	plain, err := c.Subscribe(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	sharded, err := c.SSubscribe(ctx, "s1", "s2", "s3", "s4")
	if err != nil {
		t.Fatal(err)
	}
	defer sharded.Close()
	for _, name := range []string{"s1", "s2", "s3", "s4"} {
		if n, err := c.SPublish(ctx, name, "to "+name); n != 1 || err != nil {
			t.Errorf("SPUBLISH %s: %d, %v", name, n, err)
		}
	}
	var got []string
	for range 4 {
		got = append(got, receive(t, sharded).Payload)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"to s1", "to s2", "to s3", "to s4"}) {
		t.Errorf("got %q", got)
	}
}

func bowlineBlocking(t *testing.T, c *Client) {
	t.Helper()
	got := make(chan []string, 1)
	go func() {
		list, err := c.BLPop(context.Background(), []string{"queue"}, 20)
		if err != nil {
			t.Error(err)
		}
		got <- list
	}()
	if _, err := c.RPush(t.Context(), "queue", "job"); err != nil {
		t.Fatal(err)
	}
	if list := <-got; !slices.Equal(list, []string{"queue", "job"}) {
		t.Errorf("got %q", list)
	}
}
