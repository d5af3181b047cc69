package server

import (
	"fmt"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// keyHandlers are the commands about the node that look at a key.
var keyHandlers = map[string]engine.Handler{
	"memory|usage": memoryUsage,
}

// memoryUsage takes SAMPLES, but has no use for it: sizes are counted as values
// change, not estimated.
func memoryUsage(c *engine.Ctx, args engine.Args) {
	for i := 3; i < len(args); i += 2 {
		if !command.IsToken(args[i], "SAMPLES") || i+1 == len(args) {
			c.Error(reply.Syntax)
			return
		}
		n, ok := c.Int(args[i+1])
		if !ok {
			return
		}
		if n < 0 {
			c.Error(reply.Syntax)
			return
		}
	}
	size, ok := c.Size(args[2])
	if !ok {
		c.W.Null()
		return
	}
	c.W.Int(size)
}

// usage is how the memory of the process is divided.
type usage struct {
	data     int64 // keys and values
	peak     int64 // the most that data ever was
	process  int64 // the Go runtime and what it holds for the program
	clients  int64 // requests and replies that wait
	pages    int64 // pages in use for keys, values and the index
	mapped   int64 // pages held
	resident int64 // of the whole process, by the operating system; 0: unknown
	keys     int64
}

func (srv *Server) usage(o *shard.Overview) usage {
	u := usage{data: o.Bytes()}
	u.peak = srv.notePeak(u.data)
	if f := srv.process.MemoryBytes; f != nil {
		u.process = int64(f())
	}
	if f := srv.process.ResidentBytes; f != nil {
		u.resident = f()
	}
	for _, s := range srv.registry.All() {
		u.clients += s.MemoryBytes()
	}
	pool := srv.space.PoolStats()
	u.pages, u.mapped = pool.InUse, pool.Mapped
	for _, db := range o.Databases {
		u.keys += int64(db.Keys)
	}
	return u
}

// overhead is the memory besides keys and values.
func (u *usage) overhead() int64 { return max(0, u.pages-u.data) + u.process }

// notePeak remembers the most memory that keys and values ever took, as far as
// somebody looked: the node does once a second.
func (srv *Server) notePeak(data int64) int64 {
	for {
		old := srv.peak.Load()
		if data <= old {
			return old
		}
		if srv.peak.CompareAndSwap(old, data) {
			return data
		}
	}
}

// ratio is a/b, 1 for an empty b.
func ratio(a, b int64) float64 {
	if b <= 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func memoryStats(w *Worker, s *session.Session, _ [][]byte) {
	o := w.overview()
	u := w.srv.usage(o)
	at, n := len(s.W.B), 0
	number := func(name string, v int64) {
		s.W.BulkString(name)
		s.W.Int(v)
		n++
	}
	share := func(name string, v float64) {
		s.W.BulkString(name)
		s.W.Double(v)
		n++
	}
	number("peak.allocated", u.peak)
	number("total.allocated", u.data)
	number("startup.allocated", 0)
	number("replication.backlog", 0)
	number("clients.slaves", 0)
	number("clients.normal", u.clients)
	number("cluster.links", 0)
	written := w.srv.logState()
	number("aof.buffer", written.Waiting)
	number("lua.caches", 0)
	number("functions.caches", 0)
	for db, d := range o.Databases {
		if d.Keys > 0 {
			s.W.BulkString(fmt.Sprintf("db.%d", db))
			s.W.Map(2)
			s.W.BulkString("overhead.hashtable.main")
			s.W.Int(max(0, d.Footprint-d.Bytes))
			s.W.BulkString("overhead.hashtable.expires")
			s.W.Int(0)
			n++
		}
	}
	number("overhead.total", u.overhead())
	number("keys.count", u.keys)
	number("keys.bytes-per-key", u.data/max(u.keys, 1))
	number("dataset.bytes", u.data)
	share("dataset.percentage", 100*ratio(u.data, u.data+u.overhead()))
	share("peak.percentage", 100*ratio(u.data, u.peak))
	number("allocator.allocated", u.pages)
	number("allocator.active", u.mapped)
	number("allocator.resident", u.mapped)
	share("allocator-fragmentation.ratio", ratio(u.mapped, u.pages))
	number("allocator-fragmentation.bytes", u.mapped-u.pages)
	number("rss-overhead.bytes", max(0, u.resident-u.mapped))
	share("fragmentation", ratio(u.resident, u.data))
	number("fragmentation.bytes", u.resident-u.data)
	s.W.InsertMap(at, n)
}

func memoryDoctor(w *Worker, s *session.Session, _ [][]byte) {
	u := w.srv.usage(w.overview())
	var b strings.Builder
	const small = 5 << 20
	switch {
	case u.data < small:
		b.WriteString("There is too little data to say anything about its memory.\n")
	default:
		if u.data < u.peak*2/3 {
			fmt.Fprintf(&b, "Keys and values took %s at most, and take %s now; free pages go back to the system in the background.\n", human(uint64(u.peak)), human(uint64(u.data)))
		}
		if u.pages > u.data*3/2 {
			fmt.Fprintf(&b, "The pages in use are %.2f times the size of keys and values: many are partly empty, and are moved together in the background.\n", ratio(u.pages, u.data))
		}
		if u.clients > u.data/10 {
			fmt.Fprintf(&b, "Requests and replies that wait take %s; CLIENT LIST shows whose.\n", human(uint64(u.clients)))
		}
		if b.Len() == 0 {
			b.WriteString("Nothing about the memory is remarkable.\n")
		}
	}
	s.W.Verbatim("txt", b.String())
}

func memoryPurge(w *Worker, s *session.Session, _ [][]byte) {
	if f := w.srv.process.FreeMemory; f != nil {
		f()
	}
	s.W.OK()
}

func mallocStats(w *Worker, s *session.Session, _ [][]byte) {
	u := w.srv.usage(w.overview())
	var c Collector
	if f := w.srv.process.Collector; f != nil {
		c = f()
	}
	s.W.Verbatim("txt", fmt.Sprintf("pages in use: %d bytes\npages held: %d bytes\nGo heap: %d bytes\ncollections: %d\n",
		u.pages, u.mapped, c.HeapBytes, c.Cycles))
}

func memoryHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "MEMORY", []string{
		"DOCTOR", "Describe what is remarkable about the memory, for people.",
		"MALLOC-STATS", "Return numbers of the allocators.",
		"PURGE", "Give free memory back to the system.",
		"STATS", "Return how the memory is used.",
		"USAGE <key> [SAMPLES <count>]", "Return the bytes that a key and its value take.",
	})
}

func lolwut(w *Worker, s *session.Session, args [][]byte) {
	if len(args) >= 3 && command.IsToken(args[1], "VERSION") {
		if _, ok := resp.ParseInt(args[2]); !ok {
			s.W.Error(reply.NotInteger)
			return
		}
	}
	s.W.Verbatim("txt", "   ___\n  /   \\\n  \\__ |\n  ___)|\n /    |    Bowline "+w.srv.process.Version+", as Redis "+RedisVersion+"\n \\____/\n")
}
