package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// align pads the cells of each column to one width: the first column to the
// left, the others to the right. A row may be shorter than others.
func align(rows [][]string) []byte {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			// A text that ends its row may be long: it moves no column.
			if i < len(row)-1 || len(row) == len(rows[0]) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	var out []byte
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			switch {
			case i == 0:
				line += cell + pad
			case i == len(row)-1 && len(row) < len(rows[0]):
				line += "  " + cell
			default:
				line += "  " + pad + cell
			}
		}
		out = append(append(out, strings.TrimRight(line, " ")...), '\n')
	}
	return out
}

var trafficHeader = []string{
	"row", "cpu B/R", "raw", "load", "by", "judged B/R", "spread", "target", "", "throughput B/R", "spread", "target", "",
	"us/cmd R", "B", "p50 us R", "B", "p99 R", "B", "p99.9 R", "B",
}

func trafficCells(results []trafficResult) [][]string {
	rows := [][]string{trafficHeader}
	for i := range results {
		r := &results[i]
		if r.Failure != "" {
			rows = append(rows, []string{r.Row, "failed: " + r.Failure})
			continue
		}
		row := []string{r.Row, ratio(r.RelativeCPU.Median), ratio(r.RawCPU.Median), ratio(r.LoadCPU.Median), string(r.JudgedBy)}
		row = append(row, judgedCells(r.CPU, "<=")...)
		row = append(row, judgedCells(r.Throughput, ">=")...)
		row = append(row, digits(r.RedisMicros.Median, 3), digits(r.BowlineMicros.Median, 3))
		for _, pick := range []func(percentiles) float64{
			func(p percentiles) float64 { return p.P50 },
			func(p percentiles) float64 { return p.P99 },
			func(p percentiles) float64 { return p.P999 },
		} {
			row = append(row, digits(pick(r.RedisLatency), 0), digits(pick(r.BowlineLatency), 0))
		}
		rows = append(rows, row)
	}
	return rows
}

// judgedCells are four: the median, the spread, the target, the verdict.
func judgedCells(j judged, sign string) []string {
	target := "-"
	if j.Target > 0 {
		target = sign + ratio(j.Target)
	}
	return []string{ratio(j.Median), ratio(j.Min) + "-" + ratio(j.Max), target, string(j.Verdict)}
}

var stateHeader = []string{"row", "unit", "redis-server", "bowline", "ratio", "target", ""}

func stateCells(results []stateResult) [][]string {
	rows := [][]string{stateHeader}
	for i := range results {
		r := &results[i]
		if r.Failure != "" {
			rows = append(rows, []string{r.Row, "failed: " + r.Failure})
			continue
		}
		both, target := "-", "-"
		if r.Redis != nil && r.Bowline != nil && *r.Redis != 0 {
			both = ratio(*r.Bowline / *r.Redis)
		}
		if r.Target > 0 {
			target = fmt.Sprintf("<=%g", r.Target)
		}
		rows = append(rows, []string{r.Row, r.Unit, optional(r.Redis), optional(r.Bowline), both, target, string(r.Verdict)})
	}
	return rows
}

func optional(f *float64) string {
	if f == nil {
		return "-"
	}
	if *f >= 10_000 {
		return digits(*f, 0)
	}
	return digits(*f, 1)
}

func ratio(f float64) string { return digits(f, 2) }

func digits(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
