package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	if part := partOf(os.Args); part != nil {
		exitOn(part(os.Stdin, os.Stdout))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	exitOn(err)
}

// partOf gives what this binary does when it was started as a part of another
// run, else nil.
func partOf(args []string) func(in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return nil
	}
	switch args[1] {
	case loadArgument:
		return loadMain
	case meterArgument:
		return meterMain
	}
	return nil
}

func exitOn(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// options are the flags.
type options struct {
	short, full bool
	json        string
	rows        string
	bowlineArgs string
	binary      string
	connections int
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.short, "short", false, "a few rows in about a minute; status 1 when a target is missed by more than a quarter, three times in a row")
	f.BoolVar(&o.full, "full", false, "more keys and rounds; takes memory for 10 million keys")
	f.StringVar(&o.json, "json", "", "also write everything into this `file`")
	f.StringVar(&o.rows, "rows", "", "measure only rows whose name matches this `regexp`, such as '^GET/p1/' or '^keys/'")
	f.StringVar(&o.bowlineArgs, "bowline", "", "more `arguments` for bowline server, such as '--network portable'")
	f.StringVar(&o.binary, "binary", "", "measure this `bowline` instead of building one")
	f.Float64Var(&tolerance, "tolerance", tolerance, "by what `share` of its target a row may miss it without a failure")
	f.IntVar(&o.connections, "connections", 50, "`number` of connections of the load")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.short && o.full:
		return o, errors.New("choose one of --short and --full")
	case o.connections < 1:
		return o, errors.New("--connections must be at least 1")
	}
	return o, nil
}

func (o *options) plan() plan {
	p := defaultPlan()
	switch {
	case o.short:
		p = shortPlan()
	case o.full:
		p = fullPlan()
	}
	p.connections = o.connections
	return p
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	rows, err := regexp.Compile(o.rows)
	if err != nil {
		return fmt.Errorf("parse --rows: %w", err)
	}
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		return fmt.Errorf("%w: install Debian's package, or run scripts/test-deps", err)
	}
	binary := o.binary
	if binary == "" {
		if binary, err = build(ctx); err != nil {
			return err
		}
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return fmt.Errorf("find %s: %w", o.binary, err)
	}
	extra := strings.Fields(o.bowlineArgs)
	began := time.Now()
	b := &bench{
		plan:     o.plan(),
		redis:    redisProgram(redis),
		bowline:  bowlineProgram(binary, extra),
		extra:    extra,
		selected: rows.MatchString,
		progress: func(format string, args ...any) {
			fmt.Fprintf(stderr, "%4.0fs %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		},
	}
	if err := b.all(ctx); err != nil {
		return err
	}
	b.report.print(stdout)
	if o.json != "" {
		if err := b.report.writeJSON(o.json); err != nil {
			return err
		}
	}
	return outcomeOf(b.plan.short, &b.report)
}

func (b *bench) all(ctx context.Context) error {
	if err := b.gather(ctx); err != nil {
		return err
	}
	if err := b.allTraffic(ctx); err != nil {
		return err
	}
	if err := b.allProfiles(ctx); err != nil {
		return err
	}
	if err := b.allState(ctx); err != nil {
		return err
	}
	if err := b.allStalls(ctx); err != nil {
		return err
	}
	if err := b.allHits(ctx); err != nil {
		return err
	}
	if n := b.report.noisyRows(); n > 0 {
		b.note("in %d of %d rows the pairs of slices differ by more than a third: the machine was busy, measure again", n, len(b.report.Traffic))
	}
	return nil
}

// build makes bin/bowline as `make build` does.
func build(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bowline-kv/bowline").Output()
	if err != nil {
		return "", fmt.Errorf("find the module's folder: %w", err)
	}
	dir := strings.TrimSpace(string(root))
	binary := filepath.Join(dir, "bin", "bowline")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./cmd/bowline")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build bowline: %w\n%s", err, out)
	}
	return binary, nil
}
