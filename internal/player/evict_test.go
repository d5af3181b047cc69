package player

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

var (
	evictKeys     = flag.Int("evict.keys", 10000, "keys of the trace that compares eviction")
	evictAccesses = flag.Int("evict.accesses", 60000, "accesses of that trace")
)

// usedMemory reads a number of INFO memory.
func usedMemory(t *testing.T, c *redistest.Conn) int {
	t.Helper()
	text := fmt.Sprint(c.Do("INFO", "memory"))
	_, rest, ok := strings.Cut(text, "used_memory:")
	line, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(line)
	if !ok || err != nil {
		t.Fatalf("INFO memory: %v in %q", err, text)
	}
	return n
}

// hitRatio plays a zipfian trace with memory for a fifth of its keys: a read
// that finds nothing is followed by a write. It returns hits in percent.
func hitRatio(t *testing.T, c *redistest.Conn, policy string) float64 {
	t.Helper()
	const batch = 200
	value := strings.Repeat("v", 100)
	volatile := strings.HasPrefix(policy, "volatile")
	set := func(key string) []string {
		args := []string{"SET", key, value}
		if volatile {
			args = append(args, "EX", strconv.Itoa(100000+len(key)*1000))
		}
		return args
	}
	c.Do("FLUSHALL")
	c.Do("CONFIG", "SET", "maxmemory", "0")
	before := usedMemory(t, c)
	for i := range *evictKeys / 5 {
		c.Do(set(fmt.Sprintf("key:%012d", i))...)
	}
	limit := usedMemory(t, c)
	if limit <= before {
		t.Fatalf("used_memory went from %d to %d", before, limit)
	}
	c.Do("FLUSHALL")
	c.Do("CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", strconv.Itoa(limit))
	chance := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(chance, 1.05, 10, uint64(*evictKeys-1))
	hits, total := 0, 0
	for n := 0; n < *evictAccesses; n += batch {
		keys := make([]string, batch)
		var wire []byte
		for i := range keys {
			keys[i] = fmt.Sprintf("key:%012d", zipf.Uint64())
			wire = append(wire, redistest.Encode("GET", keys[i])...)
		}
		c.Write(wire)
		wire = wire[:0]
		missed := 0
		for i := range keys {
			if c.Receive() != nil {
				if n > *evictAccesses/3 { // after it has warmed up
					hits++
				}
			} else {
				wire = append(wire, redistest.Encode(set(keys[i])...)...)
				missed++
			}
			if n > *evictAccesses/3 {
				total++
			}
		}
		c.Write(wire)
		for range missed {
			if e, bad := c.Receive().(redistest.Error); bad {
				t.Fatalf("%s: %s", policy, e)
			}
		}
	}
	return 100 * float64(hits) / float64(total)
}

// TestEvictionKeepsWhatRedisKeeps compares hit ratios on the same trace, with
// memory for the same share of the keys.
func TestEvictionKeepsWhatRedisKeeps(t *testing.T) {
	oracle := redistest.Start(t).Dial(t)
	subject := redistest.Dial(t, "tcp", startBowline(t))
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		want, got := hitRatio(t, oracle, policy), hitRatio(t, subject, policy)
		t.Logf("%-15s redis-server %.2f %%, bowline %.2f %%", policy, want, got)
		// The trace is short here, and both choose by chance.
		if got < want-2 {
			t.Errorf("%s: %.2f %% of the reads find their key, %.2f %% with redis-server", policy, got, want)
		}
	}
}

func TestWritesAreRefusedWhenNothingCanBeEvicted(t *testing.T) {
	const limit = 12 << 20
	oracle := redistest.Start(t).Dial(t)
	subject := redistest.Dial(t, "tcp", startBowline(t))
	for _, policy := range []string{"noeviction", "volatile-lru", "volatile-ttl", "volatile-random", "volatile-lfu"} {
		for name, c := range map[string]*redistest.Conn{"redis-server": oracle, "bowline": subject} {
			c.Do("FLUSHALL")
			c.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(limit), "maxmemory-policy", policy)
			refused := false
			for i := range 3000 {
				if e, bad := c.Do("SET", "key:"+strconv.Itoa(i), strings.Repeat("x", 10000)).(redistest.Error); bad {
					if e != "OOM command not allowed when used memory > 'maxmemory'." {
						t.Fatalf("%s with %s: %s", name, policy, e)
					}
					refused = true
					break
				}
			}
			if !refused {
				t.Fatalf("%s with %s: 30 MB of values fit in 12 MB", name, policy)
			}
			steps := [][]string{{"GET", "key:1"}, {"DEL", "key:1"}, {"CONFIG", "SET", "maxmemory", "0"}, {"SET", "key:3", "1"}}
			got := ""
			for _, args := range steps {
				got += fmt.Sprintf("%.10v ", c.Do(args...))
			}
			if want := "xxxxxxxxxx 0000000001 OK OK "; got != want {
				t.Errorf("%s with %s: then %q, want %q", name, policy, got, want)
			}
		}
	}
}
