package client

import "testing"

func TestSlotOf(t *testing.T) {
	for _, c := range []struct {
		args []any
		slot int
		err  error
	}{
		{[]any{"GET", "foo"}, 12182, nil},
		{[]any{"eval", "return 1", 1, "{foo}x"}, 12182, nil},
		{[]any{"MGET", []string{"{foo}x", "foo"}}, 12182, nil},
		{[]any{"PING"}, -1, nil},
		{[]any{"NO.SUCH", "foo"}, -1, nil},
		{[]any{"MGET", "foo", "bar"}, -1, ErrCrossSlot},
		{[]any{"RENAME", "foo", "bar"}, -1, ErrCrossSlot},
		{[]any{"MULTI"}, -1, ErrNotShared},
		{[]any{"SUBSCRIBE", "foo"}, -1, ErrNotShared},
		{nil, -1, errNoCommand},
	} {
		if slot, err := SlotOf(c.args...); slot != c.slot || err != c.err {
			t.Errorf("%v: slot %d, %v; want %d, %v", c.args, slot, err, c.slot, c.err)
		}
	}
}
