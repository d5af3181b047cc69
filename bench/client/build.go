package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// buildResult is the CPU, in seconds, that building a program of three lines takes when
// the standard library is built and nothing else is.
type buildResult struct {
	Client  string    `json:"client"`
	Seconds []float64 `json:"cpu_seconds"`
	Median  float64   `json:"median"`
	Judged  *judged   `json:"judged,omitempty"`
}

const buildSecondsMax = 3

// programs is where the programs are, each named like its client.
const programs = "./programs/"

// measureBuilds builds the programs in turn. module is the folder of this module.
func measureBuilds(ctx context.Context, rounds int, module string, subjects []subject, log func(string)) ([]buildResult, error) {
	dir, err := os.MkdirTemp("", "bowline-bench-build")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the builds: %w", err)
	}
	defer os.RemoveAll(dir)
	b := builder{module: module, dir: dir}
	log("build the standard library")
	if err := b.prepare(ctx, subjects); err != nil {
		return nil, err
	}
	results := make([]buildResult, len(subjects))
	for i := range results {
		results[i].Client = subjects[i].name
	}
	for round := range rounds {
		log(fmt.Sprintf("build %d of %d", round+1, rounds))
		for i, s := range subjects {
			used, err := b.build(ctx, s.name)
			if err != nil {
				return nil, err
			}
			results[i].Seconds = append(results[i].Seconds, used.Seconds())
		}
	}
	for i := range results {
		r := &results[i]
		r.Median = median(r.Seconds)
		if r.Client == ours {
			r.Judged = &judged{Value: r.Median, Bar: buildSecondsMax, OK: r.Median <= buildSecondsMax}
		}
	}
	return results, nil
}

// builder builds with caches of its own.
type builder struct {
	module string
	dir    string
}

func (b *builder) standard() string { return filepath.Join(b.dir, "standard") }

// prepare fills a cache with the packages of the standard library that the programs
// use.
func (b *builder) prepare(ctx context.Context, subjects []subject) error {
	args := []string{"list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}"}
	for _, s := range subjects {
		args = append(args, programs+s.name)
	}
	list, _, err := b.run(ctx, b.standard(), args...)
	if err != nil {
		return err
	}
	_, _, err = b.run(ctx, b.standard(), append([]string{"build"}, strings.Fields(list)...)...)
	return err
}

// build builds one program with a copy of that cache.
func (b *builder) build(ctx context.Context, name string) (time.Duration, error) {
	cache := filepath.Join(b.dir, "cache")
	if err := os.CopyFS(cache, os.DirFS(b.standard())); err != nil {
		return 0, fmt.Errorf("copy the build cache: %w", err)
	}
	defer os.RemoveAll(cache)
	_, used, err := b.run(ctx, cache, "build", "-buildvcs=false", "-o", filepath.Join(b.dir, "program"), programs+name)
	return used, err
}

// run runs the go command and tells the CPU that it and its children took.
func (b *builder) run(ctx context.Context, cache string, args ...string) (string, time.Duration, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = b.module, append(os.Environ(), "GOCACHE="+cache)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", 0, fmt.Errorf("go %s: %w\n%s", args[0], err, said.Bytes())
	}
	return out.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
