package loadgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteJSON writes the result as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable writes the result for people.
func (r *Result) WriteTable(w io.Writer) error {
	var b strings.Builder
	if r.Interrupted {
		b.WriteString("Interrupted: this is the time till then.\n")
	}
	fmt.Fprintf(&b, "%d commands in %.2f s, %s\n\n", r.Total.Replies+r.Total.Failed, r.Seconds, r.Settings.describe())
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "command\tper second\treplies\tnulls\terrors\tp50\tp90\tp99\tp99.9\tmax\t")
	rows := r.Commands
	if len(rows) > 1 {
		rows = append(slices.Clone(rows), r.Total)
	}
	for _, row := range rows {
		l := row.Latency
		fmt.Fprintf(table, "%s\t%.0f\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t\n", row.Name, row.PerSecond, row.Replies, row.Nulls, row.Failed,
			millis(l.P50), millis(l.P90), millis(l.P99), millis(l.P999), millis(l.Max))
	}
	table.Flush() // into a builder, which takes everything
	b.WriteString("\nLatencies are in milliseconds.")
	r.writeRest(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRest tells what is not in the table, if there is anything.
func (r *Result) writeRest(b *strings.Builder) {
	if r.Settings.Rate > 0 {
		b.WriteString(" They count from when a command was due.")
	}
	b.WriteString("\n")
	if r.Unsent > 0 {
		fmt.Fprintf(b, "%d commands were due and not sent: the server, or the number of clients, did not suffice for the rate.\n", r.Unsent)
	}
	c := r.Client
	if c != (ClientCounts{}) {
		fmt.Fprintf(b, "The client saw %d MOVED, %d ASK, %d TRYAGAIN, and %d dropped connections; it connected %d times, %d times in vain, and loaded the map %d times.\n",
			c.Moved, c.Ask, c.TryAgain, c.Drops, c.Dials+c.DialFailures, c.DialFailures, c.Reloads)
	}
	if r.Total.Failed == 0 {
		return
	}
	b.WriteString("Errors:\n")
	kinds := make([]string, 0, len(r.Total.Errors))
	for kind := range r.Total.Errors {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(x, y string) int {
		return cmp.Or(cmp.Compare(r.Total.Errors[y], r.Total.Errors[x]), cmp.Compare(x, y))
	})
	for _, kind := range kinds {
		fmt.Fprintf(b, "  %d %s, such as: %s\n", r.Total.Errors[kind], kind, r.Total.Examples[kind])
	}
}

func millis(us float64) string { return fmt.Sprintf("%.3f", us/1000) }

// describe says in short how the load was made.
func (s *Settings) describe() string {
	rate := "as fast as replies came"
	if s.Rate > 0 {
		rate = fmt.Sprintf("%g due a second", s.Rate)
	}
	return fmt.Sprintf("%s: %d clients, batches of %d, %d keys (%s), values of %s bytes, seed %d",
		rate, s.Clients, s.Pipeline, s.Keys, s.Distribution, s.ValueSize, s.Seed)
}
