package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// server is a process under measurement, which this program started.
type server struct {
	name    string
	address string
	pid     int
	stop    func()
}

// program says how to start a server.
type program struct {
	name   string
	binary string
	args   []string // {port} and {dir} are replaced
	dir    string   // where it keeps its files; "": in a folder that goes with it
	// patience is how long it may take to answer at first; 0: as long as usual.
	patience time.Duration
}

const (
	startTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
	pollPeriod   = 5 * time.Millisecond
)

func redisProgram(binary string) program {
	return program{name: "redis-server", binary: binary, args: []string{
		"--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "{dir}", "--daemonize", "no"}}
}

func bowlineProgram(binary string, extra []string) program {
	return program{name: "bowline", binary: binary, args: append([]string{
		"server", "--port", "{port}", "--bind", "127.0.0.1"}, extra...)}
}

// start runs a server and returns when it answers. The caller calls its stop.
func (p program) start(ctx context.Context) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, remove := p.dir, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "bowline-bench"); err != nil {
			return nil, fmt.Errorf("make a folder for %s: %w", p.name, err)
		}
		remove = func() { os.RemoveAll(dir) }
	}
	replace := strings.NewReplacer("{port}", strconv.Itoa(port), "{dir}", dir)
	args := make([]string, len(p.args))
	for i, a := range p.args {
		args[i] = replace.Replace(a)
	}
	cmd := exec.Command(p.binary, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &output, &output, dir
	// Ctrl-C reaches this program only, which then ends the server itself; if it
	// can't, because it was killed, the kernel does.
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}
	if err := cmd.Start(); err != nil {
		remove()
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	s := &server{name: p.name, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), pid: cmd.Process.Pid}
	s.stop = func() {
		end(cmd.Process, exited)
		remove()
	}
	if err := s.await(ctx, exited, cmp.Or(p.patience, startTimeout)); err != nil {
		s.stop()
		return nil, fmt.Errorf("start %s: %w; it said:\n%s", p.name, err, output.Bytes())
	}
	return s, nil
}

// end asks a process to stop, and insists when it does not.
func end(p *os.Process, exited <-chan struct{}) {
	p.Signal(unix.SIGTERM)
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-exited:
	case <-timer.C:
		p.Kill()
		<-exited
	}
}

func (s *server) await(ctx context.Context, exited <-chan struct{}, patience time.Duration) error {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-exited:
			return errors.New("it ended")
		case <-ticker.C:
		}
		if v, err := ask(s.address, "PING"); err == nil && !v.IsError() {
			return nil
		}
	}
	return errors.New("it does not answer")
}

// freePort is a port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// resident is the anonymous memory of a process that is in RAM, in bytes: heap,
// stacks and mapped memory, without the program's own file.
func resident(pid int) (int64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("read a process's memory: %w", err)
	}
	return residentIn(string(status))
}

func residentIn(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read a process's memory: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, errors.New("read a process's memory: no RssAnon")
}
