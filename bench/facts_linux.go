package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// gather fills in the line about the machine.
func (b *bench) gather(ctx context.Context) error {
	redis, err := exec.CommandContext(ctx, b.redis.binary, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask redis-server for its version: %w", err)
	}
	bowline, err := exec.CommandContext(ctx, b.bowline.binary, "version").Output()
	if err != nil {
		return fmt.Errorf("ask bowline for its version: %w", err)
	}
	b.report.Facts = []fact{
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")},
		{"kernel", kernel()},
		{"redis-server", redisVersion(string(redis))},
		{"bowline", lastWord(string(bowline))},
		{"connections", strconv.Itoa(b.plan.connections)},
		{"keys", countName(b.plan.keys)},
		{"pairs of slices", strconv.Itoa(b.plan.rounds)},
		{"load average before", firstWord("/proc/loadavg")},
	}
	if len(b.extra) > 0 {
		b.report.Facts = append(b.report.Facts, fact{"bowline's extra arguments", strings.Join(b.extra, " ")})
	}
	return nil
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// redisVersion finds "v=7.0.15" in what redis-server says of itself.
func redisVersion(text string) string {
	for word := range strings.FieldsSeq(text) {
		if version, ok := strings.CutPrefix(word, "v="); ok {
			return version
		}
	}
	return "unknown"
}

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "unknown"
	}
	return words[len(words)-1]
}

func firstWord(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	word, _, _ := strings.Cut(string(text), " ")
	return word
}
