package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
)

// place is where a node stands: alone, or in a cluster.
type place struct {
	cluster *topology.Map // nil: alone
	id      topology.NodeID
	shards  int
}

// errMapNeeded is for a cluster node that does not know its cluster.
var errMapNeeded = errors.New("cluster-enabled is yes, but cluster-map names no file with the cluster map")

// errMapDenied is for a node that has a map and is told to be alone.
var errMapDenied = errors.New("cluster-enabled is no, but cluster-map names a cluster map")

// findPlace reads the cluster map, if there is one, and finds this node in it.
func findPlace(o Options) (place, error) {
	p := place{cluster: o.Map, id: o.NodeID, shards: 1}
	if p.cluster == nil {
		path := o.Config.String(config.ClusterMap)
		switch {
		case path == "" && o.Config.Bool(config.ClusterEnabled):
			return p, errMapNeeded
		case path == "":
			return p, nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return p, fmt.Errorf("read cluster map: %w", err)
		}
		if p.cluster, err = topology.Parse(text); err != nil {
			return p, fmt.Errorf("cluster map %s: %w", path, err)
		}
		if p.id, err = identify(o.Config, p.cluster); err != nil {
			return p, fmt.Errorf("cluster map %s: %w", path, err)
		}
	}
	if o.Config.Origin(config.ClusterEnabled) != "default" && !o.Config.Bool(config.ClusterEnabled) {
		return p, errMapDenied
	}
	if err := o.Config.Load(config.ClusterEnabled.Name, []string{"yes"}, config.ClusterMap.Name); err != nil { // for CONFIG GET
		return p, err
	}
	_, group, ok := p.cluster.Member(p.id)
	if !ok {
		return p, fmt.Errorf("%s is not in the cluster map", p.id)
	}
	p.shards = max(group.Shards(), 1)
	if p.shards > shard.ShardsMax {
		return p, fmt.Errorf("group %s has %d shards, a node can have at most %d", group.Name, p.shards, shard.ShardsMax)
	}
	return p, nil
}

// identify gives this node's id: the setting node-id, or that of the one member
// with this node's port and an address of this machine.
func identify(cfg *config.Config, m *topology.Map) (topology.NodeID, error) {
	if id := topology.NodeID(strings.ToLower(cfg.String(config.NodeID))); id != "" {
		if _, _, ok := m.Member(id); !ok {
			return "", fmt.Errorf("there is no member with this node's id %s", id)
		}
		return id, nil
	}
	port, tlsPort := int(cfg.Int(config.Port)), int(cfg.Int(config.TLSPort))
	local, err := localHosts()
	if err != nil {
		return "", err
	}
	var found topology.NodeID
	for _, member := range m.Members() {
		mine := member.Port == port && port != 0 || member.TLSPort == tlsPort && tlsPort != 0
		if !mine || !local[member.Host] {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("members %s and %s both could be this node (port %d): set node-id", found, member.ID, port)
		}
		found = member.ID
	}
	if found == "" {
		return "", fmt.Errorf("no member has an address of this machine and port %d: set node-id, or correct the map", port)
	}
	return found, nil
}

func localHosts() (map[string]bool, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list addresses of this machine: %w", err)
	}
	hosts := map[string]bool{"localhost": true}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			hosts[ip.IP.String()] = true
		}
	}
	if name, err := os.Hostname(); err == nil {
		hosts[name] = true
	}
	return hosts, nil
}
