package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// markPrefix begins the name of an empty file, the mark, that ends with the number of
// the newest segment that was made. So it is seen when that is gone. The mark is raised
// when the segment is safe, before it is used, and lowered before segments that are not
// needed go; so it is never ahead.
const markPrefix = "newest-"

func markName(dir string, generation uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%s%010d", markPrefix, generation))
}

// markOf is the generation that a name of a file tells; 0: it is no mark.
func markOf(name string) uint64 {
	number, ok := strings.CutPrefix(name, markPrefix)
	if !ok || len(number) != 10 {
		return 0
	}
	g, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0
	}
	return g
}

// mark sets the mark; generation 0 takes it away. The caller holds prepareMu. After an
// error other than [ErrDiskFull], which of the marks there is is unknown.
func (l *Log) mark(generation uint64) error {
	if generation == l.marked {
		return nil
	}
	name := markName(l.dir, generation)
	switch {
	case generation == 0:
		if err := l.fs.Remove(markName(l.dir, l.marked)); err != nil {
			return fmt.Errorf("remove the mark of the log: %w", err)
		}
	case l.marked == 0:
		f, err := l.fs.Create(name)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return fmt.Errorf("make the mark of the log: %w", orFull(err))
		}
	default:
		if err := l.fs.Rename(markName(l.dir, l.marked), name); err != nil {
			return fmt.Errorf("change the mark of the log: %w", orFull(err))
		}
	}
	if err := l.fs.SyncDir(l.dir); err != nil {
		return fmt.Errorf("change the mark of the log: %w", err)
	}
	l.marked = generation
	return nil
}
