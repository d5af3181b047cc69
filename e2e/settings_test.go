package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func configGet(t *testing.T, addr, name string) string {
	t.Helper()
	_, value, _ := strings.Cut(strings.TrimSpace(mustRun(t, "redis-cli", "-p", portOf(t, addr), "config", "get", name)), "\n")
	return value
}

func TestLaterSourcesOfSettingsWin(t *testing.T) {
	for name, text := range map[string]string{
		"bowline.toml": "maxclients = 111\ntimeout = 222\nhz = 33\nmaxmemory = \"64mb\"\n",
		"redis.conf":   "# as in Redis\nmaxclients 111\ntimeout 222\nhz 33\nmaxmemory 64mb\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, addr := startServer(t, []string{"BOWLINE_TIMEOUT=444", "BOWLINE_HZ=44"},
				"--config", write(t, name, text), "--hz", "55", "--dir", dir)
			for _, want := range [][2]string{
				{"maxclients", "111"}, {"timeout", "444"}, {"hz", "55"}, {"maxmemory", "67108864"}, {"dir", dir},
				{"port", portOf(t, addr)}, {"databases", "16"},
			} {
				if got := configGet(t, addr, want[0]); got != want[1] {
					t.Errorf("%s is %q, want %q", want[0], got, want[1])
				}
			}
		})
	}
}

func TestUnknownSettingsEndTheStartAndNameTheNearest(t *testing.T) {
	toml, conf := write(t, "a.toml", "port = 1\nmaxcleints = 5\n"), write(t, "a.conf", "port 1\n\nmaxcleints 5\n")
	tests := []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"toml", nil, []string{"--config", toml}, toml + `:2: unknown key "maxcleints", did you mean "maxclients"?`},
		{"conf", nil, []string{"--config", conf}, conf + `:3: unknown key "maxcleints", did you mean "maxclients"?`},
		{"environment", []string{"BOWLINE_MAXCLEINTS=5"}, nil, `BOWLINE_MAXCLEINTS: unknown key "BOWLINE_MAXCLEINTS", did you mean "BOWLINE_MAXCLIENTS"?`},
		{"flag", nil, []string{"--maxcleints", "5"}, "unknown flag: --maxcleints, did you mean --maxclients?"},
		{"value", nil, []string{"--maxclients", "many"}, "--maxclients: "},
		{"file", nil, []string{"--config", filepath.Join(t.TempDir(), "none")}, "no such file or directory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, test.env, append([]string{"server"}, test.args...)...)
			if code := p.wait(t); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			text, _ := p.out.get()
			if !strings.HasPrefix(text, "bowline: ") || !strings.Contains(text, test.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("output %q, want one line with %q", text, test.want)
			}
		})
	}
}

func TestTakenPortEndsTheStart(t *testing.T) {
	_, addr := startServer(t, nil)
	p := start(t, nil, "server", "--bind", "127.0.0.1", "--port", portOf(t, addr))
	code := p.wait(t)
	text, _ := p.out.get()
	if want := fmt.Sprintf("bowline: open port: listen tcp %s: bind: address already in use\n", addr); code != 1 || text != want {
		t.Errorf("exit code %d, output %q, want %q", code, text, want)
	}
}
