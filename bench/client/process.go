package main

import (
	"fmt"
	"os/exec"
	"syscall"
)

// process is one that this program started.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// startProcess starts a process that does not outlive this one. Ctrl-C reaches this
// program only, which then ends the others.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() { cmd.Wait(); close(p.exited) }()
	return p, nil
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}
