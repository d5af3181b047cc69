package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// part is a process of this binary, which is given orders and gives results, one line
// of JSON each. It ends when its orders end.
type part struct {
	cmd *exec.Cmd
	in  io.Closer
	enc *json.Encoder
	dec *json.Decoder
}

// stopTimeout bounds the wait for the output of a part that was killed.
const stopTimeout = 5 * time.Second

// startPart starts a part. The caller closes it; when ctx ends it is killed.
func startPart(ctx context.Context, argument string) (*part, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, argument)
	cmd.Stderr, cmd.WaitDelay = os.Stderr, stopTimeout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a part: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a part: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a part: %w", err)
	}
	return &part{cmd: cmd, in: in, enc: json.NewEncoder(in), dec: json.NewDecoder(out)}, nil
}

func (p *part) send(order any) error {
	if err := p.enc.Encode(order); err != nil {
		return fmt.Errorf("send an order: %w", err)
	}
	return nil
}

func (p *part) receive(result any) error {
	if err := p.dec.Decode(result); err != nil {
		return fmt.Errorf("wait for a result: %w", err)
	}
	return nil
}

// close ends the process. What it still has to say is of no interest.
func (p *part) close() {
	p.in.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
