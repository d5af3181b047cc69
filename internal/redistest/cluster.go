package redistest

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// Cluster is a Redis Cluster of three primaries, 0 to 2, and their replicas, 3 to 5. It
// ends with the test.
type Cluster struct {
	Servers []*Server
	// Conns are connections to them.
	Conns []*Conn
	// IDs are their node ids.
	IDs []string

	tb testing.TB
}

// StartCluster starts a cluster and waits until all nodes know of it.
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb}
	for range 6 {
		srv := Start(tb, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1",
			"--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
			"--repl-ping-replica-period", "1") // a replica is listed once it has got something
		c.Servers = append(c.Servers, srv)
		c.Conns = append(c.Conns, srv.Dial(tb))
		c.IDs = append(c.IDs, fmt.Sprint(c.Conns[len(c.Conns)-1].Do("CLUSTER", "MYID")))
	}
	c.form()
	return c
}

// form makes one cluster of the servers.
func (c *Cluster) form() {
	c.tb.Helper()
	for i, r := range [][2]string{{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}} {
		c.Want(i, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		c.Want(i, "CLUSTER", "ADDSLOTSRANGE", r[0], r[1])
	}
	for i := range 6 { // each with each: gossip alone would take seconds
		for _, other := range c.Servers[:i] {
			host, port, _ := net.SplitHostPort(other.Addr)
			c.Want(i, "CLUSTER", "MEET", host, port)
		}
	}
	c.Wait("the nodes to meet", func() bool {
		for _, conn := range c.Conns {
			if strings.Count(fmt.Sprint(conn.Do("CLUSTER", "NODES")), "connected") != 6 {
				return false
			}
		}
		return true
	})
	for i := range 3 {
		c.Want(i+3, "CLUSTER", "REPLICATE", c.IDs[i])
	}
	c.Wait("the cluster", func() bool {
		for _, conn := range c.Conns {
			if !strings.Contains(fmt.Sprint(conn.Do("CLUSTER", "INFO")), "cluster_state:ok") {
				return false
			}
		}
		ranges, _ := c.Conns[0].Do("CLUSTER", "SLOTS").([]any)
		for _, r := range ranges {
			if len(r.([]any)) != 4 {
				return false
			}
		}
		return len(ranges) == 3
	})
}

// Want sends a command to a node, which has to answer OK.
func (c *Cluster) Want(i int, args ...string) {
	c.tb.Helper()
	if r := c.Conns[i].Do(args...); r != Simple("OK") {
		c.tb.Fatalf("%v at node %d: %v", args, i, r)
	}
}

// Wait polls a condition until it holds, for 30 seconds.
func (c *Cluster) Wait(what string, holds func() bool) {
	c.tb.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.tb.Fatalf("timed out waiting for %s", what)
		}
	}
}

// Migrate moves a slot with its keys, as redis-cli does, and calls between after each
// key. It returns when all nodes know of it.
func (c *Cluster) Migrate(id, from, to int, between func()) {
	c.tb.Helper()
	at := fmt.Sprint(id)
	host, port, _ := net.SplitHostPort(c.Servers[to].Addr)
	c.Want(to, "CLUSTER", "SETSLOT", at, "IMPORTING", c.IDs[from])
	c.Want(from, "CLUSTER", "SETSLOT", at, "MIGRATING", c.IDs[to])
	for {
		keys, _ := c.Conns[from].Do("CLUSTER", "GETKEYSINSLOT", at, "1").([]any)
		if len(keys) == 0 {
			break
		}
		c.Conns[from].Do("MIGRATE", host, port, keys[0].(string), "0", "5000")
		between()
	}
	c.Want(to, "CLUSTER", "SETSLOT", at, "NODE", c.IDs[to])
	c.Want(from, "CLUSTER", "SETSLOT", at, "NODE", c.IDs[to])
	// Else the next move may be given the epoch of this one, and the claims of the two
	// nodes cross each other: the slot and its keys are lost then.
	c.Wait("the nodes to agree", c.Agree)
}

// Agree reports whether all nodes say the same of every slot. A replica that does not
// know of a move yet would claim the slot back when it is promoted.
func (c *Cluster) Agree() bool {
	said := map[string]bool{}
	for _, conn := range c.Conns {
		owners := ""
		ranges, _ := conn.Do("CLUSTER", "SLOTS").([]any)
		for _, r := range ranges {
			r := r.([]any)
			owners += fmt.Sprintln(r[0], r[1], r[2].([]any)[2])
		}
		said[owners] = true
	}
	return len(said) == 1
}
