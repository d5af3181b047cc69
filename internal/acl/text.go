package acl

import "strings"

// spaces can't stand in names and patterns: they part the words of a line.
const spaces = " \t\n\v\f\r\x00"

// ValidName says whether a user may have this name.
func ValidName(name string) bool { return name != "" && !strings.ContainsAny(name, spaces) }

// lower folds ASCII letters only: rules are bytes, not text of some language.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// words takes a line apart at spaces and tabs.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
}

// mergeSelectors joins the words of each selector that is spread over several.
func mergeSelectors(rules []string) ([]string, error) {
	merged := make([]string, 0, len(rules))
	open := -1 // where the selector begins that is not closed yet
	for i, rule := range rules {
		switch {
		case open < 0 && strings.HasPrefix(rule, "(") && !strings.HasSuffix(rule, ")"):
			open = i
		case open < 0:
			merged = append(merged, rule)
		case strings.HasSuffix(rule, ")"):
			merged = append(merged, strings.Join(rules[open:i+1], " "))
			open = -1
		}
	}
	if open >= 0 {
		return nil, unmatchedError(rules[open])
	}
	return merged, nil
}
