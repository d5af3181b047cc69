package client

// SlotOf returns the slot of a command's keys, found as [Client.Do] finds them, for
// programs that route on their own; -1 when it has none. Keys in several slots are
// [ErrCrossSlot], also for commands that Do splits; [ErrNotShared] says that the command
// is for a connection of one's own. Arguments are as for [Client.Do].
func SlotOf(args ...any) (int, error) {
	q := newCall()
	defer q.release()
	switch err := q.encode(args); {
	case err != nil:
		return noSlot, err
	case q.spec.flags&flagOwn != 0:
		return noSlot, ErrNotShared
	case q.slot == crossSlot:
		return noSlot, ErrCrossSlot
	}
	return q.slot, nil
}
