package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var killRounds = flag.Int("kill.rounds", 5, "how often the server is killed, with each driver")

const (
	killWriters  = 8
	killAfter    = 400 // acknowledged steps of all writers
	stepCommands = 8
)

// step is what a writer sends at once: it adds one to a counter, and one element to
// a collection of each type; the last two counters go up together or not at all.
func step(writer int, n int64) string {
	w := strconv.Itoa(writer)
	return fmt.Sprintf("INCR n%s\r\nRPUSH l%s %d\r\nSADD s%s %d\r\nHSET h%s %d v\r\nZADD z%s %d m%d\r\nAPPEND t%s x\r\nSETBIT b%s %d 1\r\n",
		w, w, n, w, n, w, n, w, n, n, w, w, n) +
		fmt.Sprintf("MULTI\r\nINCR x%s\r\nINCR y%s\r\nEXEC\r\n", w, w)
}

// stepLines is how many lines answer a step: a line for each command, and MULTI has
// six.
const stepLines = stepCommands - 1 + 6

// sizes are commands that tell how many steps were executed.
func sizes(writer int) []string {
	w := strconv.Itoa(writer)
	return []string{"LLEN l" + w, "SCARD s" + w, "HLEN h" + w, "ZCARD z" + w, "STRLEN t" + w, "BITCOUNT b" + w, "INCRBY n" + w + " 0", "INCRBY x" + w + " 0", "INCRBY y" + w + " 0"}
}

// TestKilledServerHasAllThatItAcknowledged kills it while clients write, and looks
// after the next start for every step that was answered. One more may be there, as
// a whole or in part: its replies were on their way.
func TestKilledServerHasAllThatItAcknowledged(t *testing.T) {
	for _, network := range []string{"epoll", "portable"} {
		t.Run(network, func(t *testing.T) {
			dir := t.TempDir()
			acknowledged := make([]atomic.Int64, *killRounds*killWriters) // each round has new writers
			for round := range *killRounds + 1 {
				// Snapshots are written, and the log cut off behind them, all the time.
				p, addr := startServer(t, nil, "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--network", network, "--wal-segment-size", "256kb",
					"--wal-history-size", "0")
				from := max(0, round-3) // in long runs all are counted at the end only
				if round == *killRounds {
					from = 0
				}
				for w := from * killWriters; w < round*killWriters; w++ {
					recount(t, addr, w, acknowledged[w].Load())
				}
				if round == *killRounds {
					p.stop(t)
					if _, err := os.Stat(filepath.Join(dir, "dump.rdb.previous")); err != nil {
						t.Errorf("the log was never cut off behind a snapshot: %v", err)
					}
					return
				}
				var total atomic.Int64
				var writers sync.WaitGroup
				for w := round * killWriters; w < (round+1)*killWriters; w++ {
					nc := dial(t, "tcp", addr)
					writers.Go(func() { writeUntilKilled(nc, w, &acknowledged[w], &total) })
				}
				nc := dial(t, "tcp", addr)
				writers.Go(func() { rewriteUntilKilled(nc) })
				for end := time.Now().Add(patience); total.Load() < killAfter; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("%d steps were answered", total.Load())
					}
				}
				p.signal(t, syscall.SIGKILL)
				p.wait(t)
				writers.Wait()
			}
		})
	}
}

// rewriteUntilKilled has one snapshot written after the other.
func rewriteUntilKilled(nc net.Conn) {
	in := bufio.NewReader(nc)
	for {
		if _, err := nc.Write([]byte("BGREWRITEAOF\r\n")); err != nil {
			return
		}
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func writeUntilKilled(nc net.Conn, w int, acknowledged, total *atomic.Int64) {
	in := bufio.NewReader(nc)
	for {
		if _, err := nc.Write([]byte(step(w, acknowledged.Load()+1))); err != nil {
			return
		}
		for range stepLines {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
		}
		acknowledged.Add(1)
		total.Add(1)
	}
}

// recount checks what a writer left.
func recount(t *testing.T, addr string, w int, least int64) {
	t.Helper()
	nc := dial(t, "tcp", addr)
	defer nc.Close()
	in := bufio.NewReader(nc)
	var found []int64
	for _, command := range sizes(w) {
		fmt.Fprint(nc, command+"\r\n")
		line, err := in.ReadString('\n')
		n, bad := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(line), ":"), 10, 64)
		if err != nil || bad != nil {
			t.Fatalf("%s: %q, %v", command, line, err)
		}
		if n < least || n > least+1 {
			t.Errorf("%s gives %d, and %d steps were acknowledged", command, n, least)
		}
		found = append(found, n)
	}
	if x, y := found[len(found)-2], found[len(found)-1]; x != y {
		t.Errorf("a transaction of writer %d is there in part: %d and %d", w, x, y)
	}
}
