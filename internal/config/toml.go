package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlMax is the most bytes of a TOML file. The library descends once for each
// nested bracket, so the length of a file bounds the stack that one can make it
// use: a mebibyte of brackets ends the process.
const tomlMax = 64 << 10

// toml reads a TOML file: top-level keys, in the order they stand in.
func (l *loader) toml(path string, text []byte) error {
	if len(text) > tomlMax {
		return fmt.Errorf("%s: longer than %d bytes", path, tomlMax)
	}
	var content map[string]any
	meta, err := toml.Decode(string(text), &content)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return fmt.Errorf("%s:%d: %s", path, syntax.Position.Line, syntax.Message)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	lines := keyLines(string(text))
	done := map[string]bool{}
	for _, key := range meta.Keys() {
		// The keys of a table follow the table's own; that one is refused below.
		name := key[0]
		if done[name] {
			continue
		}
		done[name] = true
		origin := path
		if n, ok := lines[name]; ok {
			origin = path + ":" + strconv.Itoa(n)
		}
		values, err := tomlValues(content[name])
		if err != nil {
			if _, known := Lookup(name); !known {
				err = fmt.Errorf("a table called %q is not expected: all keys stand at the top level", clip(name))
			}
			return fmt.Errorf("%s: %w", origin, err)
		}
		if err := l.c.load(name, values, origin, nil); err != nil {
			return err
		}
	}
	return nil
}

// tomlValues turns a TOML value into the words that redis.conf would have.
func tomlValues(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case int64:
		return []string{strconv.FormatInt(v, 10)}, nil
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case bool:
		if v {
			return []string{"yes"}, nil
		}
		return []string{"no"}, nil
	case []any:
		values := []string{}
		for _, element := range v {
			if _, nested := element.([]any); nested {
				return nil, errors.New("an array within an array is not expected")
			}
			words, err := tomlValues(element)
			if err != nil {
				return nil, err
			}
			values = append(values, words...)
		}
		return values, nil
	}
	return nil, errors.New("a value is a string, a number, a boolean or an array of these")
}

// keyLines finds the line of each key, which the library does not tell. It
// takes the first line that begins with the key and an equals sign, or with the
// key as the first part of a table's name; a text over several lines can mislead
// it, and only the place in an error is then wrong.
func keyLines(text string) map[string]int {
	lines := map[string]int{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimLeft(strings.TrimSpace(line), "[")
		end := strings.IndexAny(line, "=.]")
		if end < 0 {
			continue
		}
		key := strings.Trim(strings.TrimSpace(line[:end]), `"'`)
		if _, found := lines[key]; !found {
			lines[key] = number
		}
	}
	return lines
}
