package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

func TestSettingsThatCanNotBeKeptEndTheStart(t *testing.T) {
	for _, test := range []struct {
		settings []string
		refused  string
	}{
		{[]string{"replicaof", "127.0.0.1 6379"}, `replicaof "127.0.0.1 6379" can't be kept: there is no replication yet`},
		{[]string{"slaveof", "db 1"}, `replicaof "db 1" can't be kept`},
		{[]string{"replicaof", "no one"}, ""},
		{[]string{"min-replicas-to-write", "1"}, `min-replicas-to-write "1" can't be kept`},
		{[]string{"min-slaves-to-write", "2"}, `min-replicas-to-write "2" can't be kept`},
		{[]string{"min-replicas-to-write", "1", "min-replicas-max-lag", "0"}, ""}, // which turns it off
		{[]string{"min-replicas-max-lag", "5"}, ""},
	} {
		n, err := startFiles(t, vfs.Mem(), test.settings...)
		if n != nil {
			stop(t, n)
		}
		var hinted interface{ Hint() string }
		switch {
		case test.refused == "" && err != nil:
			t.Errorf("%q: %v", test.settings, err)
		case test.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), test.refused) || !errors.As(err, &hinted)):
			t.Errorf("%q: got %v, want %s", test.settings, err, test.refused)
		}
	}
}

func TestReplicasAreNotWaitedForAtRunTimeEither(t *testing.T) {
	n, err := startFiles(t, vfs.Mem())
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	c := dial(t, n)
	expect(t, c, `ERR CONFIG SET failed (possibly related to argument 'min-replicas-to-write') - min-replicas-to-write "1" can't be kept: there is no replication yet`,
		"CONFIG", "SET", "min-replicas-to-write", "1")
	expect(t, c, "[min-replicas-to-write 0]", "CONFIG", "GET", "min-replicas-to-write")
	expect(t, c, "OK", "CONFIG", "SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "0")
	expect(t, c, `ERR CONFIG SET failed (possibly related to argument 'min-replicas-max-lag') - min-replicas-to-write "1" can't be kept: there is no replication yet`,
		"CONFIG", "SET", "min-replicas-max-lag", "10")
}
