package main

import (
	"context"
	"fmt"
)

// subject is a client under measurement.
type subject struct {
	name string
	// open connects it to a cluster, at its best for so many goroutines.
	open func(ctx context.Context, addrs []string, goroutines int) (target, error)
}

// subjects are all clients, Bowline's first.
var subjects = []subject{
	{ours, openBowline},
	{"rueidis", openRueidis},
	{"go-redis", openGoRedis},
	{"redigo", openRedigo},
}

const ours = "bowline"

func subjectNamed(name string) (subject, error) {
	for _, s := range subjects {
		if s.name == name {
			return s, nil
		}
	}
	return subject{}, fmt.Errorf("no client is called %q", name)
}

// target is an open client. worker gives what one goroutine uses.
type target interface {
	worker(ctx context.Context) worker
	close()
}

// worker does the operations of one goroutine. Each of them fails unless every key had
// a value of the right length, and every SET succeeded.
type worker interface {
	get(key string, size int) error
	set(key, value string) error
	getMany(keys []string, size int) error
	setMany(keys []string, value string) error
	mget(keys []string, size int) error
}

// checkSize is how workers look at each value.
func checkSize(got, want int) error {
	if got != want {
		return fmt.Errorf("a value has %d bytes, not %d", got, want)
	}
	return nil
}
