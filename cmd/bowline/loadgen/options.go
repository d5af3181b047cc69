package loadgen

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bowline-kv/bowline/client"
)

// Options say what load to make.
type Options struct {
	// Client says where the servers are and how to reach them.
	Client client.Options
	// Mix is what is sent.
	Mix Mix
	// Keys is the number of keys of each type, at least 1.
	Keys int
	// Distribution says how often each is used.
	Distribution Distribution
	// ValueSize is the length of values.
	ValueSize Size
	// Pipeline is how many commands a worker sends before it waits for their replies, 1
	// to [PipelineMax].
	Pipeline int
	// Workers is how many goroutines send commands, 1 to [WorkersMax].
	Workers int
	// Rate is how many commands are due a second, over all workers; 0: each worker sends
	// as soon as it has its replies.
	Rate float64
	// Duration is for how long it is measured. Exactly one of it and Requests is above 0.
	Duration time.Duration
	// Requests is how many commands are sent and measured.
	Requests int
	// Warmup is for how long commands are sent before those that are measured.
	Warmup time.Duration
	// Fill sets all string keys before anything else.
	Fill bool
	// Seed determines the commands and their arguments.
	Seed uint64
	// Progress gets a line each second; nil: nobody is there to read it.
	Progress io.Writer
}

const (
	// PipelineMax is the largest batch.
	PipelineMax = 10_000
	// WorkersMax is the largest number of workers.
	WorkersMax = 10_000
	// ConnsMax is the largest number of connections to a node.
	ConnsMax = 1000
	// keysMax keeps key numbers within 32 bits.
	keysMax = 1 << 31
	// underWayMax bounds the bytes of the values that may be under way at a time.
	underWayMax = 2 << 30
)

var (
	errEnd     = errors.New("exactly one of a duration and a number of requests is needed")
	errNoAddrs = errors.New("an address is needed")
)

// Check says what is wrong with the options, nil when nothing is.
func (o *Options) Check() error {
	between := func(name string, n, most int) error {
		if n < 1 || n > most {
			return fmt.Errorf("%s %d: a number between 1 and %d is needed", name, n, most)
		}
		return nil
	}
	if len(o.Client.Addrs) == 0 {
		return errNoAddrs
	}
	for _, err := range []error{
		between("keys", o.Keys, keysMax),
		between("pipeline", o.Pipeline, PipelineMax),
		between("clients", o.Workers, WorkersMax),
		between("conns", max(o.Client.ConnsPerNode, 1), ConnsMax),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case !(o.Rate >= 0 && o.Rate <= 1e9):
		return fmt.Errorf("rate %v: a number between 0 and 1e9 is needed", o.Rate)
	case o.Duration < 0 || o.Requests < 0 || (o.Duration > 0) == (o.Requests > 0):
		return errEnd
	case o.underWay() > underWayMax:
		return fmt.Errorf("values of %d bytes: up to %d MiB of them would be under way, and %d are allowed; take fewer clients or shorter batches",
			o.ValueSize.Max, o.underWay()>>20, underWayMax>>20)
	case o.Warmup < 0:
		return fmt.Errorf("warmup %v: it can't be negative", o.Warmup)
	}
	return nil
}

// underWay is how many bytes of values all workers may send or get at a time.
func (o *Options) underWay() int {
	n := o.Workers * o.Pipeline * o.ValueSize.Max
	for _, row := range o.Mix.rows {
		if row.name == "mget" || row.name == "mset" {
			return n * keysOfOne
		}
	}
	return n
}
