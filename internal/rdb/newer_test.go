package rdb

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

var rewrite = flag.Bool("rewrite", false, "write the files in testdata anew, with newer servers")

// timedValues are hashes with fields that expire, packed and not.
var timedValues = []someValue{
	{[][]string{{"HSET", "k", "f", "v", "g", "7"}, {"HPEXPIREAT", "k", "33177117420000", "FIELDS", "1", "f"}}, `hash: "f"="v"until:33177117420000 "g"="7"`},
	{[][]string{{"HSETEX", "k", "PXAT", "33177117430000", "FIELDS", "1", "f", "v"}, {"HSETEX", "k", "PXAT", "33177117420000", "FIELDS", "1", "g", "7"}},
		`hash: "f"="v"until:33177117430000 "g"="7"until:33177117420000`},
	{[][]string{{"HSET", "k", "f", "v"}, {"HPEXPIREAT", "k", "33177117420000", "FIELDS", "1", "f"}, {"HPERSIST", "k", "FIELDS", "1", "f"}}, `hash: "f"="v"`},
	{[][]string{{"HSET", "k", "f", strings.Repeat("v", 100), "g", "7"}, {"HPEXPIREAT", "k", "33177117420000", "FIELDS", "1", "g"}},
		`hash: "f"="` + strings.Repeat("v", 100) + `" "g"="7"until:33177117420000`},
	{[][]string{{"HSET", "k", "e", "1", "f", strings.Repeat("v", 100), "g", "7"}, {"HPEXPIREAT", "k", "70368744177663", "FIELDS", "1", "f"}, {"HPEXPIREAT", "k", "33177117420000", "FIELDS", "1", "g"}},
		`hash: "e"="1" "f"="` + strings.Repeat("v", 100) + `"until:70368744177663 "g"="7"until:33177117420000`},
	{[][]string{{"HSET", "k", "f", strings.Repeat("v", 100)}, {"HPEXPIREAT", "k", "33177117420000", "FIELDS", "1", "f"}, {"HPERSIST", "k", "FIELDS", "1", "f"}},
		`hash: "f"="` + strings.Repeat("v", 100) + `"`},
}

// newerFile is one in testdata, with the server that has written it.
type newerFile struct {
	name      string
	server    redistest.Newer
	by        [2]string // the field that says so, and its value
	args      []string
	databases int
	values    []someValue
}

var (
	asCluster  = []string{"--cluster-enabled", "yes"} // files tell of slots then
	newerFiles = []newerFile{
		{"redis-8.0", redistest.Redis8, [2]string{"redis-ver", "8.0."}, nil, 3, slices.Concat(someValues, timedValues)},
		{"redis-8.0-cluster", redistest.Redis8, [2]string{"redis-ver", "8.0."}, asCluster, 1, slices.Concat(someValues, timedValues)},
		{"valkey-8.1", redistest.Valkey8, [2]string{"valkey-ver", "8.1."}, nil, 3, someValues},
		{"valkey-8.1-cluster", redistest.Valkey8, [2]string{"valkey-ver", "8.1."}, asCluster, 1, someValues},
	}
)

func (f *newerFile) path() string { return filepath.Join("testdata", f.name+".rdb") }

func (f *newerFile) check(t *testing.T, content []byte) {
	t.Helper()
	if aux := checkFile(t, content, f.values, f.databases); !strings.HasPrefix(aux[f.by[0]], f.by[1]) {
		t.Errorf("fields are %v, want %q", aux, f.by)
	}
}

// TestFilesOfNewerServersAreRead needs no server: what they have written is kept.
func TestFilesOfNewerServersAreRead(t *testing.T) {
	for _, f := range newerFiles {
		t.Run(f.name, func(t *testing.T) {
			content, err := os.ReadFile(f.path())
			if err != nil {
				t.Fatal(err)
			}
			f.check(t, content)
		})
	}
}

// TestNewerServersWriteWhatIsRead lets the servers write the files again, and with
// -rewrite keeps them.
func TestNewerServersWriteWhatIsRead(t *testing.T) {
	for _, f := range newerFiles {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			c := f.server.Start(t, append([]string{"--dir", dir}, f.args...)...).Dial(t)
			if f.args != nil {
				c.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
				served(t, c)
			}
			fillKeys(c, f.values, f.databases)
			content := saved(t, c, dir)
			f.check(t, content)
			if *rewrite && !t.Failed() {
				if err := os.WriteFile(f.path(), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// served waits until a node of a cluster executes commands.
func served(t *testing.T, c *redistest.Conn) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); c.Do("GET", "any") != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the node does not serve")
		}
	}
}
