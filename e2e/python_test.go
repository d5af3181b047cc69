package e2e

import (
	"os"
	"strings"
	"testing"
)

// debianPython is where Debian's python3-redis is installed.
const debianPython = "/usr/bin/python3"

func python(t *testing.T, script string, args ...string) {
	t.Helper()
	if _, err := os.Stat(debianPython); err != nil {
		missing(t, err)
	}
	version, err := run(debianPython, "-c", "import redis; print(redis.__version__)")
	if err != nil {
		missing(t, err)
	}
	out, err := run(debianPython, append([]string{"testdata/" + script}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("redis-py %s: %s", strings.TrimSpace(version), strings.TrimSpace(out))
}

func TestPythonClusterClient(t *testing.T) {
	_, addrs := startDev(t)
	python(t, "cluster.py", portOf(t, addrs[0]))
}

func TestPythonPlainClient(t *testing.T) {
	_, addr := startServer(t, nil)
	python(t, "plain.py", portOf(t, addr))
}
