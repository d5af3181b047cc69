//go:build !linux

package node

import "runtime"

func rest() { runtime.Gosched() }
