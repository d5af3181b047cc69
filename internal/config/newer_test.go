package config

import (
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// newerElsewhere are defaults that newer servers have, and Bowline has not.
var newerElsewhere = map[string]string{
	"hide-user-data-from-log": "Redis and Valkey differ",
}

func TestNewerParametersAreThoseOfRedis8(t *testing.T) { newerParameters(t, redistest.Redis8) }

func TestNewerParametersAreThoseOfValkey8(t *testing.T) { newerParameters(t, redistest.Valkey8) }

// newerParameters looks at those that 7.0 does not have: they are there, and their
// defaults are the same.
func newerParameters(t *testing.T, server redistest.Newer) {
	old := live(t, redistest.Start(t).Dial(t))
	c, compared := New(), 0
	for name, want := range live(t, server.Start(t).Dial(t)) {
		if _, ok := old[name]; ok || strings.HasPrefix(name, "rdma-") { // a network that is not built in
			continue
		}
		compared++
		pairs := c.Get(name)
		switch {
		case len(pairs) == 0:
			t.Errorf("%s is missing", name)
		case pairs[0][1] != want && newerElsewhere[name] == "":
			t.Errorf("default of %s is %q, want %q", name, pairs[0][1], want)
		}
	}
	if compared < 10 {
		t.Errorf("only %d parameters were compared", compared)
	}
}
