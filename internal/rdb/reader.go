package rdb

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Key is what a file says of a key besides its value.
type Key struct {
	// DB is the database.
	DB int
	// Name is the key.
	Name []byte
	// ExpireAt is a unix time in milliseconds; 0: never.
	ExpireAt int64
	// IdleSeconds is for how long it was not used, -1: unknown; Freq is its logarithmic
	// counter of uses, -1: unknown.
	IdleSeconds int64
	Freq        int
}

// Options say what to do with what has no place here.
type Options struct {
	// SkipUnsupported passes over streams, functions and module data, instead of
	// refusing the file with [ErrUnsupported].
	SkipUnsupported bool
	// Aux is told of the fields at the head of a file, if it is not nil.
	Aux func(name, value []byte) error
	// NoChecksum: the checksum is not compared.
	NoChecksum bool
}

// Read reads a file into a sink. Errors that wrap [ErrCorrupt] or
// [ErrUnsupported] say at which offset and, if so, in which key. What was given to
// the sink before stays there.
func Read(from io.Reader, sink Sink, o Options) error {
	r := &reader{elements: elements{source: newSource(from), sink: sink}, o: o}
	r.key = Key{IdleSeconds: -1, Freq: -1}
	err := r.file()
	switch {
	case err == nil:
		return nil
	case r.name != nil:
		return fmt.Errorf("read snapshot: key %.100q, offset %d: %w", r.name, r.offset(), err)
	}
	return fmt.Errorf("read snapshot: offset %d: %w", r.offset(), err)
}

// reader reads a file.
type reader struct {
	elements
	o       Options
	version int
	key     Key
	name    []byte // of the key being read, a copy; nil: none
}

const magic = "REDIS"

func (r *reader) file() error {
	var head [9]byte
	if err := r.read(head[:]); err != nil {
		return err
	}
	version, err := strconv.Atoi(string(head[len(magic):]))
	switch {
	case string(head[:len(magic)]) != magic || err != nil || version < 1:
		return corrupt("it does not begin as a snapshot")
	case version > Version:
		return fmt.Errorf("%w: version %d of the format", ErrUnsupported, version)
	}
	r.version = version
	for done := false; !done; {
		if done, err = r.next(); err != nil {
			return err
		}
	}
	return r.checksum()
}

// checksum compares what is behind the end mark.
func (r *reader) checksum() error {
	if r.version < 5 {
		return nil
	}
	have := r.crc
	want, err := r.uint64()
	if err == nil && want != 0 && want != have && !r.o.NoChecksum {
		err = corrupt("the checksum is %016x, want %016x", have, want)
	}
	return err
}

// next reads a mark, or a key and its value.
func (r *reader) next() (done bool, err error) {
	op, err := r.byte()
	if err != nil {
		return false, err
	}
	switch op {
	case opEOF:
		return true, nil
	case opSelectDB:
		n, err := r.len()
		if err == nil && n > 1<<24 {
			err = corrupt("database %d", n)
		}
		r.key.DB = int(n)
		return false, err
	case opResizeDB:
		return false, r.skipLens(2)
	case opSlotInfo:
		return false, r.skipLens(3)
	case opExpireMillis:
		at, err := r.uint64()
		r.key.ExpireAt = int64(at)
		return false, err
	case opExpireSeconds:
		at, err := r.uint32()
		r.key.ExpireAt = int64(int32(at)) * 1000
		return false, err
	case opIdle:
		n, err := r.len()
		r.key.IdleSeconds = int64(n)
		return false, err
	case opFreq:
		n, err := r.byte()
		r.key.Freq = int(n)
		return false, err
	case opAux:
		return false, r.aux()
	case opFunction, opFunctionPreGA, opModuleAux:
		return false, r.foreign(op)
	}
	return false, r.keyAndValue(Type(op))
}

func (r *reader) aux() error {
	var err error
	if r.hold, err = r.appendString(r.hold[:0]); err != nil {
		return err
	}
	value, err := r.string()
	if err != nil || r.o.Aux == nil {
		return err
	}
	return r.o.Aux(r.hold, value)
}

// foreign passes over what is about no key.
func (r *reader) foreign(op byte) error {
	if !r.o.SkipUnsupported || op == opFunctionPreGA {
		return fmt.Errorf("%w: functions or module data", ErrUnsupported)
	}
	if op == opFunction {
		return r.skipString()
	}
	// The module's ID, and when it was saved.
	if err := r.skipLens(3); err != nil {
		return err
	}
	return r.skipModule()
}

func (r *reader) keyAndValue(t Type) error {
	name, err := r.string()
	if err != nil {
		return err
	}
	r.name = append(r.name[:0:0], name...)
	switch t {
	case TypeStreamListpacks, TypeStreamListpacks2, TypeStreamListpacks3, TypeModule, TypeModule2:
		err = r.foreignValue(t)
	default:
		if r.key.ExpireAt < 0 {
			r.key.ExpireAt = 1 // long ago
		}
		r.key.Name = r.name
		if err = r.sink.Key(&r.key); err == nil {
			err = r.value(t)
		}
	}
	if err != nil {
		return err
	}
	r.name = nil
	r.key = Key{DB: r.key.DB, IdleSeconds: -1, Freq: -1}
	return nil
}

func (r *reader) foreignValue(t Type) error {
	switch {
	case !r.o.SkipUnsupported || t == TypeModule:
		return fmt.Errorf("%w: a value of type %d", ErrUnsupported, t)
	case t == TypeModule2:
		if err := r.skipLens(1); err != nil {
			return err
		}
		return r.skipModule()
	}
	return r.skipStream(t)
}

// ErrDump: a payload is not of this format, or of a newer version.
var ErrDump = errors.New("DUMP payload version or checksum are wrong")

// CheckDump checks version and checksum of a payload of DUMP; it returns
// [ErrDump], or nil.
func CheckDump(payload []byte) error {
	if len(payload) < footerBytes+1 {
		return ErrDump
	}
	footer := payload[len(payload)-footerBytes:]
	version := int(footer[0]) | int(footer[1])<<8
	crc := uint64(0)
	for i := range 8 {
		crc |= uint64(footer[2+i]) << (8 * i)
	}
	if version > Version || crc != Checksum(0, payload[:len(payload)-8]) {
		return ErrDump
	}
	return nil
}

// ReadDump reads the value of a payload that [CheckDump] has accepted. Errors wrap
// [ErrCorrupt] or [ErrUnsupported], or are those of the sink.
func ReadDump(payload []byte, sink Sink) error {
	body := &limited{b: payload[:len(payload)-footerBytes]}
	r := &elements{source: &source{r: body, buf: make([]byte, 0, min(bufferBytes, len(payload)))}, sink: sink}
	t, err := r.byte()
	if err != nil {
		return fmt.Errorf("read dump: %w", err)
	}
	if _, known := kindOf(Type(t)); !known && Type(t) <= TypeHashListpackEx {
		return fmt.Errorf("read dump: %w: a value of type %d", ErrUnsupported, t)
	}
	if err := r.value(Type(t)); err != nil {
		return fmt.Errorf("read dump: offset %d: %w", r.offset(), err)
	}
	if r.at < len(r.buf) || len(body.b) > 0 {
		return fmt.Errorf("read dump: %w", corrupt("bytes behind the value"))
	}
	return nil
}

// limited reads from bytes.
type limited struct{ b []byte }

func (l *limited) Read(p []byte) (int, error) {
	if len(l.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.b)
	l.b = l.b[n:]
	return n, nil
}
