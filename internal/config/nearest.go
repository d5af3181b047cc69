package config

import "strings"

// nearest returns the known name that takes the fewest single-letter changes to
// reach from name; empty when none is near enough to be meant.
func nearest(name string) string {
	const longest = 64 // bounds the work; no name of the table is longer
	if len(name) > longest {
		return ""
	}
	name = strings.ToLower(name)
	best, fewest := "", max(2, len(name)/3)+1
	for _, p := range rows {
		for _, known := range append([]string{p.Name}, p.Aliases...) {
			if n := distance(name, known); n < fewest {
				best, fewest = known, n
			}
		}
	}
	return best
}

// distance is the number of insertions, deletions and replacements of bytes
// between two texts. row[j] holds it for the prefix of a seen so far and b[:j].
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the name of the parameter that looks most like a mistyped
// one; empty: none does.
func Nearest(name string) string { return nearest(name) }
