package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/topology"
)

// devMap is the file with the cluster map, in the folder of `bowline dev --dir`.
const devMap = "cluster.map"

// devData gives the settings by which each node keeps its data in a folder of its
// own. A folder that has the data of a cluster of another size is refused: keys would
// be on nodes that don't serve them.
func devData(dir string, nodes, shards int) (func(index int, cfg *config.Config) error, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder for the data: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the cluster map: %w", err)
	}
	path := filepath.Join(dir, devMap)
	switch text, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the cluster map: %w", err)
	default:
		if err := sameSize(text, nodes, shards); err != nil {
			return nil, fmt.Errorf("go on with the data in %s: %s: %w", dir, path, err)
		}
	}
	return func(index int, cfg *config.Config) error {
		for name, value := range map[string]string{"dir": filepath.Join(dir, "node"+strconv.Itoa(index+1)), "appendonly": "yes"} {
			if err := cfg.Load(name, []string{value}, "--dir"); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// sameSize says whether a map is that of a cluster of so many nodes and shards.
func sameSize(text []byte, nodes, shards int) error {
	m, err := topology.Parse(text)
	if err != nil {
		return err
	}
	for _, g := range m.Groups {
		if m.Len() != nodes || g.Shards() != shards {
			return fmt.Errorf("it is of %d nodes with %d shards each, not of %d with %d", m.Len(), g.Shards(), nodes, shards)
		}
	}
	return nil
}
