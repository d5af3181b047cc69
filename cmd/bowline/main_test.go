package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bowline": main})
}

// TestScripts runs testdata/script: the specification of the command line.
// Each script has free ports in $PORT and $OTHER, and two commands of ours:
// "answers <port>" waits until a server there answers PING, "exits <code> <arguments>"
// runs bowline, which has to end with that code.
func TestScripts(t *testing.T) {
	requireTools(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"PORT", "OTHER"} {
				port, err := freePort()
				if err != nil {
					return err
				}
				e.Setenv(name, fmt.Sprint(port))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"answers": answers, "exits": exits},
	})
}

// requireTools fails where scripts must not be skipped.
func requireTools(t *testing.T) {
	t.Helper()
	if os.Getenv("BOWLINE_REQUIRE_REDIS") == "" {
		return
	}
	for _, tool := range []string{"redis-cli", "redis-benchmark"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatal(err)
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers <port>")
	}
	const patience = 20 * time.Second
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = ping("127.0.0.1:" + args[0]); err == nil {
			return
		}
	}
	ts.Fatalf("port %s does not answer: %v", args[0], err)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits <code> <arguments of bowline>")
	}
	code := 0
	if err := ts.Exec("bowline", args[1:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("run bowline: %v", err)
		}
		code = ended.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func ping(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return err
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "+PONG\r\n" {
		return fmt.Errorf("reply %q: %w", line, err)
	}
	return nil
}

// quickStart gives the commands of README's quick start, "make build" aside.
func quickStart(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Quick start\n")
	if !found {
		t.Fatal("README.md has no section \"Quick start\"")
	}
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, found = strings.Cut(block, "```")
	if !found {
		t.Fatal("the quick start of README.md has no block of commands")
	}
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if lines[0] != "make build" {
		t.Errorf("the quick start begins with %q", lines[0])
	}
	return lines[1:]
}

// What the README tells people to type is what the script runs.
func TestQuickStartOfTheReadmeIsTested(t *testing.T) {
	script, err := os.ReadFile("testdata/script/quickstart.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var tested []string
	same := strings.NewReplacer("$PORT", "7001", "&dev&", "&", "exec bowline ", "bin/bowline ", "exec ", "")
	for line := range strings.Lines(string(script)) {
		if strings.HasPrefix(line, "exec ") {
			tested = append(tested, same.Replace(strings.TrimSpace(line)))
		}
	}
	if told := quickStart(t); !slices.Equal(told, tested) {
		t.Errorf("README.md tells\n  %s\nthe script runs\n  %s", strings.Join(told, "\n  "), strings.Join(tested, "\n  "))
	}
}
