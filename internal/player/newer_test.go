package player

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// newerPair starts Bowline and a server that is newer than Debian's, with the same
// settings, and connects to both in a protocol version.
func newerPair(t *testing.T, server redistest.Newer, proto int, settings ...string) Pair {
	t.Helper()
	p := pairWith(t, server.Start, proto, settings...)
	p.Newer = true
	return p
}

// TestNewerScriptsAnswerAsRedis8 plays the files of testdata/newer that begin with
// the name of a server.
func TestNewerScriptsAnswerAsRedis8(t *testing.T) { playNewer(t, redistest.Redis8, "redis8") }

func playNewer(t *testing.T, server redistest.Newer, name string) {
	files, err := filepath.Glob("testdata/newer/" + name + "-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := readScript(t, file)
			forBothProtocols(t, func(t *testing.T, proto int) {
				newerPair(t, server, proto, s.settings...).playScript(t, s)
			})
		})
	}
}
