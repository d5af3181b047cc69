package wal

import (
	"errors"
	"fmt"
)

// ErrDiskFull says that there was no space for the next segment. What was appended
// stays in memory, up to Options.BufferBytes by the owner's good will, and a later
// commit tries again.
var ErrDiskFull = errors.New("no space for the log")

// ErrTrimmed says that the records asked for are in the log no more.
var ErrTrimmed = errors.New("the log does not reach back that far")

// ErrTruncated says that records which a [Cursor] has given were taken back since.
var ErrTruncated = errors.New("the log was cut back behind this reader")

// ErrClosed says that the log was closed.
var ErrClosed = errors.New("the log is closed")

// CorruptError is damage to what was safe on disk once. Use errors.As to ask for
// it.
type CorruptError struct {
	// File is the path of the segment.
	File string
	// Offset is where in it reading went wrong, in bytes.
	Offset int64
	// What is wrong there.
	What string
}

// Error says file, offset and what is wrong.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt log: %s at offset %d: %s", e.File, e.Offset, e.What)
}

// MissingError says that replay would have to begin before the log does.
type MissingError struct {
	// Shard is the shard that lacks records.
	Shard int
	// After is the last record that the caller has, Last the one before the first
	// that the log can give.
	After, Last Sequence
}

// Error names the records that are missing.
func (e *MissingError) Error() string {
	return fmt.Sprintf("records %d to %d of shard %d are missing: the log begins behind them", e.After+1, e.Last, e.Shard)
}
