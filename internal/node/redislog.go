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

// redisLogError is a log of Redis where a node would pass it over: it has newer data
// than a snapshot beside it, or all data.
type redisLogError struct {
	path  string
	start string // what the node was about to do
}

func (e *redisLogError) Error() string {
	return fmt.Sprintf("%s: %s is a log of Redis, which can't be read", e.start, e.path)
}

// Hint says how to start all the same.
func (e *redisLogError) Hint() string {
	return fmt.Sprintf("let Redis load it and SAVE, and then move %s away to start with the snapshot", e.path)
}

// noRedisLog refuses to begin a log beside one of Redis, where there is none of ours yet.
func (d *durable) noRedisLog() error {
	if wal.Exists(d.fs, d.dir()) {
		return nil
	}
	path, err := d.redisLog()
	if err != nil {
		return fmt.Errorf("look for a log of Redis: %w", err)
	}
	if path != "" {
		return &redisLogError{path, "begin a log"}
	}
	return nil
}

// redisLogUnread is for a node that keeps no log. Redis without appendonly passes a log over as
// well, so one beside a snapshot may be an old one, and a warning does. Without a snapshot all
// data would seem to be gone.
func (d *durable) redisLogUnread() error {
	path, err := d.redisLog()
	if err != nil {
		d.n.log.Warn("whether there is a log of Redis is not known", "error", err)
		return nil
	}
	if path == "" {
		return nil
	}
	snapshot := d.n.snapshots.path()
	file, err := d.fs.Open(snapshot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &redisLogError{path, "start without a snapshot"}
	case err == nil:
		file.Close()
	}
	d.n.log.Warn("a log of Redis is not read: it may have newer data than the snapshot", "path", path, "snapshot", snapshot)
	return nil
}

// redisLog finds a log of Redis; "": there is none.
func (d *durable) redisLog() (path string, err error) {
	names, err := d.fs.List(d.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".manifest") {
			return d.dir(), nil
		}
	}
	// Where it was before Redis 7.
	path = filepath.Join(d.n.cfg.String(config.Dir), d.n.cfg.String(config.AppendFilename))
	file, err := d.fs.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return path, file.Close()
}
