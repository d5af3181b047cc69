package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// part is this binary running as another process, which takes lines of JSON and
// answers with lines of JSON.
type part struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	orders  *json.Encoder
	results *json.Decoder
}

// startPart starts this binary with one argument and hands it its specification.
// The caller closes it.
func startPart(ctx context.Context, argument string, spec any) (*part, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, argument)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", argument, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", argument, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", argument, err)
	}
	p := &part{cmd: cmd, in: in, orders: json.NewEncoder(in), results: json.NewDecoder(out)}
	if err := p.orders.Encode(spec); err != nil {
		p.close()
		return nil, fmt.Errorf("start the %s: %w", argument, err)
	}
	return p, nil
}

// close ends the process, which ends with its input, and waits for it.
func (p *part) close() {
	p.in.Close()
	p.cmd.Wait()
}
