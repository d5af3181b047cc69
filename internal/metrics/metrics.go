// Package metrics is the table of what a node tells about itself: the fields of
// INFO, one row a field. The values come from sources that the server binds to
// the rows by name; a test fails when a row lacks its source or a source its row.
package metrics

import (
	"strings"
)

// Source appends a field's value, without line end. V is what the asker has
// gathered for the occasion, once for all fields. Any goroutine may call it.
type Source[V any] func(dst []byte, v V) []byte

// Field is one line of INFO, or a part whose lines depend on the data.
type Field struct {
	// Name is the field's name; empty: the section's lines are all written by
	// one source, which is bound under the section's name.
	Name string
	// Help says what the value means, in a sentence without a stop.
	Help string
}

// Section is a part of INFO.
type Section struct {
	// Name is the title; INFO takes it in any letter case.
	Name string
	// Extra sections are shown only when asked for, or by "all".
	Extra bool
	// Named sections are shown only when asked for by their own name.
	Named bool
	// Fields are the lines in their order.
	Fields []Field
}

// Info answers INFO from bound sources. Bind everything before the first use;
// afterwards any goroutine may call Append.
type Info[V any] struct {
	sources map[string]Source[V]
}

// NewInfo makes an Info with the given sources: see [Sections] for the names.
func NewInfo[V any](sources map[string]Source[V]) *Info[V] { return &Info[V]{sources: sources} }

// Unbound lists the rows without a source and the sources without a row.
func (i *Info[V]) Unbound() (rows, sources []string) {
	known := map[string]bool{}
	for _, s := range Sections {
		for _, f := range s.Fields {
			name := f.key(&s)
			known[name] = true
			if i.sources[name] == nil {
				rows = append(rows, name)
			}
		}
	}
	for name := range i.sources {
		if !known[name] {
			sources = append(sources, name)
		}
	}
	return rows, sources
}

func (f *Field) key(s *Section) string {
	if f.Name == "" {
		return s.Name
	}
	return f.Name
}

// Append writes the text of INFO for the sections asked for; none: the default
// ones.
func (i *Info[V]) Append(dst []byte, asked []string, v V) []byte {
	start := len(dst)
	for n := range Sections {
		s := &Sections[n]
		if !s.asked(asked) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, "\r\n"...)
		}
		dst = append(append(append(dst, "# "...), s.Name...), "\r\n"...)
		for n := range s.Fields {
			dst = i.appendField(dst, s, &s.Fields[n], v)
		}
	}
	return dst
}

func (i *Info[V]) appendField(dst []byte, s *Section, f *Field, v V) []byte {
	source := i.sources[f.key(s)]
	if source == nil {
		return dst
	}
	if f.Name == "" {
		return source(dst, v)
	}
	dst = append(append(dst, f.Name...), ':')
	return append(source(dst, v), "\r\n"...)
}

func (s *Section) asked(names []string) bool {
	if len(names) == 0 {
		return !s.Extra && !s.Named
	}
	for _, name := range names {
		switch {
		case strings.EqualFold(name, s.Name):
			return true
		case s.Named:
		case strings.EqualFold(name, "all"), strings.EqualFold(name, "everything"):
			return true
		case strings.EqualFold(name, "default") && !s.Extra:
			return true
		}
	}
	return false
}
