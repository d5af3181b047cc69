package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// print writes the report for people, in tables of Markdown.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", strings.Join(r.Facts, ", "))
	if len(r.Rows) > 0 {
		printTable(w, r.rowCells())
	}
	if len(r.Failovers) > 0 {
		cells := [][]string{{"first success after a live node knows the new map", "ms, each round", "median", "bar"}}
		for _, f := range r.Failovers {
			cells = append(cells, []string{f.Client, numbers(f.Millis, 1), digits(f.Median, 1), barCell(f.Judged, "<=")})
		}
		printTable(w, cells)
	}
	if len(r.Builds) > 0 {
		cells := [][]string{{"build of a program of three lines", "CPU seconds, each round", "median", "bar"}}
		for _, b := range r.Builds {
			cells = append(cells, []string{b.Client, numbers(b.Seconds, 2), digits(b.Median, 2), barCell(b.Judged, "<=")})
		}
		printTable(w, cells)
	}
	fmt.Fprintf(w, "%d values are off their bars\n", r.misses())
}

func (r *report) rowCells() [][]string {
	cells := [][]string{{"row", "client", "cpu us", "ops/s", "allocs", "p50 us", "p99 us", "cpu ratio", "bar", "ops/s ratio", "bar", "allocs bar"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		for _, c := range row.Clients {
			line := []string{row.Row, c.Client, digits(c.CPUMicros, 2), digits(c.PerSecond, 0), digits(c.Allocs, 2),
				digits(c.P50Micros, 0), digits(c.P99Micros, 0)}
			if c.Client == ours {
				line = append(line, ratioCell(row.CPU), barCell(row.CPU, "<="),
					ratioCell(row.Throughput), barCell(row.Throughput, ">="), barCell(row.Allocs, "<="))
			} else {
				line = append(line, "", "", "", "", "")
			}
			cells = append(cells, line)
		}
	}
	return cells
}

// ratioCell names the client that is compared with.
func ratioCell(j *judged) string {
	if j == nil {
		return ""
	}
	return digits(j.Value, 2) + " " + j.Best
}

func barCell(j *judged, sign string) string {
	if j == nil {
		return ""
	}
	verdict := "ok"
	if !j.OK {
		verdict = "OFF"
	}
	return sign + strconv.FormatFloat(j.Bar, 'g', 3, 64) + " " + verdict
}

func numbers(list []float64, n int) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = digits(list[i], n)
	}
	return strings.Join(texts, " ")
}

func digits(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }

// printTable writes rows of cells, the first of which is the head.
func printTable(w io.Writer, cells [][]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	rule := slices.Repeat([]string{"---"}, len(cells[0]))
	for _, line := range slices.Insert(cells, 1, rule) {
		fmt.Fprintf(tw, "| %s\t|\n", strings.Join(line, "\t| "))
	}
	tw.Flush()
	fmt.Fprintln(w)
}
