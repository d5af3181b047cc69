package resp

import (
	"bytes"
	"math"
	"strconv"
)

const (
	// lineMax bounds a simple string, an error and a big number, in bytes: all that
	// is read without its length being known beforehand.
	lineMax = 1 << 20
	// numberMax bounds the line of a length, an integer, a double, a boolean and a
	// null, in bytes.
	numberMax = 64
)

const (
	errReplyType     ProtocolError = "Protocol error: a reply begins with an unknown byte"
	errReplyStreamed ProtocolError = "Protocol error: streamed replies are not supported"
	errReplyLine     ProtocolError = "Protocol error: too big line in a reply"
	errReplyLineEnd  ProtocolError = "Protocol error: a line of a reply ends without CR and LF"
	errReplyLength   ProtocolError = "Protocol error: invalid length in a reply"
	errReplyBulk     ProtocolError = "Protocol error: too big string in a reply"
	errReplyElems    ProtocolError = "Protocol error: too many elements in a reply"
	errReplyDepth    ProtocolError = "Protocol error: too deeply nested reply"
	errReplyNumber   ProtocolError = "Protocol error: invalid number in a reply"
	errReplyNull     ProtocolError = "Protocol error: invalid null in a reply"
	errReplyBool     ProtocolError = "Protocol error: invalid boolean in a reply"
	errReplyVerbatim ProtocolError = "Protocol error: invalid verbatim string in a reply"
	errReplyChanged  ProtocolError = "Protocol error: the reply changed while it was read"
)

// item is one part of a reply: a value without elements, or the header of an aggregate.
type item struct {
	kind   Kind
	count  int   // elements that follow, two for each pair of a map
	number int64 // as in [Value.Int]
	lo, hi int   // the text, as offsets
	end    int   // the first byte after the item
}

// fill sets what v has but for its elements and attributes.
func (it *item) fill(v *Value, buf []byte) {
	v.Kind, v.Int = it.kind, it.number
	switch it.kind {
	case KindSimple, KindError, KindBulk, KindBigNumber, KindBulkError:
		v.Str = buf[it.lo:it.hi:it.hi]
	case KindVerbatim:
		v.Ext = [3]byte(buf[it.lo : it.lo+3])
		v.Str = buf[it.lo+4 : it.hi : it.hi]
	}
}

// item reads the item at p into it.
func (r *ReplyReader) item(it *item, buf []byte, p int) (err error) {
	if p >= len(buf) {
		return r.suspend(len(buf), 0)
	}
	if it.shortBulk(buf, p) && it.hi-it.lo <= orDefault(r.MaxBulk, defaultMaxBulk) {
		return nil
	}
	kind, maxLine := kindOf(buf[p])
	if kind == KindInvalid {
		if buf[p] == ';' || buf[p] == '.' {
			return errReplyStreamed
		}
		return errReplyType
	}
	cr, err := r.lineEnd(buf, p+1, maxLine)
	if err != nil {
		return err
	}
	*it = item{kind: kind, lo: p + 1, hi: cr, end: cr + 2}
	line := buf[p+1 : cr]
	switch kind {
	case KindInt:
		it.number, err = parseReplyInt(line)
	case KindDouble:
		var f float64
		f, err = parseReplyDouble(line)
		it.number = int64(math.Float64bits(f))
	case KindBool:
		it.number, err = parseReplyBool(line)
	case KindBigNumber:
		err = checkBigNumber(line)
	case KindNull:
		if len(line) > 0 {
			err = errReplyNull
		}
	case KindBulk, KindBulkError, KindVerbatim:
		err = r.blob(it, buf, line)
	case KindArray, KindMap, KindSet, KindPush, KindAttribute:
		err = r.aggregate(it, line)
	}
	return err
}

// shortBulk is the short way for the commonest item, a whole bulk string of at most 99
// bytes. False: the item is something else, or the long way finds what is wrong with it.
func (it *item) shortBulk(buf []byte, p int) bool {
	if p+5 > len(buf) || buf[p] != '$' {
		return false
	}
	var lo, hi int
	d, e := uint(buf[p+1])-'0', uint(buf[p+2])-'0'
	switch {
	case d <= 9 && buf[p+2] == '\r' && buf[p+3] == '\n':
		lo = p + 4
		hi = lo + int(d)
	case d-1 < 9 && e <= 9 && buf[p+3] == '\r' && buf[p+4] == '\n':
		lo = p + 5
		hi = lo + int(d*10+e)
	default:
		return false
	}
	if hi+2 > len(buf) || buf[hi] != '\r' || buf[hi+1] != '\n' {
		return false
	}
	*it = item{kind: KindBulk, lo: lo, hi: hi, end: hi + 2}
	return true
}

// kindOf tells a reply's kind by its first byte, and the longest line that may follow.
func kindOf(c byte) (Kind, int) {
	switch c {
	case '+':
		return KindSimple, lineMax
	case '-':
		return KindError, lineMax
	case ':':
		return KindInt, numberMax
	case '$':
		return KindBulk, numberMax
	case '*':
		return KindArray, numberMax
	case '%':
		return KindMap, numberMax
	case '~':
		return KindSet, numberMax
	case '>':
		return KindPush, numberMax
	case '|':
		return KindAttribute, numberMax
	case '_':
		return KindNull, numberMax
	case ',':
		return KindDouble, numberMax
	case '#':
		return KindBool, numberMax
	case '(':
		return KindBigNumber, lineMax
	case '=':
		return KindVerbatim, numberMax
	case '!':
		return KindBulkError, numberMax
	}
	return KindInvalid, 0
}

// lineEnd finds the CR that ends the line at p, of at most limit bytes, and checks the
// LF after it.
func (r *ReplyReader) lineEnd(buf []byte, p, limit int) (int, error) {
	from := max(p, r.scanned)
	window := buf[:min(len(buf), p+limit+1)]
	if from < len(window) {
		if i := bytes.IndexByte(window[from:], '\r'); i >= 0 {
			cr := from + i
			if cr+1 == len(buf) {
				return 0, r.suspend(cr, 1)
			}
			if buf[cr+1] != '\n' {
				return 0, errReplyLineEnd
			}
			return cr, nil
		}
	}
	if len(window)-p > limit {
		return 0, errReplyLine
	}
	return 0, r.suspend(len(window), 2)
}

// blob takes the text after a header with its length.
func (r *ReplyReader) blob(it *item, buf, line []byte) error {
	n, err := replyLength(line)
	if err != nil {
		return err
	}
	if n < 0 {
		if it.kind != KindBulk {
			return errReplyLength
		}
		it.kind = KindNull
		return nil
	}
	if n > int64(orDefault(r.MaxBulk, defaultMaxBulk)) {
		return errReplyBulk
	}
	it.lo = it.end
	it.hi = it.lo + int(n)
	it.end = it.hi + 2
	if it.kind == KindVerbatim && (n < 4 || it.lo+3 < len(buf) && buf[it.lo+3] != ':') {
		return errReplyVerbatim
	}
	if it.end > len(buf) {
		// The header is read again when the rest is there; only its start is kept.
		return r.suspend(0, it.end-len(buf))
	}
	if buf[it.hi] != '\r' || buf[it.hi+1] != '\n' {
		return errReplyLineEnd
	}
	return nil
}

// aggregate takes the number of elements.
func (r *ReplyReader) aggregate(it *item, line []byte) error {
	n, err := replyLength(line)
	if err != nil {
		return err
	}
	if n < 0 {
		if it.kind != KindArray {
			return errReplyLength
		}
		it.kind = KindNull
		return nil
	}
	// A bound far above any limit keeps the doubling from overflowing.
	if n > math.MaxInt/4 {
		return errReplyElems
	}
	it.count = int(n)
	if it.kind == KindMap || it.kind == KindAttribute {
		it.count *= 2
	}
	return nil
}

// suspend remembers how far a line was searched; short bytes of the item at pos are
// missing at least, and some for each element after it.
func (r *ReplyReader) suspend(scanned, short int) error {
	r.scanned = scanned
	n := int64(max(1, short))
	for _, open := range r.open {
		// The count of the aggregates around the item includes an element of which
		// part is there already.
		n += max(int64(max(open, -open))-1, 0) * elemWireMin
		if n >= MissingMax {
			n = MissingMax
			break
		}
	}
	r.missing = int(min(n, MissingMax))
	return ErrIncomplete
}

// replyLength reads a length: -1 for a null, else not negative.
func replyLength(line []byte) (int64, error) {
	if len(line) == 1 && line[0] == '?' {
		return 0, errReplyStreamed
	}
	n, ok := ParseInt(line)
	if !ok || n < -1 {
		return 0, errReplyLength
	}
	return n, nil
}

// parseReplyInt allows the plus sign that the protocol allows but no server writes.
func parseReplyInt(line []byte) (int64, error) {
	if len(line) > 1 && line[0] == '+' && line[1] != '-' {
		line = line[1:]
	}
	n, ok := ParseInt(line)
	if !ok {
		return 0, errReplyNumber
	}
	return n, nil
}

func parseReplyDouble(line []byte) (float64, error) {
	switch string(line) {
	case "inf", "+inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	case "nan", "-nan": // the C library writes the sign of a NaN
		return math.NaN(), nil
	}
	// The standard library also knows hexadecimal digits, underscores and words.
	for _, c := range line {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, errReplyNumber
		}
	}
	f, err := strconv.ParseFloat(string(line), 64)
	if err != nil {
		return 0, errReplyNumber
	}
	return f, nil
}

func parseReplyBool(line []byte) (int64, error) {
	switch string(line) {
	case "t":
		return 1, nil
	case "f":
		return 0, nil
	}
	return 0, errReplyBool
}

// checkBigNumber wants a sign at most, and digits.
func checkBigNumber(line []byte) error {
	if len(line) > 0 && (line[0] == '-' || line[0] == '+') {
		line = line[1:]
	}
	if len(line) == 0 {
		return errReplyNumber
	}
	for _, c := range line {
		if c-'0' > 9 {
			return errReplyNumber
		}
	}
	return nil
}
