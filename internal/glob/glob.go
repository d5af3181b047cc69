// Package glob matches byte strings against the patterns of KEYS, SCAN, CONFIG
// GET, PSUBSCRIBE and ACL rules.
//
// A pattern is a sequence of
//
//   - '*', which stands for any run of bytes, also an empty one;
//   - '?', which stands for any one byte;
//   - '[abc]', '[a-z]', '[^a-z]', a byte that is, or is not, in the class;
//   - '\' and a byte, which stands for that byte; as do all other bytes.
//
// The corners follow Redis, not POSIX: a class that is not closed extends to
// the end of the pattern, '[]' matches nothing and '[^]' any byte, the ends of
// a range may stand in either order, ']' may be the end of a range ('[a-]' is
// an open class), a backslash at the very end stands for itself. The empty text
// is matched by the empty pattern and by "*" alone, not by "**".
//
// The package promises work bounded by len(pattern) * len(text) steps and no
// allocation, whatever a client sends as pattern. It knows bytes only, no
// characters of several bytes.
package glob

// Match reports whether all of s matches pattern. It keeps neither slice.
func Match(pattern, s []byte) bool { return match(pattern, s, false) }

// MatchFold is [Match] that takes an ASCII letter and its other case as equal.
func MatchFold(pattern, s []byte) bool { return match(pattern, s, true) }

// match keeps a single place to go back to, the last '*' met: every other item
// of a pattern takes exactly one byte, so letting an earlier '*' take more
// could only repeat, further on, a search that failed already.
func match(pattern, s []byte, fold bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0 || len(pattern) == 1 && pattern[0] == '*'
	}
	p, i := 0, 0
	star, taken := -1, 0 // place after the last '*', and where its run ends
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, taken = p, i
			if p == len(pattern) {
				return true
			}
			continue
		}
		if p < len(pattern) {
			if next, ok := matchOne(pattern, p, s[i], fold); ok {
				p = next
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		taken++
		p, i = star, taken
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne compares one byte with the item at pattern[p], which is no '*', and
// returns the place of the next item when they match.
func matchOne(pattern []byte, p int, c byte, fold bool) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, c, fold)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, same(pattern[p], c, fold)
}

// matchClass compares c with the class whose first byte is pattern[p].
func matchClass(pattern []byte, p int, c byte, fold bool) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	found := false
	for p < len(pattern) && pattern[p] != ']' {
		switch rest := len(pattern) - p; {
		case pattern[p] == '\\' && rest >= 2:
			found = found || same(pattern[p+1], c, fold)
			p += 2
		case rest >= 3 && pattern[p+1] == '-':
			found = found || within(pattern[p], pattern[p+2], c, fold)
			p += 3
		default:
			found = found || same(pattern[p], c, fold)
			p++
		}
	}
	// The closing bracket is taken with the class, where there is one.
	return min(p+1, len(pattern)), found != not
}

func same(a, b byte, fold bool) bool {
	return a == b || fold && lower(a) == lower(b)
}

func within(from, to, c byte, fold bool) bool {
	if from > to {
		from, to = to, from
	}
	if fold {
		from, to, c = lower(from), lower(to), lower(c)
	}
	return from <= c && c <= to
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
