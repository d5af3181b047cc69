package shard

// Cause says why a key changed.
type Cause uint8

// The causes.
const (
	// CauseCommand: a command wrote or deleted the key.
	CauseCommand Cause = iota
	// CauseExpired: its time was over.
	CauseExpired
	// CauseEvicted: memory was short.
	CauseEvicted
	// CauseFlushed: its whole database was emptied; the hook gets no key.
	CauseFlushed
	// CauseSwapped: its whole database was exchanged for another; the hook gets no
	// key. See [SwapHooks].
	CauseSwapped
)

// NotifyClass is a class of keyspace notifications, one bit each, in the order
// in which `notify-keyspace-events` prints their letters.
type NotifyClass uint32

// The classes that are emitted.
const (
	NotifyGeneric NotifyClass = 1 << iota // g
	NotifyString                          // $
	NotifyList                            // l
	NotifySet                             // s
	NotifyHash                            // h
	NotifyZSet                            // z
	NotifyExpired                         // x
	NotifyEvicted                         // e
	NotifyNew                             // n
	NotifyKeyMiss                         // m
)

// Hooks is told of every change. Its methods run under the locks of the stripes
// concerned: they must be short, must not block, and must copy what they keep.
type Hooks interface {
	// Touched is called for each change of a key, whatever its cause. key is nil
	// when all keys of the database are meant.
	Touched(db int, key []byte, cause Cause)
	// Notify is called for each event that a keyspace notification may report.
	Notify(db int, class NotifyClass, event string, key []byte)
}

// noHooks serves a space that nobody watches.
type noHooks struct{}

func (noHooks) Touched(int, []byte, Cause)              {}
func (noHooks) Notify(int, NotifyClass, string, []byte) {}
