package resp

import "bytes"

// nextInline reads one line and splits it into arguments.
func (r *CommandReader) nextInline(buf []byte, arena [][]byte) (args, rest [][]byte, n int, err error) {
	limit := r.Limits.maxInline()
	window := buf[:min(len(buf), limit+1)]
	from := min(r.scanned, len(window))
	i := bytes.IndexByte(window[from:], '\n')
	if i < 0 {
		if len(window) > limit {
			return nil, arena, 0, errInlineSize
		}
		r.scanned, r.missing = len(window), 1
		return nil, arena, 0, ErrIncomplete
	}
	r.scanned = 0
	end := from + i
	line := window[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	rest, ok := splitLine(line, arena)
	if !ok {
		return nil, arena, 0, errInlineQuotes
	}
	return rest[len(arena):len(rest):len(rest)], rest, end + 1, nil
}

// splitLine appends the words of line to out. Quoted parts are resolved in place: what
// a word means is never longer than how it is written, so the writing offset cannot
// pass the reading offset. False: a quote is not closed, or is closed in the middle
// of a word.
func splitLine(line []byte, out [][]byte) ([][]byte, bool) {
	p := 0
	for {
		for p < len(line) && isSpace(line[p]) {
			p++
		}
		if p == len(line) {
			return out, true
		}
		word, next, ok := splitWord(line, p)
		if !ok {
			return out, false
		}
		out = append(out, word)
		p = next
	}
}

// splitWord reads the word that begins at p. A quote may begin anywhere in a word, and
// its end is the end of the word.
func splitWord(line []byte, p int) (word []byte, next int, ok bool) {
	start := p
	for p < len(line) && !endsWord(line[p]) {
		switch line[p] {
		case '"':
			end, next, ok := unquoteDouble(line, p, p+1)
			return line[start:end:end], next, ok
		case '\'':
			end, next, ok := unquoteSingle(line, p, p+1)
			return line[start:end:end], next, ok
		}
		p++
	}
	return line[start:p:p], p, true
}

// unquoteDouble moves the content of a double quoted part, from p on, to w. It returns
// the end of what it wrote and the offset behind the closing quote.
func unquoteDouble(line []byte, w, p int) (end, next int, ok bool) {
	for p < len(line) {
		c := line[p]
		switch {
		case c == '"':
			return w, p + 1, closesWord(line, p+1)
		case c == '\\' && p+3 < len(line) && line[p+1] == 'x' && isHex(line[p+2]) && isHex(line[p+3]):
			line[w] = hexValue(line[p+2])<<4 | hexValue(line[p+3])
			p += 4
		case c == '\\' && p+1 < len(line):
			line[w] = unescape(line[p+1])
			p += 2
		default:
			line[w] = c
			p++
		}
		w++
	}
	return w, p, false
}

// unquoteSingle is unquoteDouble for single quotes, where the only escape is that of
// the quote.
func unquoteSingle(line []byte, w, p int) (end, next int, ok bool) {
	for p < len(line) {
		c := line[p]
		switch {
		case c == '\'':
			return w, p + 1, closesWord(line, p+1)
		case c == '\\' && p+1 < len(line) && line[p+1] == '\'':
			line[w] = '\''
			p += 2
		default:
			line[w] = c
			p++
		}
		w++
	}
	return w, p, false
}

func closesWord(line []byte, p int) bool { return p == len(line) || isSpace(line[p]) }

// isSpace knows the six characters of the C locale.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// endsWord knows fewer characters than isSpace: Redis takes vertical tab and form feed
// for space before a word, but for content inside one.
func endsWord(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isHex(c byte) bool { return c-'0' < 10 || (c|0x20)-'a' < 6 }

// hexValue is for characters that isHex accepts.
func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}
