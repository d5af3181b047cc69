package netdrive

import (
	"strings"
	"testing"
	"time"
)

// blockedClients waits until n clients are blocked.
func (f *fixture) blockedClients(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		have := 0
		f.blocked.Range(func(any, any) bool { have++; return true })
		if have == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d clients are blocked, want %d", have, n)
		}
	}
}

func TestABlockedClientGoesOnWithItsAnswer(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		waits, other := f.dial(t), f.dial(t)
		send(t, waits, "PING\r\nBLOCK 0\r\nECHO x\r\nBLOCK 0\r\nPING\r\n")
		want(t, waits, "+PONG\r\n")
		f.blockedClients(t, 1)
		silent(t, waits)
		send(t, other, "ANSWER yes\r\n")
		want(t, other, ":1\r\n")
		want(t, waits, "$3\r\nyes\r\n$1\r\nx\r\n")
		f.blockedClients(t, 1)
		send(t, other, "ANSWER again\r\n")
		want(t, other, ":1\r\n")
		want(t, waits, "$5\r\nagain\r\n+PONG\r\n")
		ping(t, waits)
	})
}

func TestABlockedClientGivesUpAtItsDeadline(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "BLOCK 20\r\nPING\r\n")
		want(t, nc, "*-1\r\n+PONG\r\n")
		send(t, nc, "BLOCK 1\r\nBLOCK 1\r\n")
		want(t, nc, "*-1\r\n*-1\r\n")
	})
}

func TestWhatABlockedClientSendsIsRunLater(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		waits, other := f.dial(t), f.dial(t)
		send(t, waits, "BLOCK 0\r\n")
		f.blockedClients(t, 1)
		send(t, waits, "COUNT\r\nECHO "+strings.Repeat("x", 1000)+"\r\nCOU")
		silent(t, waits)
		send(t, other, "ANSWER 1\r\n")
		want(t, other, ":1\r\n")
		want(t, waits, "$1\r\n1\r\n:1\r\n$1000\r\n"+strings.Repeat("x", 1000)+"\r\n")
		send(t, waits, "NT\r\n")
		want(t, waits, ":2\r\n")
	})
}

// TestABlockedClientThatGoesAwayIsNoticed: its place is free at once.
func TestABlockedClientThatGoesAwayIsNoticed(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "BLOCK 0\r\n")
		f.blockedClients(t, 1)
		nc.Close()
		for end := time.Now().Add(patience); f.registry.Len() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("its session is still there")
			}
		}
	})
}

// TestStoppingDoesNotWaitForBlockedClients: forDrivers stops the driver.
func TestStoppingDoesNotWaitForBlockedClients(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "BLOCK 0\r\n")
		f.blockedClients(t, 1)
	})
}
