package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/topology"
)

func TestNodeFindsItsPlaceInTheMap(t *testing.T) {
	a, b, c := topology.NodeIDOf("a"), topology.NodeIDOf("b"), topology.NodeIDOf("c")
	file := filepath.Join(t.TempDir(), "cluster.map")
	text := fmt.Sprintf(`version 1
group g1 slots 0-8000@0,8001-9000@1
  member %s 127.0.0.1:7001 primary
  member %s localhost:7003 replica
group g2 slots 9001-16383
  member %s 192.0.2.7:7001 primary
  member %s 127.0.0.1:7003 replica
`, a, b, c, topology.NodeIDOf("d"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.map")
	if err := os.WriteFile(bad, []byte("version 1\ngroup g1 slots 0-99999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		settings []string
		id       topology.NodeID
		shards   int
		problem  string
	}{
		{"alone", nil, "", 1, ""},
		{"by its port and address", []string{"cluster-map", file, "port", "7001"}, a, 2, ""},
		{"by its id", []string{"cluster-map", file, "port", "9", "node-id", string(c)}, c, 1, ""},
		{"as a replica", []string{"cluster-map", file, "node-id", string(b)}, b, 2, ""},
		{"two could be it", []string{"cluster-map", file, "port", "7003"}, "", 0, "both could be this node (port 7003): set node-id"},
		{"none is it", []string{"cluster-map", file, "port", "7002"}, "", 0, "no member has an address of this machine and port 7002"},
		{"unknown id", []string{"cluster-map", file, "node-id", strings.Repeat("0", 40)}, "", 0, "no member with this node's id"},
		{"no map", []string{"cluster-enabled", "yes"}, "", 0, "cluster-map names no file"},
		{"no file", []string{"cluster-map", file + "x"}, "", 0, "no such file"},
		{"told to be alone", []string{"cluster-map", file, "port", "7001", "cluster-enabled", "no"}, "", 0, "cluster-enabled is no"},
		{"bad map", []string{"cluster-map", bad}, "", 0, "bad.map: line 2: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := settings(t, test.settings...)
			p, err := findPlace(Options{Config: cfg})
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("error %v, want %q", err, test.problem)
				}
				return
			}
			if cfg.Bool(config.ClusterEnabled) != (test.id != "") {
				t.Errorf("cluster-enabled is %s", cfg.String(config.ClusterEnabled))
			}
			if err != nil || p.id != test.id || p.shards != test.shards || (p.cluster != nil) != (test.id != "") {
				t.Errorf("id %q, %d shards, %v; want %q, %d", p.id, p.shards, err, test.id, test.shards)
			}
		})
	}
	if _, err := findPlace(Options{Config: settings(t, "cluster-enabled", "yes")}); !errors.Is(err, errMapNeeded) {
		t.Errorf("cluster without a map: %v", err)
	}
}

func TestTooManyShardsAreRefused(t *testing.T) {
	m, err := topology.Even([]topology.Member{{ID: topology.NodeIDOf("a"), Host: "127.0.0.1", Port: 1}}, 256)
	if err != nil {
		t.Fatal(err)
	}
	_, err = findPlace(Options{Config: settings(t), Map: m, NodeID: topology.NodeIDOf("a")})
	if err == nil || !strings.Contains(err.Error(), "has 256 shards, a node can have at most") {
		t.Errorf("error %v", err)
	}
	if _, err = findPlace(Options{Config: settings(t), Map: m, NodeID: topology.NodeIDOf("b")}); err == nil {
		t.Error("a node that is not in the map was accepted")
	}
}
