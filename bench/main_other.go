//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: runs on Linux only: it reads the servers' CPU and memory from the kernel")
	os.Exit(1)
}
