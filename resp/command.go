package resp

import "bytes"

const (
	// argWireMin is the length of the shortest argument on the wire, "$0\r\n\r\n".
	argWireMin = 6
	// MissingMax is the largest value that the Missing methods return, in bytes.
	MissingMax = 1 << 20
)

// CommandReader reads requests, multibulk or inline, out of a buffer that the caller
// owns. The zero value is ready and uses [DefaultLimits]. It holds a few words and no
// bytes of the input, so an idle connection's reader costs nothing more. It is not
// safe for concurrent use.
//
// Requests are judged as Redis 7.0 judges them, including its leniency: the second
// byte of a header's line end and the two bytes after an argument are skipped
// without a look. Two differences are deliberate. Redis searches lines with C string
// functions, so a zero byte in a line makes it wait until its limit is reached; here a
// zero byte is a byte like any other. And Redis applies the line limit only while
// it finds no line end, so that whether a line slightly too long is refused depends
// on how it was cut on the way; here it is always refused.
type CommandReader struct {
	// Limits may be changed between two commands.
	Limits Limits

	// The command begun at the start of the buffer, as far as it is known. Offsets
	// count from its first byte, as the buffer may move between calls.

	pos     int // header of the first argument not yet complete
	left    int // arguments from pos on; 0: the first header is not yet complete
	scanned int // no line end between pos and scanned
	missing int // bytes still missing at least, after ErrIncomplete
}

// Next reads one command from the start of buf.
//
// args are the command's arguments, the name first. They are appended to arena, and
// rest is arena with them: passing rest on to the next call keeps the commands of a
// batch in one array. When that array grows, the args of earlier commands stay valid
// and keep their content. Arguments are sub-slices of buf without spare capacity, so
// they live as long as the bytes of buf are left alone; a caller that keeps one
// longer copies it. The quotes of an inline command are resolved inside buf, so bytes
// that were consumed must not be read again.
//
// n is the number of bytes consumed. An empty line and a multibulk request of no
// arguments are consumed (n > 0) with no args and no error.
//
// With [ErrIncomplete] nothing is consumed, and the next call must get the same bytes
// with more after them, at any address; or [CommandReader.Reset] is called first. Any
// other error is a [ProtocolError], after which the connection is to be closed.
func (r *CommandReader) Next(buf []byte, arena [][]byte) (args [][]byte, rest [][]byte, n int, err error) {
	if r.left > 0 {
		if err := r.resume(buf); err != nil {
			return nil, arena, 0, err
		}
	}
	if len(buf) == 0 {
		r.missing = 1
		return nil, arena, 0, ErrIncomplete
	}
	if buf[0] != '*' {
		return r.nextInline(buf, arena)
	}
	return r.nextMultibulk(buf, arena)
}

// Missing returns, after [ErrIncomplete], how many bytes are missing at least: for
// sizing the next read. It is between 1 and [MissingMax], whatever length a peer has
// announced.
func (r *CommandReader) Missing() int { return max(1, r.missing) }

// Reset forgets a command begun, for a reader that is put to a new stream. Limits
// stay.
func (r *CommandReader) Reset() { r.pos, r.left, r.scanned, r.missing = 0, 0, 0, 0 }

func (r *CommandReader) nextMultibulk(buf []byte, arena [][]byte) (args, rest [][]byte, n int, err error) {
	left, p, err := r.count(buf)
	if err != nil {
		return nil, arena, 0, err
	}
	rest = arena
	maxBulk := r.Limits.maxBulk()
	for left > 0 {
		var size, body int
		// Nearly all lengths have one or two digits; the rest go the long way.
		if p+5 <= len(buf) && buf[p] == '$' {
			d, e := uint(buf[p+1])-'0', uint(buf[p+2])-'0'
			if d <= 9 && buf[p+2] == '\r' {
				size, body = int(d), p+4
			} else if d-1 < 9 && e <= 9 && buf[p+3] == '\r' {
				size, body = int(d*10+e), p+5
			}
		}
		if body == 0 || size > maxBulk {
			if size, body, err = r.bulkHeader(buf, p); err != nil {
				return nil, arena, 0, r.suspend(err, buf, p, left)
			}
		}
		end := body + size
		if end+2 > len(buf) {
			return nil, arena, 0, r.suspendBody(end+2-len(buf), p, left)
		}
		rest = append(rest, buf[body:end:end])
		p = end + 2
		left--
	}
	r.scanned = 0
	return rest[len(arena):len(rest):len(rest)], rest, p, nil
}

// resume goes on at the argument where the last call stopped and returns nil when the
// command is whole. It only walks over the arguments;
// they are collected once, by the ordinary way, when none is missing. So a command
// that trickles in costs two walks, however many pieces it came in, and the reader
// stores no offsets.
func (r *CommandReader) resume(buf []byte) error {
	if len(buf) < r.pos || len(buf) < r.scanned {
		return ErrIncomplete // fewer bytes than before: the caller's mistake, kept harmless
	}
	p, left := r.pos, r.left
	for left > 0 {
		size, body, err := r.bulkHeader(buf, p)
		if err != nil {
			return r.suspend(err, buf, p, left)
		}
		end := body + size
		if end+2 > len(buf) {
			return r.suspendBody(end+2-len(buf), p, left)
		}
		p = end + 2
		left--
	}
	r.Reset()
	return nil
}

// count reads the first header of a multibulk request: the number of arguments, and
// where they begin.
func (r *CommandReader) count(buf []byte) (n, next int, err error) {
	if len(buf) >= 4 && buf[2] == '\r' {
		if d := uint(buf[1]) - '0'; d <= 9 && int(d) <= r.Limits.maxArgs() {
			return int(d), 4, nil
		}
	}
	cr, err := r.headerEnd(buf, 0, errMultibulkLine)
	if err != nil {
		return 0, 0, err
	}
	v, ok := ParseInt(buf[1:cr])
	if !ok || v > defaultMaxArgs {
		return 0, 0, errMultibulkLength
	}
	if v > int64(r.Limits.maxArgs()) {
		if r.Limits.Unauthenticated {
			return 0, 0, errMultibulkLengthUnauth
		}
		return 0, 0, errMultibulkLength
	}
	return int(max(0, v)), cr + 2, nil
}

// bulkHeader reads the header at p: the length of an argument, and where it begins.
func (r *CommandReader) bulkHeader(buf []byte, p int) (size, body int, err error) {
	cr, err := r.headerEnd(buf, p, errBulkLine)
	if err != nil {
		return 0, 0, err
	}
	if buf[p] != '$' {
		return 0, 0, errExpectedBulk(buf[p])
	}
	v, ok := ParseInt(buf[p+1 : cr])
	if !ok || v < 0 || v > defaultMaxBulk && v > int64(r.Limits.maxBulk()) {
		return 0, 0, errBulkLength
	}
	if v > int64(r.Limits.maxBulk()) {
		if r.Limits.Unauthenticated {
			return 0, 0, errBulkLengthUnauth
		}
		return 0, 0, errBulkLength
	}
	return int(v), cr + 2, nil
}

// headerEnd finds the end of the header line at p: the offset of its CR, when the byte
// after that is there as well.
func (r *CommandReader) headerEnd(buf []byte, p int, tooBig ProtocolError) (int, error) {
	from := max(p, r.scanned)
	window := buf[:min(len(buf), p+r.Limits.maxInline()+1)]
	if from < len(window) {
		if i := bytes.IndexByte(window[from:], '\r'); i >= 0 {
			cr := from + i
			if cr+1 < len(buf) {
				return cr, nil
			}
			r.scanned, r.missing = cr, 1
			return 0, ErrIncomplete
		}
	}
	if len(window)-p > r.Limits.maxInline() {
		return 0, tooBig
	}
	r.scanned, r.missing = len(window), 1
	return 0, ErrIncomplete
}

// suspend remembers the place of an incomplete header.
func (r *CommandReader) suspend(err error, buf []byte, p, left int) error {
	if err == ErrIncomplete {
		r.pos, r.left = p, left
		r.setMissing(int64(left)*argWireMin - int64(len(buf)-p))
	}
	return err
}

// suspendBody remembers the place of an argument of which short bytes are missing.
// Its header will be read again, so that only one offset needs to be kept.
func (r *CommandReader) suspendBody(short, p, left int) error {
	r.pos, r.left, r.scanned = p, left, p
	r.setMissing(int64(short) + int64(left-1)*argWireMin)
	return ErrIncomplete
}

func (r *CommandReader) setMissing(n int64) {
	r.missing = int(min(max(n, 1), MissingMax))
}
