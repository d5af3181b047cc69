package redistest

import (
	"os"
	"testing"
)

// Newer is a server that is newer than Debian's, named by the environment variable
// that holds the path of its binary. scripts/newer-servers fetches them.
type Newer string

// The newer servers that behaviour is compared with.
const (
	Redis8  Newer = "BOWLINE_REDIS8"  // 8.0
	Valkey8 Newer = "BOWLINE_VALKEY8" // 8.1
)

// Start is [Start] with that server. Without the variable the test is skipped.
func (n Newer) Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	binary := os.Getenv(string(n))
	if binary == "" {
		tb.Skipf("%s does not name a server; make newer sets it", n)
	}
	return launch(tb, binary, plain(args))
}
