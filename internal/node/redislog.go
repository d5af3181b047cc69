package node

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/wal"
)

// redisLogError is a log of Redis where a node is to begin its own: it has newer data
// than a snapshot beside it, or all data.
type redisLogError struct{ path string }

func (e *redisLogError) Error() string {
	return fmt.Sprintf("begin a log: %s is a log of Redis, which can't be read", e.path)
}

// Hint says how to start all the same.
func (e *redisLogError) Hint() string {
	return fmt.Sprintf("let Redis load it and SAVE, and then move %s away to start with the snapshot", e.path)
}

// noRedisLog looks for a log of Redis where there is none of ours yet.
func (d *durable) noRedisLog() error {
	if wal.Exists(d.fs, d.dir()) {
		return nil
	}
	names, err := d.fs.List(d.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for a log of Redis: %w", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".manifest") {
			return &redisLogError{d.dir()}
		}
	}
	// Where it was before Redis 7.
	path := filepath.Join(d.n.cfg.String(config.Dir), d.n.cfg.String(config.AppendFilename))
	file, err := d.fs.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for a log of Redis: %w", err)
	}
	return errors.Join(&redisLogError{path}, file.Close())
}
