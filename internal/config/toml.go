package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Bounds of a TOML file. The library descends once for each nested bracket, and
// copies the whole key of each nested table: a mebibyte of brackets ends the
// process for want of stack, 20 thousand braces or dots take gigabytes. A
// configuration has no tables at all, so the bounds leave plenty of room.
const (
	tomlMax       = 64 << 10 // bytes
	tomlBracesMax = 64       // "{" in a file
	tomlDotsMax   = 128      // "." in a line
)

// tomlShape refuses a text that would cost the library too much.
func tomlShape(path string, text []byte) error {
	if len(text) > tomlMax {
		return fmt.Errorf("%s: longer than %d bytes", path, tomlMax)
	}
	if bytes.Count(text, []byte("{")) > tomlBracesMax {
		return fmt.Errorf("%s: more than %d braces", path, tomlBracesMax)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if bytes.Count(line, []byte(".")) > tomlDotsMax {
			return fmt.Errorf("%s:%d: more than %d dots", path, number, tomlDotsMax)
		}
	}
	return nil
}

// toml reads a TOML file: top-level keys, in the order they stand in.
func (l *loader) toml(path string, text []byte) error {
	if err := tomlShape(path, text); err != nil {
		return err
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
			if _, known := Lookup(name); !known && name != userName {
				err = fmt.Errorf("a table called %q is not expected: all keys stand at the top level", clip(name))
			}
			return fmt.Errorf("%s: %w", origin, err)
		}
		if name == userName {
			err = l.users(values, origin)
		} else {
			err = l.c.load(name, values, origin, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) users(texts []string, origin string) error {
	for _, text := range texts {
		if err := l.c.addUser(strings.Fields(text), origin); err != nil {
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
