package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startStatic runs three servers by a cluster map as `bowline dev` writes it.
func startStatic(t *testing.T) (mapFile string, nodes []*process, addrs []string) {
	t.Helper()
	for range 5 {
		dir := t.TempDir()
		dev, addrs := startDev(t, "--dir", dir)
		dev.stop(t)
		mapFile := filepath.Join(dir, "cluster.map")
		nodes := nodes[:0]
		for _, addr := range addrs {
			if p, ok := startMember(t, mapFile, addr); ok {
				nodes = append(nodes, p)
			}
		}
		if len(nodes) == len(addrs) {
			return mapFile, nodes, addrs
		}
	}
	t.Fatal("the static cluster does not start")
	return "", nil, nil
}

// startMember runs a server of the map; false when its port is taken.
func startMember(t *testing.T, mapFile, addr string) (*process, bool) {
	t.Helper()
	p := start(t, nil, "server", "--bind", "127.0.0.1", "--port", portOf(t, addr), "--cluster-enabled", "yes", "--cluster-map", mapFile)
	if _, ok := p.waitFor(t, ready); ok {
		return p, true
	}
	if text, _ := p.out.get(); !inUse.MatchString(text) {
		t.Fatalf("server ended:\n%s", text)
	}
	return nil, false
}

func TestStaticClusterSurvivesTheRestartOfANode(t *testing.T) {
	mapFile, nodes, addrs := startStatic(t)
	ctx := deadline(t)
	c := goRedisCluster(t, addrs)
	for i := range 300 {
		if err := c.Set(ctx, fmt.Sprint("k", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	sizes := func() (sizes []int64) {
		for _, addr := range addrs {
			node := redis.NewClient(&redis.Options{Addr: addr})
			n, err := node.DBSize(ctx).Result()
			node.Close()
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, n)
		}
		return sizes
	}
	before := sizes()
	check := mustRun(t, "redis-cli", "--cluster", "check", addrs[2])
	if !strings.Contains(check, "[OK] All 16384 slots covered.") {
		t.Errorf("--cluster check:\n%s", check)
	}
	nodes[1].stop(t)
	again, ok := startMember(t, mapFile, addrs[1])
	if !ok {
		t.Skip("somebody took the port meanwhile")
	}
	nodes[1] = again
	// Data is in memory only: that of the node which ended is gone, no other's.
	if after := sizes(); after[0] != before[0] || after[1] != 0 || after[2] != before[2] {
		t.Errorf("keys per node: %d before, %d after the restart of the second", before, after)
	}
	for i := range 300 {
		if err := c.Set(ctx, fmt.Sprint("k", i), i, 0).Err(); err != nil {
			t.Fatalf("after the restart: %v", err)
		}
	}
	if after := sizes(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("keys per node: %d, then %d", before, after)
	}
	for _, p := range nodes {
		p.stop(t)
	}
}

func TestOtherNodesServeWhileOneIsDown(t *testing.T) {
	_, nodes, addrs := startStatic(t)
	nodes[0].stop(t)
	ctx, cancel := context.WithTimeout(deadline(t), 20*time.Second)
	defer cancel()
	c := goRedisCluster(t, addrs[1:])
	for _, key := range []string{"foo", "hello"} { // slots 12182 and 866
		err := c.Set(ctx, key, 1, 0).Err()
		if down := key == "hello"; down == (err == nil) {
			t.Errorf("set %s with the first node down: %v", key, err)
		}
	}
}

func TestBadClusterMapsEndTheStart(t *testing.T) {
	dir := t.TempDir()
	dev, addrs := startDev(t, "--dir", dir)
	dev.stop(t)
	good, err := os.ReadFile(filepath.Join(dir, "cluster.map"))
	if err != nil {
		t.Fatal(err)
	}
	bad := write(t, "bad.map", strings.Replace(string(good), "primary", "boss", 1))
	for _, test := range []struct {
		port, file, want string
	}{
		{portOf(t, addrs[0]), bad, `line 3: unknown word "boss"`},
		{"1", filepath.Join(dir, "cluster.map"), "no member has an address of this machine and port 1"},
		{portOf(t, addrs[0]), "", "cluster-map names no file"},
	} {
		p := start(t, nil, "server", "--bind", "127.0.0.1", "--port", test.port, "--cluster-enabled", "yes", "--cluster-map", test.file)
		code := p.wait(t)
		text, _ := p.out.get()
		if code != 1 || !strings.Contains(text, test.want) {
			t.Errorf("exit code %d, output %q, want %q", code, text, test.want)
		}
	}
}
