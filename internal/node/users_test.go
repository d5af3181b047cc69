package node

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
)

// startFile starts a node with a configuration file.
func startFile(t *testing.T, path string) (*Node, error) {
	t.Helper()
	cfg := config.New()
	if err := cfg.LoadFile(path, os.ReadFile); err != nil {
		t.Fatal(err)
	}
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Start(Options{Config: cfg, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Listeners: listeners, ConfigFile: path})
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestUsersOutliveARestart: by CONFIG REWRITE in both kinds of configuration files,
// and by ACL SAVE.
func TestUsersOutliveARestart(t *testing.T) {
	for name, texts := range map[string][2]string{
		"redis.conf":   {"user ann on >pw ~a* +@read\nuser default on >sesame ~* &* +@all\n", ""},
		"bowline.toml": {"timeout = 0\nuser = [\n  'ann on >pw ~a* +@read',\n  'default on >sesame ~* &* +@all',\n]\n", ""},
		"acl.conf":     {"aclfile users.acl\n", "user ann on >pw ~a* +@read\nuser default on >sesame ~* &* +@all\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, users := filepath.Join(dir, name), filepath.Join(dir, "users.acl")
			save := []string{"CONFIG", "REWRITE"}
			if texts[1] != "" {
				writeFile(t, users, texts[1])
				save = []string{"ACL", "SAVE"}
			}
			writeFile(t, path, strings.ReplaceAll(texts[0], "users.acl", users))
			n, err := startFile(t, path)
			if err != nil {
				t.Fatal(err)
			}
			c := redistest.Dial(t, "tcp", n.Addrs()[0].String())
			expect(t, c, "NOAUTH Authentication required.", "PING")
			expect(t, c, "OK", "AUTH", "ann", "pw")
			expect(t, c, "NOPERM No permissions to access a key", "GET", "b")
			expect(t, c, "OK", "AUTH", "sesame")
			expect(t, c, "OK", "ACL", "SETUSER", "bob", "on", ">x", `~"quo\ted`, "(%R~c +get)", "+@all", "-@admin")
			expect(t, c, "1", "ACL", "DELUSER", "ann")
			want := fmt.Sprint(c.Do("ACL", "LIST"))
			expect(t, c, "OK", save...)
			c.Close()
			stop(t, n)
			if n, err = startFile(t, path); err != nil {
				t.Fatal(err)
			}
			defer stop(t, n)
			c = redistest.Dial(t, "tcp", n.Addrs()[0].String())
			expect(t, c, "OK", "AUTH", "sesame")
			expect(t, c, want, "ACL", "LIST")
		})
	}
}

func TestNodesDoNotStartWithBadUsers(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.acl"), filepath.Join(dir, "bad.acl")
	writeFile(t, good, "user ann on\n")
	writeFile(t, bad, "user ann on +nope\n")
	path := filepath.Join(dir, "redis.conf")
	for text, want := range map[string]string{
		"user ann on +nope\n":                      "redis.conf:1: user ann: Error in ACL SETUSER modifier '+nope': Unknown command or category name in ACL",
		"user ann (+get\n":                         "redis.conf:1: user ann: Unmatched parenthesis in acl selector starting at '(+get'.",
		"user \"a b\" on\n":                        `redis.conf:1: a user's name can't be "a b"`,
		"aclfile " + bad + "\n":                    "bad.acl:1: Unknown command or category name in ACL.",
		"aclfile " + dir + "/none\n":               "Error loading ACLs, opening file '" + dir + "/none'",
		"aclfile " + good + "\nuser ann on +get\n": "users are defined here and in the ACL file",
	} {
		writeFile(t, path, text)
		n, err := startFile(t, path)
		if err == nil {
			stop(t, n)
			t.Errorf("%q: started", text)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
