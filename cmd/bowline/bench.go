package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bowline-kv/bowline/cmd/bowline/loadgen"
)

// benchFlags are the flags of `bowline bench` that are not options of package loadgen yet.
type benchFlags struct {
	mix, distribution, size string
	json                    string
	tls                     benchTLS
	load                    loadgen.Options
}

// benchDuration is for how long it is measured when the flags say nothing.
const benchDuration = 10 * time.Second

func benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench",
		Short: "Put a cluster or a server under load, and measure it",
		Long: "Sends a mix of commands to a cluster, or to a single server, Bowline or Redis, and prints rates and latencies.\n" +
			"It writes to keys that begin with bench: and leaves them there. Ctrl-C ends it with the report.\n\n" +
			"Commands for --mix: " + strings.Join(loadgen.Commands(), ", "),
		Args: func(c *cobra.Command, args []string) error { return usage(cobra.NoArgs(c, args)) },
		RunE: func(c *cobra.Command, _ []string) error { return bench(c, &f) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	f.define(c.Flags())
	return c
}

func (f *benchFlags) define(flags *pflag.FlagSet) {
	o := &f.load
	flags.StringSliceVar(&o.Client.Addrs, "addrs", []string{"127.0.0.1:7001"}, "some nodes of the cluster, or the server")
	flags.StringVar(&f.mix, "mix", "get=80,set=20", "commands with their weights")
	flags.IntVar(&o.Keys, "keys", 100_000, "number of keys of each type")
	flags.StringVar(&f.distribution, "distribution", "uniform",
		"how often each key is used: uniform, sequential, zipf, zipf=1.2, or hot=10:90, where 10 % of the keys get 90 % of the commands")
	flags.StringVar(&f.size, "value-size", "100", "length of values in bytes, or a range such as 10-1000")
	flags.IntVar(&o.Pipeline, "pipeline", 1, "commands that are sent together")
	flags.IntVar(&o.Workers, "clients", 50, "goroutines that send; they share few connections, see --conns")
	flags.IntVar(&o.Client.ConnsPerNode, "conns", 2, "connections to each node")
	flags.Float64Var(&o.Rate, "rate", 0, "commands that are due a second, in total; latency then counts from when a command was due. 0: as fast as replies come")
	flags.DurationVar(&o.Duration, "duration", benchDuration, "for how long it is measured")
	flags.IntVar(&o.Requests, "requests", 0, "measure so many commands, instead of --duration")
	flags.DurationVar(&o.Warmup, "warmup", 0, "for how long commands are sent before it is measured")
	flags.BoolVar(&o.Fill, "fill", false, "set all string keys first")
	flags.Uint64Var(&o.Seed, "seed", 1, "determines the commands, keys and values")
	flags.StringVar(&f.json, "json", "", "write the result to this file as JSON; -: to the standard output, and the table to the standard error")
	flags.StringVar(&o.Client.Username, "user", "", "user to log in as")
	flags.StringVar(&o.Client.Password, "password", "", "password to log in with")
	f.tls.define(flags)
}

// options makes loadgen's options of the flags.
func (f *benchFlags) options(c *cobra.Command) (o loadgen.Options, err error) {
	o = f.load
	if o.Mix, err = loadgen.ParseMix(f.mix); err != nil {
		return o, fmt.Errorf("--mix: %w", err)
	}
	if o.Distribution, err = loadgen.ParseDistribution(f.distribution); err != nil {
		return o, fmt.Errorf("--distribution: %w", err)
	}
	if o.ValueSize, err = loadgen.ParseSize(f.size); err != nil {
		return o, fmt.Errorf("--value-size: %w", err)
	}
	if o.Client.ConnsPerNode < 1 {
		return o, fmt.Errorf("--conns %d: a number above 0 is needed", o.Client.ConnsPerNode)
	}
	if o.Client.Username != "" && o.Client.Password == "" {
		return o, errors.New("--user needs --password")
	}
	if c.Flags().Changed("requests") && !c.Flags().Changed("duration") {
		o.Duration = 0
	}
	if o.Client.TLS, err = f.tls.config(os.ReadFile); err != nil {
		return o, err
	}
	o.Client.Name = "bowline-bench"
	if w, ok := c.ErrOrStderr().(*os.File); ok && isTerminal(w) {
		o.Progress = w
	}
	return o, o.Check()
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

func bench(c *cobra.Command, f *benchFlags) error {
	o, err := f.options(c)
	if err != nil {
		return usage(err)
	}
	if err := checkWritable(f.json); err != nil {
		return usage(fmt.Errorf("--json: %w", err))
	}
	result, err := loadgen.Run(c.Context(), o)
	if err != nil {
		return err
	}
	table := c.OutOrStdout()
	if f.json == "-" {
		table = c.ErrOrStderr()
	}
	if err := result.WriteTable(table); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if err := writeJSON(c.OutOrStdout(), f.json, result); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if result.Total.Replies == 0 && !result.Interrupted {
		return errNothing
	}
	return nil
}

var errNothing = errors.New("no command succeeded")

// writeJSON writes the result to a file, "-": to w; "": nowhere.
func writeJSON(w io.Writer, path string, result *loadgen.Result) error {
	switch path {
	case "":
		return nil
	case "-":
		return result.WriteJSON(w)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(result.WriteJSON(file), file.Close())
}

// checkWritable sees before the load that its result can be written. What is in the file
// stays until then.
func checkWritable(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return file.Close()
}

// usage marks an error as one of the command line, for which the exit code is 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

type usageError struct{ error }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.error }

// ExitCode is that of the process.
func (e *usageError) ExitCode() int { return 2 }

// Hint says where the flags are explained.
func (e *usageError) Hint() string { return "bowline bench --help tells the flags" }
