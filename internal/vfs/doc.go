// Package vfs is where files come from: a small interface, [FS], and three
// makers of it.
//
//   - [OS]: the files of the operating system.
//   - [Mem]: a disk in memory, of which [MemFS.Crash] makes a copy as a power
//     loss would leave it.
//   - [Faults]: another file system that fails or stalls where a rule says so.
//
// What every FS promises about a power loss is what a journaling file system
// promises, and no more. Content and size of a file are safe after [File.Sync]; a
// page of 4 KiB that was written since may hold the new bytes, older ones, or zeros.
// A name that was made, changed or removed is safe after [FS.SyncDir] of its
// directory; before that the newest changes of a directory may be undone, the last
// one first.
//
// Names are paths of the operating system. Errors satisfy errors.Is with
// [io/fs.ErrNotExist] and its like; a full disk is told by [IsNoSpace].
package vfs
