package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// nodePrograms installs the clients that testdata/node names, once, beside the
// programs, and gives their folder. It is gone with the binary under test.
var nodePrograms = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "node")
	if err := os.CopyFS(dir, os.DirFS("testdata/node")); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// node runs a program of testdata/node.
func node(t *testing.T, script string, args ...string) {
	t.Helper()
	need(t, "node")
	need(t, "npm")
	dir, err := nodePrograms()
	if err != nil {
		missing(t, err)
	}
	t.Log(strings.TrimSpace(mustRun(t, "node", append([]string{filepath.Join(dir, script)}, args...)...)))
}

func TestNodePlainClients(t *testing.T) {
	_, addr := startServer(t, nil)
	for _, script := range []string{"ioredis-plain.mjs", "noderedis-plain.mjs"} {
		t.Run(script, func(t *testing.T) { node(t, script, portOf(t, addr)) })
	}
}

func TestNodeClusterClients(t *testing.T) {
	for _, script := range []string{"ioredis-cluster.mjs", "noderedis-cluster.mjs"} {
		t.Run(script, func(t *testing.T) {
			_, addrs := startDev(t)
			node(t, script, portOf(t, addrs[0]))
		})
	}
}
