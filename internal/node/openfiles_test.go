package node

import "testing"

func TestANodeLeavesFilesToItself(t *testing.T) {
	for _, test := range []struct {
		loops, others int
		want          int64
	}{{1, 0, 32}, {2, 0, 32}, {4, 0, 32}, {8, 0, 40}, {2, 10, 48}} {
		if got := ownFiles(test.loops, test.others); got != test.want {
			t.Errorf("%d loops, %d other nodes: %d, want %d", test.loops, test.others, got, test.want)
		}
	}
}
