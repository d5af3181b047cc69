package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// StartSentinel runs a Redis Sentinel that alone decides about one primary, known to it
// by name, and waits until it answers. The process ends with the test.
func StartSentinel(tb testing.TB, name, primary string) *Server {
	tb.Helper()
	host, port, err := net.SplitHostPort(primary)
	if err != nil {
		tb.Fatal(err)
	}
	return launch(tb, debian(tb), func(s *Server, own, dir string) []string {
		file := filepath.Join(dir, "sentinel.conf") // it keeps its state in there
		text := fmt.Sprintf("port %s\nbind 127.0.0.1\nunixsocket %s\ndir %s\nloglevel warning\n", own, s.Socket, dir) +
			fmt.Sprintf("sentinel monitor %s %s %s 1\nsentinel failover-timeout %[1]s 5000\n", name, host, port)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		return []string{file, "--sentinel"}
	})
}
