package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench-client:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 {
		switch args[0] {
		case runArgument:
			return serveRun(os.Stdin, os.Stdout)
		case watchArgument:
			return serveWatch(os.Stdin, os.Stdout)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	r, err := o.measure(ctx)
	if err != nil {
		return err
	}
	r.print(os.Stdout)
	if o.json != "" {
		return r.writeJSON(o.json)
	}
	return nil
}

// options are those of the command line.
type options struct {
	plan     plan
	subjects []subject
	json     string
	module   string
}

func parseOptions(args []string) (*options, error) {
	o := &options{plan: defaultPlan()}
	f := flag.NewFlagSet("bench-client", flag.ContinueOnError)
	short := f.Bool("short", false, "fewer and shorter runs, no builds")
	rounds := f.Int("rounds", 0, "runs of each client and row, 1 or more (default 5, with --short 3)")
	only := f.String("rows", "", "measure only rows whose name matches this regular expression; failover and build are rows too")
	clients := f.String("clients", "", "measure only these clients, separated by commas")
	f.StringVar(&o.json, "json", "", "write all figures into this file")
	f.BoolVar(&o.plan.cancelable, "cancelable", false, "give every command a context that could be canceled")
	f.StringVar(&o.module, "module", ".", "the folder of this module, for the builds")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read --rows: %w", err)
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case *rounds < 0:
		return nil, errors.New("--rounds must be 1 or more")
	}
	if *short {
		o.plan.shorten()
	}
	if *rounds > 0 {
		o.plan.rounds = *rounds
	}
	o.plan.choose(pattern)
	o.subjects = subjects
	if *clients != "" {
		o.subjects = nil
		for name := range strings.SplitSeq(*clients, ",") {
			s, err := subjectNamed(name)
			if err != nil {
				return nil, err
			}
			o.subjects = append(o.subjects, s)
		}
	}
	return o, nil
}

// choose leaves only the rows that match.
func (p *plan) choose(pattern *regexp.Regexp) {
	p.rows = slices.DeleteFunc(p.rows, func(r row) bool { return !pattern.MatchString(r.name()) })
	if !pattern.MatchString("failover") {
		p.failovers = 0
	}
	if !pattern.MatchString("build") {
		p.builds = 0
	}
}

func progress(what string) { fmt.Fprintln(os.Stderr, what) }

// measure does everything that the plan has.
func (o *options) measure(ctx context.Context) (*report, error) {
	r := &report{Facts: o.facts(ctx)}
	if len(o.plan.rows) > 0 {
		if err := o.measureRows(ctx, r); err != nil {
			return nil, err
		}
	}
	var err error
	if o.plan.failovers > 0 {
		if r.Failovers, err = measureFailovers(ctx, o.plan.failovers, o.subjects, progress); err != nil {
			return nil, err
		}
	}
	if o.plan.builds > 0 {
		if r.Builds, err = measureBuilds(ctx, o.plan.builds, o.module, o.subjects, progress); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (o *options) measureRows(ctx context.Context, r *report) error {
	c, err := startCluster(ctx, false)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.fill(ctx, o.plan.keys, o.plan.valueBytes); err != nil {
		return err
	}
	for _, row := range o.plan.rows {
		progress(row.name())
		result, err := o.measureRow(ctx, c, row)
		if err != nil {
			return fmt.Errorf("row %s: %w", row.name(), err)
		}
		r.Rows = append(r.Rows, result)
	}
	return nil
}

// measureRow lets the clients run in turn; who begins changes from round to round.
func (o *options) measureRow(ctx context.Context, c *cluster, of row) (rowResult, error) {
	runs := make([][]runResult, len(o.subjects))
	for round := range o.plan.rounds {
		for turn := range o.subjects {
			i := (round + turn) % len(o.subjects)
			spec := runSpec{Subject: o.subjects[i].name, Addrs: c.addrs(), Row: of, Keys: o.plan.keys,
				ValueBytes: o.plan.valueBytes, Lead: o.plan.lead, Slice: o.plan.slice, Cancelable: o.plan.cancelable}
			one, err := spec.runApart(ctx)
			if err != nil {
				return rowResult{}, err
			}
			runs[i] = append(runs[i], one)
		}
	}
	result := rowResult{Row: of.name()}
	for i, s := range o.subjects {
		result.Clients = append(result.Clients, summarize(s.name, runs[i]))
	}
	result.judge(of)
	return result, nil
}

// facts are what the figures depend on.
func (o *options) facts(ctx context.Context) []string {
	p := &o.plan
	facts := []string{runtime.Version(), fmt.Sprintf("%d cores", runtime.NumCPU())}
	if out, err := exec.CommandContext(ctx, "redis-server", "--version").Output(); err == nil {
		if fields := strings.Fields(string(out)); len(fields) > 2 {
			facts = append(facts, "redis-server "+strings.TrimPrefix(fields[2], "v="))
		}
	}
	if p.cancelable {
		facts = append(facts, "contexts that could be canceled")
	}
	return append(facts, fmt.Sprintf("%d keys", p.keys), fmt.Sprintf("values of %d bytes", p.valueBytes),
		fmt.Sprintf("median of %d runs of %v", p.rounds, p.slice))
}
