package acl

import "slices"

// Context is where something was refused.
type Context string

// The contexts, as ACL LOG has them.
const (
	TopLevel Context = "toplevel"
	InMulti  Context = "multi"
	InScript Context = "lua"
)

// Entry is a refusal, or several alike.
type Entry struct {
	// ID counts the entries since the start, from 0.
	ID uint64
	// Count is how many refusals this is.
	Count   uint64
	Reason  Denial
	Context Context
	// Object is the command, key or channel, or for a login AUTH or HELLO, and
	// Username who asked. Log.Add cuts both to objectMax bytes, and Client to clientMax.
	Object, Username string
	// Created and Updated are the unix times in milliseconds of the first and of the
	// last refusal.
	Created, Updated int64
	// Client is the line of CLIENT LIST of who asked last.
	Client string
}

const (
	objectMax = 1024
	clientMax = 4096
	// mergeMillis is how far apart refusals that are alike become one entry, and
	// mergeLook among how many of the newest entries one like it is looked for.
	mergeMillis = 60_000
	mergeLook   = 10
)

// Log is the list behind ACL LOG. The zero value is empty. It is guarded by its
// owner.
type Log struct {
	entries []*Entry // the newest last
	next    uint64
}

// Add records a refusal at e.Updated, and forgets the oldest ones beyond limit.
func (l *Log) Add(e Entry, limit int) {
	e.Object, e.Username, e.Client = clip(e.Object, objectMax), clip(e.Username, objectMax), clip(e.Client, clientMax)
	if old := l.take(&e); old != nil {
		old.Client, old.Updated = e.Client, e.Updated
		old.Count++
		l.entries = append(l.entries, old)
	} else {
		e.ID, e.Count, e.Created = l.next, 1, e.Updated
		l.next++
		l.entries = append(l.entries, &e)
	}
	if over := len(l.entries) - limit; over > 0 {
		l.entries = slices.Delete(l.entries, 0, over)
	}
}

// take removes and returns the entry that e is another case of; nil: there is none.
func (l *Log) take(e *Entry) *Entry {
	for i := len(l.entries) - 1; i >= 0 && i >= len(l.entries)-mergeLook; i-- {
		if old := l.entries[i]; old.like(e) {
			l.entries = slices.Delete(l.entries, i, i+1)
			return old
		}
	}
	return nil
}

func (e *Entry) like(other *Entry) bool {
	apart := e.Updated - other.Updated
	return e.Reason == other.Reason && e.Context == other.Context && e.Object == other.Object && e.Username == other.Username &&
		-mergeMillis <= apart && apart <= mergeMillis
}

// Newest gives up to n entries, the newest first.
func (l *Log) Newest(n int) []Entry {
	var out []Entry
	for i := len(l.entries) - 1; i >= 0 && len(out) < n; i-- {
		out = append(out, *l.entries[i])
	}
	return out
}

// Reset forgets all entries.
func (l *Log) Reset() { l.entries = nil }
