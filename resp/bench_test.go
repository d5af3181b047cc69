package resp

import (
	"bytes"
	"strconv"
	"testing"
)

var sinkInt int

func BenchmarkReadSet(b *testing.B) {
	wire := AppendCommandStrings(nil, "SET", "key:000000000001", "value-of-16-byte")
	var r CommandReader
	arena := make([][]byte, 0, 16)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, n, err := r.Next(wire, arena)
		if err != nil {
			b.Fatal(err)
		}
		sinkInt += n
	}
}

func BenchmarkReadInlineGet(b *testing.B) {
	wire := []byte("GET key:000000000001\r\n")
	var r CommandReader
	arena := make([][]byte, 0, 16)
	b.ReportAllocs()
	for b.Loop() {
		_, _, n, err := r.Next(wire, arena)
		if err != nil {
			b.Fatal(err)
		}
		sinkInt += n
	}
}

// BenchmarkReadPipeline64 reports the time of a whole pipeline of 64 commands.
func BenchmarkReadPipeline64(b *testing.B) {
	var wire []byte
	for i := range 64 {
		wire = AppendCommandStrings(wire, "SET", "key:"+strconv.Itoa(1_000_000+i), "value-of-16-byte")
	}
	var r CommandReader
	arena := make([][]byte, 0, 256)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		rest := arena
		for p := 0; p < len(wire); {
			_, next, n, err := r.Next(wire[p:], rest)
			if err != nil {
				b.Fatal(err)
			}
			rest, p = next, p+n
		}
	}
}

// BenchmarkReadTrickle reads a command of a thousand arguments that comes in pieces of
// 512 bytes: what it costs must grow with its length, not with the number of pieces.
func BenchmarkReadTrickle(b *testing.B) {
	args := make([][]byte, 1000)
	for i := range args {
		args[i] = []byte("element:" + strconv.Itoa(i))
	}
	wire := AppendCommand(nil, args...)
	var r CommandReader
	arena := make([][]byte, 0, 1024)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		for end := 512; ; end += 512 {
			_, _, _, err := r.Next(wire[:min(end, len(wire))], arena)
			if err == nil {
				break
			}
		}
	}
}

func BenchmarkWriteBulk16(b *testing.B) {
	w := Writer{B: make([]byte, 0, 1<<16)}
	value := bytes.Repeat([]byte("v"), 16)
	b.ReportAllocs()
	for b.Loop() {
		if len(w.B) > 60_000 {
			w.B = w.B[:0]
		}
		w.Bulk(value)
	}
}

func BenchmarkWriteInt(b *testing.B) {
	for _, n := range []int64{1, 42, 123_456, 1234567890123} {
		b.Run(strconv.FormatInt(n, 10), func(b *testing.B) {
			w := Writer{B: make([]byte, 0, 1<<16)}
			b.ReportAllocs()
			for b.Loop() {
				if len(w.B) > 60_000 {
					w.B = w.B[:0]
				}
				w.Int(n)
			}
		})
	}
}

func BenchmarkWriteDouble(b *testing.B) {
	for _, f := range []float64{3, 0.1, 1234.5678} {
		b.Run(strconv.FormatFloat(f, 'g', -1, 64), func(b *testing.B) {
			w := Writer{B: make([]byte, 0, 1<<16), Proto: 3}
			b.ReportAllocs()
			for b.Loop() {
				if len(w.B) > 60_000 {
					w.B = w.B[:0]
				}
				w.Double(f)
			}
		})
	}
}

func BenchmarkReplyBulk16(b *testing.B) { benchmarkReply(b, "$16\r\nvalue-of-16-byte\r\n") }

func BenchmarkReplyOK(b *testing.B) { benchmarkReply(b, "+OK\r\n") }

func BenchmarkReplyArray10(b *testing.B) {
	var w Writer
	w.Array(10)
	for range 10 {
		w.BulkString("value-of-16-byte")
	}
	benchmarkReply(b, string(w.B))
}

func benchmarkReply(b *testing.B, wire string) {
	buf := []byte(wire)
	var r ReplyReader
	b.ReportAllocs()
	for b.Loop() {
		_, n, err := r.Next(buf)
		if err != nil {
			b.Fatal(err)
		}
		sinkInt += n
	}
}
