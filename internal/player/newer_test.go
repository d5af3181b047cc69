package player

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

const redis8Version = "8.0"

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

// newerFamilies are what is played against Redis 8.
var newerFamilies = []playedFamily{
	{
		group:    "hash",
		hidden:   true,
		read:     [][]string{{"HGETALL"}, {"HLEN"}, slices.Concat([]string{"HPEXPIRETIME", "FIELDS", strconv.Itoa(len(someFields))}, someFields)},
		settings: map[string][]string{"hash-max-listpack-entries": {"0", "2", "4", "512"}, "hash-max-listpack-value": {"0", "3", "64"}},
	},
	{
		group:  "set",
		hidden: true,
		read:   [][]string{{"SMEMBERS"}, {"SCARD"}},
		settings: map[string][]string{
			"set-max-intset-entries": {"0", "2", "4", "512"}, "set-max-listpack-entries": {"0", "2", "4", "128"}, "set-max-listpack-value": {"0", "3", "64"},
		},
	},
}

func TestNewerFamiliesAnswerAsRedis8(t *testing.T) {
	for _, f := range newerFamilies {
		t.Run(f.group, func(t *testing.T) {
			forBothProtocols(t, func(t *testing.T, proto int) {
				newerPair(t, redistest.Redis8, proto, "enable-debug-command", "yes").playFamily(t, &f, NewFamily(redis8Version, f.group))
			})
		})
	}
}

func TestNewerFamiliesNotifyAsRedis8(t *testing.T) {
	for _, f := range newerFamilies {
		t.Run(f.group, func(t *testing.T) {
			notifyAsRedis(t, NewFamily(redis8Version, f.group), func(t *testing.T, proto int, settings ...string) Pair {
				return newerPair(t, redistest.Redis8, proto, settings...)
			})
		})
	}
}

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
