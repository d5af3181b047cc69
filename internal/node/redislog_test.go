package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// TestALogOfRedisIsNotPassedOver: its data would seem to be gone.
func TestALogOfRedisIsNotPassedOver(t *testing.T) {
	for _, name := range []string{"appendonlydir", "appendonly.aof"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rc := redistest.Start(t, "--dir", dir, "--appendonly", "yes", "--save", "").Dial(t)
			expect(t, rc, "OK", "SET", "a", "1")
			path := filepath.Join(dir, name)
			if name == "appendonly.aof" { // as Redis before 7 has it
				err := errors.Join(os.RemoveAll(filepath.Join(dir, "appendonlydir")), os.WriteFile(path, nil, 0o600))
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := tryLogged(t, nil, nil, "dir", dir)
			var redisLog *redisLogError
			if !errors.As(err, &redisLog) || redisLog.path != path {
				t.Fatalf("the start gives %v", err)
			}
			expect(t, rc, "OK", "SAVE")
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			n := startLogged(t, nil, nil, "dir", dir)
			expect(t, dial(t, n), "1", "GET", "a")
			stop(t, n)
			stop(t, startLogged(t, nil, nil, "dir", dir))
		})
	}
}
