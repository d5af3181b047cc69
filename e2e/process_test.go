package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait; nothing is expected to need it.
const patience = 30 * time.Second

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "bowline-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "bowline")
		build := exec.Command("go", "build", "-o", binary, "./cmd/bowline")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// output collects what a process prints and lets others wait for it.
type output struct {
	mu   sync.Mutex
	text []byte
	more chan struct{} // closed and replaced with each write
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	close(o.more)
	o.more = make(chan struct{})
	return len(p), nil
}

func (o *output) get() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text), o.more
}

// process is a running bowline. It is killed with the test at the latest.
type process struct {
	cmd    *exec.Cmd
	out    *output
	exited chan struct{}
}

// start runs bowline with the environment's BOWLINE_ settings taken out and
// extra ones put in.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary, args...), out: &output{more: make(chan struct{})}, exited: make(chan struct{})}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "BOWLINE_") {
			p.cmd.Env = append(p.cmd.Env, e)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			text, _ := p.out.get()
			t.Logf("output of bowline %q:\n%s", args, text)
		}
	})
	return p
}

// waitFor gives the first match of pattern in the output; false when the
// process ended without.
func (p *process) waitFor(t *testing.T, pattern *regexp.Regexp) ([]string, bool) {
	t.Helper()
	timeout := time.After(patience)
	for {
		text, more := p.out.get()
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found, true
		}
		select {
		case <-more:
		case <-p.exited:
			text, _ := p.out.get()
			found := pattern.FindStringSubmatch(text)
			return found, found != nil
		case <-timeout:
			t.Fatalf("no %q in the output:\n%s", pattern, text)
		}
	}
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait gives the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatal("the process does not end")
		return 0
	}
}

// stop ends a process gracefully and checks that it says so.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

var (
	devNode  = regexp.MustCompile(`(?m)^\d+ +(127\.0\.0\.1:\d+) +(\S+|\d+ slots) +([0-9a-f]{40})$`)
	devReady = regexp.MustCompile(`Ctrl-C stops it`)
	ready    = regexp.MustCompile(`msg="ready to accept connections" address=(\S+)`)
	inUse    = regexp.MustCompile(`address already in use`)
)

// startDev runs `bowline dev` on free ports and gives the nodes' addresses.
func startDev(t *testing.T, args ...string) (*process, []string) {
	t.Helper()
	p := start(t, nil, append([]string{"dev", "--port", "0"}, args...)...)
	return p, p.devAddresses(t)
}

func (p *process) devAddresses(t *testing.T) []string {
	t.Helper()
	if _, ok := p.waitFor(t, devReady); !ok {
		t.Fatal("bowline dev ended")
	}
	text, _ := p.out.get()
	var addrs []string
	for _, found := range devNode.FindAllStringSubmatch(text, -1) {
		addrs = append(addrs, found[1])
	}
	return addrs
}

// startServer runs `bowline server` on a free port of loopback.
func startServer(t *testing.T, env []string, args ...string) (p *process, addr string) {
	t.Helper()
	for range 5 {
		port := strconv.Itoa(freePort(t))
		p = start(t, env, append([]string{"server", "--bind", "127.0.0.1", "--port", port}, args...)...)
		if found, ok := p.waitFor(t, ready); ok {
			return p, found[1]
		}
		text, _ := p.out.get()
		if !inUse.MatchString(text) { // else somebody took the port meanwhile
			break
		}
	}
	t.Fatal("bowline server ended")
	return nil, ""
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// need skips the test without a tool, or fails it where all are required.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		missing(t, err)
	}
}

func missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("BOWLINE_REQUIRE_REDIS") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// run runs another program to its end and gives what it printed; an exit code
// other than 0 is an error.
func run(tool string, args ...string) (string, error) { return runWith("", tool, args...) }

// runWith is run with something to read.
func runWith(stdin, tool string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &out
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s %q: %w\n%s", tool, args, errors.Join(err, ctx.Err()), out.String())
	}
	return out.String(), err
}

// mustRun is run for programs that have to succeed.
func mustRun(t *testing.T, tool string, args ...string) string {
	t.Helper()
	need(t, tool)
	out, err := run(tool, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
