package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// cluster is a Redis Cluster on loopback: primaries, and as many replicas or none.
type cluster struct {
	dir     string
	servers []*server
}

// server is one redis-server, which may be killed and started again.
type server struct {
	port int
	dir  string
	id   string // in the cluster
	proc *process
	said bytes.Buffer
}

const (
	primaries    = 3
	startTimeout = 30 * time.Second
	pollPeriod   = 5 * time.Millisecond
	// nodeTimeout is after how long a node that is silent is held for dead, in
	// milliseconds.
	nodeTimeout = 1000
)

// startCluster starts the servers and returns when all of them agree on the map. The
// caller stops it.
func startCluster(ctx context.Context, withReplicas bool) (_ *cluster, err error) {
	dir, err := os.MkdirTemp("", "bowline-bench-client")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the servers: %w", err)
	}
	c := &cluster{dir: dir}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	n := primaries
	if withReplicas {
		n *= 2
	}
	for i := range n {
		s := &server{dir: filepath.Join(dir, strconv.Itoa(i))}
		if err := os.Mkdir(s.dir, 0o755); err != nil {
			return nil, fmt.Errorf("make a folder for a server: %w", err)
		}
		c.servers = append(c.servers, s)
		if err := s.startAnywhere(ctx); err != nil {
			return nil, err
		}
	}
	return c, c.join(ctx)
}

// stop kills all servers: they keep nothing.
func (c *cluster) stop() {
	for _, s := range c.servers {
		if s.proc != nil {
			s.proc.kill()
		}
	}
	os.RemoveAll(c.dir)
}

func (c *cluster) addrs() []string {
	var list []string
	for _, s := range c.servers {
		list = append(list, s.addr())
	}
	return list
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// startAnywhere starts a server on a port that is free, with its cluster port: another
// process may take one of them just before.
func (s *server) startAnywhere(ctx context.Context) error {
	var err error
	for range 5 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.start(ctx); err == nil {
			return nil
		}
	}
	return err
}

// freePort is a port whose cluster port, 10000 above, may be free too.
func freePort() (int, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port > 10000 && port <= 55535 {
			return port, nil
		}
	}
	return 0, errors.New("find a free port: none below 55536")
}

// start starts the server, again when it was killed, and waits until it answers.
func (s *server) start(ctx context.Context) error {
	port := strconv.Itoa(s.port)
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--loglevel", "warning", "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1",
		"--cluster-node-timeout", strconv.Itoa(nodeTimeout), "--repl-diskless-sync-delay", "0",
		"--cluster-replica-validity-factor", "0", "--repl-ping-replica-period", "1")
	s.said.Reset()
	cmd.Stdout, cmd.Stderr = &s.said, &s.said
	p, err := startProcess(cmd)
	if err != nil {
		return err
	}
	s.proc = p
	err = until(ctx, "an answer", func() bool {
		select {
		case <-p.exited:
			return true
		default:
		}
		_, err := s.ask("PING")
		return err == nil
	})
	select {
	case <-p.exited:
		s.proc = nil
		return fmt.Errorf("start redis-server: it ended and said:\n%s", s.said.Bytes())
	default:
	}
	return err
}

// kill is kill -9.
func (s *server) kill() {
	s.proc.kill()
	s.proc = nil
}

const askTimeout = 2 * time.Second

// ask sends one command on a new connection.
func (s *server) ask(command string, args ...any) (any, error) {
	c, err := redis.Dial("tcp", s.addr(), redis.DialConnectTimeout(askTimeout), redis.DialReadTimeout(askTimeout))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}

// until polls a condition until it holds.
func until(ctx context.Context, what string, holds func() bool) error {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for deadline := time.Now().Add(startTimeout); !holds(); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("timed out waiting for %s", what)
		}
	}
	return nil
}

// join makes a cluster of the servers.
func (c *cluster) join(ctx context.Context) error {
	for i, s := range c.servers {
		id, err := redis.String(s.ask("CLUSTER", "MYID"))
		if err != nil {
			return fmt.Errorf("ask a server for its name: %w", err)
		}
		s.id = id
		if i < primaries {
			if _, err := s.ask("CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
				return fmt.Errorf("make the cluster: %w", err)
			}
			if _, err := s.ask("CLUSTER", "ADDSLOTSRANGE", i*16384/primaries, (i+1)*16384/primaries-1); err != nil {
				return fmt.Errorf("make the cluster: %w", err)
			}
		}
		for _, other := range c.servers[:i] { // each with each: gossip alone takes seconds
			if _, err := s.ask("CLUSTER", "MEET", "127.0.0.1", other.port); err != nil {
				return fmt.Errorf("make the cluster: %w", err)
			}
		}
	}
	if err := until(ctx, "the nodes to meet", c.met); err != nil {
		return err
	}
	for i, s := range c.servers[primaries:] {
		if _, err := s.ask("CLUSTER", "REPLICATE", c.servers[i].id); err != nil {
			return fmt.Errorf("make a replica: %w", err)
		}
	}
	return until(ctx, "the cluster", c.complete)
}

func (c *cluster) met() bool {
	for _, s := range c.servers {
		text, _ := redis.String(s.ask("CLUSTER", "NODES"))
		if strings.Count(text, " connected") != len(c.servers) {
			return false
		}
	}
	return true
}

// complete reports whether all nodes know of all nodes, and all replicas have a copy.
func (c *cluster) complete() bool {
	for _, s := range c.servers {
		info, _ := redis.String(s.ask("CLUSTER", "INFO"))
		slots, _ := redis.Values(s.ask("CLUSTER", "SLOTS"))
		if !strings.Contains(info, "cluster_state:ok") || len(slots) != primaries {
			return false
		}
		for _, r := range slots {
			if len(r.([]any)) != 2+len(c.servers)/primaries {
				return false
			}
		}
		role, err := redis.Values(s.ask("ROLE"))
		if err != nil || len(role) == 0 {
			return false
		}
		if name, _ := redis.String(role[0], nil); name == "slave" {
			if state, _ := redis.String(role[3], nil); state != "connected" {
				return false
			}
		}
	}
	return true
}

// fill gives every key a value.
func (c *cluster) fill(ctx context.Context, keys, valueBytes int) error {
	t, err := openRedigo(ctx, c.addrs(), 1)
	if err != nil {
		return fmt.Errorf("fill the cluster: %w", err)
	}
	defer t.close()
	w, value := t.worker(ctx), strings.Repeat("x", valueBytes)
	batch := make([]string, 0, 1000)
	for i := range keys {
		batch = append(batch, keyName(i))
		if len(batch) == cap(batch) || i == keys-1 {
			if err := w.setMany(batch, value); err != nil {
				return fmt.Errorf("fill the cluster: %w", err)
			}
			batch = batch[:0]
		}
	}
	return nil
}
