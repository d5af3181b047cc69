package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// latencyMonitor keeps, for each kind of event, the newest that took at least
// latency-monitor-threshold milliseconds.
type latencyMonitor struct {
	mu     sync.Mutex
	events map[string]*latencyEvent // guarded by mu
}

// latencyEvent has one sample a second at most: the longest of it.
type latencyEvent struct {
	samples []latencySample // the newest last, at most latencySamples
	max     int64           // milliseconds, ever
}

type latencySample struct {
	seconds int64 // unix time
	millis  int64
}

// latencySamples is how many samples an event keeps.
const latencySamples = 160

// NoteLatency tells the latency monitor how long an event took. Events are named
// by the program, never by clients, so there are few. Any goroutine may call it.
func (srv *Server) NoteLatency(event string, nanos int64) {
	threshold := srv.cfg.Int(config.LatencyMonitorThreshold)
	if threshold == 0 || nanos/1e6 < threshold {
		return
	}
	srv.latency.add(event, latencySample{srv.now().Wall / 1e6, nanos / 1e6})
}

func (m *latencyMonitor) add(event string, s latencySample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events == nil {
		m.events = map[string]*latencyEvent{}
	}
	e := m.events[event]
	if e == nil {
		e = &latencyEvent{}
		m.events[event] = e
	}
	e.max = max(e.max, s.millis)
	if n := len(e.samples); n > 0 && e.samples[n-1].seconds == s.seconds {
		e.samples[n-1].millis = max(e.samples[n-1].millis, s.millis)
		return
	}
	if len(e.samples) == latencySamples {
		e.samples = append(e.samples[:0], e.samples[1:]...)
	}
	e.samples = append(e.samples, s)
}

func latencyLatest(w *Worker, s *session.Session, _ [][]byte) {
	m := &w.srv.latency
	m.mu.Lock()
	defer m.mu.Unlock()
	s.W.Array(len(m.events))
	for _, name := range slices.Sorted(maps.Keys(m.events)) {
		e := m.events[name]
		last := e.samples[len(e.samples)-1]
		s.W.Array(4)
		s.W.BulkString(name)
		s.W.Int(last.seconds)
		s.W.Int(last.millis)
		s.W.Int(e.max)
	}
}

func latencyHistory(w *Worker, s *session.Session, args [][]byte) {
	m := &w.srv.latency
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.events[string(args[2])]
	if e == nil {
		s.W.Array(0)
		return
	}
	s.W.Array(len(e.samples))
	for _, sample := range e.samples {
		s.W.Array(2)
		s.W.Int(sample.seconds)
		s.W.Int(sample.millis)
	}
}

func latencyReset(w *Worker, s *session.Session, args [][]byte) {
	m := &w.srv.latency
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	if len(args) == 2 {
		n, m.events = len(m.events), nil
	}
	for _, name := range args[2:] {
		if m.events[string(name)] != nil {
			delete(m.events, string(name))
			n++
		}
	}
	s.W.Int(int64(n))
}

func latencyGraph(w *Worker, s *session.Session, args [][]byte) {
	m := &w.srv.latency
	m.mu.Lock()
	defer m.mu.Unlock()
	name := string(args[2])
	e := m.events[name]
	if e == nil {
		s.W.Error(reply.NoLatencySamples(args[2]))
		return
	}
	s.W.Verbatim("txt", e.graph(name))
}

// graph draws the newest samples as columns of '#'.
func (e *latencyEvent) graph(name string) string {
	const width, height = 80, 4
	shown := e.samples[max(0, len(e.samples)-width):]
	low, high := shown[0].millis, shown[0].millis
	for _, s := range shown {
		low, high = min(low, s.millis), max(high, s.millis)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n", name, high, low, e.max, strings.Repeat("-", width))
	for row := height; row > 0; row-- {
		for _, s := range shown {
			level := int64(1)
			if high > low {
				level += (s.millis - low) * (height - 1) / (high - low)
			}
			if level >= int64(row) {
				b.WriteByte('#')
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func latencyDoctor(w *Worker, s *session.Session, _ [][]byte) {
	m := &w.srv.latency
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	threshold := w.srv.cfg.Int(config.LatencyMonitorThreshold)
	switch {
	case len(m.events) == 0 && threshold == 0:
		b.WriteString("The latency monitor is off. CONFIG SET latency-monitor-threshold <milliseconds> turns it on.\n")
	case len(m.events) == 0:
		fmt.Fprintf(&b, "No event has taken %d ms or longer since the latency monitor was turned on or reset.\n", threshold)
	default:
		b.WriteString("These events took long:\n\n")
	}
	for i, name := range slices.Sorted(maps.Keys(m.events)) {
		e := m.events[name]
		sum := int64(0)
		for _, s := range e.samples {
			sum += s.millis
		}
		n := int64(len(e.samples))
		span := float64(e.samples[n-1].seconds-e.samples[0].seconds) / float64(max(n-1, 1))
		fmt.Fprintf(&b, "%d. %s: %d spikes (average %d ms, every %.2f s), the longest of all %d ms.\n", i+1, name, n, sum/n, span, e.max)
		if advice := latencyAdvice[name]; advice != "" {
			fmt.Fprintf(&b, "   %s\n", advice)
		}
	}
	s.W.Verbatim("txt", b.String())
}

// latencyAdvice says what to do about an event.
var latencyAdvice = map[string]string{
	"command":        "SLOWLOG GET shows which commands these are; see whether they can work on less at once.",
	"fast-command":   "Commands that are short by nature wait for the processor or for locks: look for long commands, swapping and other processes.",
	"expire-cycle":   "Many keys end at the same moment; spread their expiry times.",
	"eviction-cycle": "Memory is short; give the node more, or write less at once.",
}

func latencyHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "LATENCY", []string{
		"DOCTOR", "Describe what took long, for people.",
		"GRAPH <event>", "Draw the durations of an event.",
		"HISTOGRAM [<command> ...]", "Return how often commands took how long, cumulative by powers of two of microseconds.",
		"HISTORY <event>", "Return time and milliseconds of the newest events of a kind.",
		"LATEST", "Return the newest event of each kind.",
		"RESET [<event> ...]", "Forget events.",
	})
}

// latencyHistogram answers only with commands that were called, and with all of
// them when none is named.
func latencyHistogram(w *Worker, s *session.Session, args [][]byte) {
	var names []string
	for _, arg := range args[2:] {
		names = append(names, strings.ToLower(string(arg)))
	}
	at, n := len(s.W.B), 0
	done := map[string]bool{}
	tell := func(wanted string) {
		for _, row := range w.srv.sumHistograms() {
			container, _, _ := strings.Cut(row.name, "|")
			if wanted != "" && wanted != row.name && wanted != container || done[row.name] {
				continue
			}
			done[row.name] = true
			n++
			writeHistogram(s, &row)
		}
	}
	if names == nil {
		tell("")
	}
	for _, name := range names {
		tell(name)
	}
	s.W.InsertMap(at, n)
}

func writeHistogram(s *session.Session, row *timedCommand) {
	s.W.BulkString(row.name)
	s.W.Map(2)
	s.W.BulkString("calls")
	s.W.Int(int64(row.histogram.total))
	s.W.BulkString("histogram_usec")
	at, n := len(s.W.B), 0
	row.histogram.powers(func(micros, count uint64) {
		s.W.Int(int64(micros))
		s.W.Int(int64(count))
		n++
	})
	s.W.InsertMap(at, n)
}

// timedCommand is a row of LATENCY HISTOGRAM.
type timedCommand struct {
	name      string
	histogram summedHistogram
}

func (srv *Server) appendLatencyStats(b []byte, _ *occasion) []byte {
	percents := srv.cfg.Floats(config.LatencyPercentiles)
	for _, row := range srv.sumHistograms() {
		b = fmt.Appendf(b, "latency_percentiles_usec_%s:", row.name)
		for i, p := range percents {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "p%g=%.3f", p, float64(row.histogram.percentile(p))/1000)
		}
		b = append(b, "\r\n"...)
	}
	return b
}
