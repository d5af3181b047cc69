package netdrive

import (
	"io"
	"net"
	"strings"
	"testing"
)

func TestBrokenFramesGetAnErrorAndTheEnd(t *testing.T) {
	const (
		multibulk = "-ERR Protocol error: invalid multibulk length\r\n"
		bulk      = "-ERR Protocol error: invalid bulk length\r\n"
	)
	tests := []struct{ name, wire, want string }{
		{"count beyond 64 bits", "*99999999999999999999\r\n", multibulk},
		{"count beyond 31 bits", "*2147483648\r\n", multibulk},
		{"count is no number", "*x\r\n", multibulk},
		{"negative length", "*1\r\n$-1\r\n", bulk},
		{"length beyond 64 bits", "*1\r\n$18446744073709551617\r\n", bulk},
		{"argument too long", "*1\r\n$536870913\r\n", bulk},
		{"length is no number", "*2\r\n$4\r\nECHO\r\n$4x\r\n", bulk},
		{"nested array", "*2\r\n$4\r\nECHO\r\n*1\r\n$1\r\na\r\n", "-ERR Protocol error: expected '$', got '*'\r\n"},
		{"argument without header", "*1\r\nPING\r\n", "-ERR Protocol error: expected '$', got 'P'\r\n"},
		{"endless line", strings.Repeat("x", 70000), "-ERR Protocol error: too big inline request\r\n"},
		{"endless count", "*" + strings.Repeat("1", 70000), "-ERR Protocol error: too big mbulk count string\r\n"},
		{"unbalanced quotes", "ECHO \"a\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
		{"after good ones", "PING\r\nPING\r\n*-2\r\n*0\r\n\r\n*1\r\n$-5\r\nPING\r\n", "+PONG\r\n+PONG\r\n" + bulk},
		// What comes behind is passed over, and does not cost the client the error.
		{"with more behind", "*1\r\n$-1\r\n" + strings.Repeat("PING\r\n", 50000), bulk},
	}
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		bystander := f.dial(t)
		for _, test := range tests {
			nc := f.dial(t)
			send(t, nc, test.wire)
			if got, err := readToEnd(nc); got != test.want || err != nil {
				t.Errorf("%s: reply %.100q, %v, want %q", test.name, got, err, test.want)
			}
			ping(t, bystander)
		}
	})
}

func TestTruncatedFramesGetNoReply(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		for _, wire := range []string{"", "*", "*2\r\n", "*2\r\n$4\r\nECHO", "*2\r\n$4\r\nECHO\r\n$100000\r\nabc", "PING"} {
			nc := f.dial(t)
			send(t, nc, "PING\r\n"+wire)
			halfClose(t, nc)
			wantEnd(t, nc, "+PONG\r\n")
		}
	})
}

func TestHalfClosedClientGetsItsReplies(t *testing.T) {
	const size, n = 1 << 20, 12
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, strings.Repeat(command("FILL", "1048576"), n)+"PING\r\n")
		halfClose(t, nc)
		eventually(t, "all commands are executed", func() bool { return f.executed.Load() == n+1 })
		got, err := readToEnd(nc)
		if len(got) != n*(size+len("$1048576\r\n\r\n"))+len("+PONG\r\n") || err != nil || !strings.HasSuffix(got, "+PONG\r\n") {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

func TestRequestsMayComeByteByByte(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		slow, fast := f.dial(t), f.dial(t)
		for range 3 {
			for _, b := range []byte(command("ECHO", "slow\r\nloris") + "PING\r\n") {
				send(t, slow, string(b))
				ping(t, fast)
			}
			want(t, slow, "$11\r\nslow\r\nloris\r\n+PONG\r\n")
		}
	})
}

func TestNothingRunsAfterQuit(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "PING\r\n"+command("QUIT")+strings.Repeat(command("COUNT"), 1000))
		wantEnd(t, nc, "+PONG\r\n+OK\r\n")
		if n := f.executed.Load(); n != 2 {
			t.Errorf("%d commands were executed, want 2", n)
		}
		eventually(t, "the session is gone", func() bool { return f.registry.Len() == 0 })
	})
}

func TestPipelinesAreReadAndWrittenAtOnce(t *testing.T) {
	forPlain(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		ping(t, nc)
		const n = 100 // in one segment
		wire := strings.Repeat(command("PING"), n)
		for range 3 { // the portable driver starts with a small buffer
			send(t, nc, wire)
			want(t, nc, strings.Repeat("+PONG\r\n", n))
		}
		eventually(t, "the writes are counted", func() bool { return f.driver.Stats().Out == 7+3*n*7 })
		before := f.driver.Stats()
		send(t, nc, wire)
		want(t, nc, strings.Repeat("+PONG\r\n", n))
		var after Stats
		eventually(t, "the write is counted", func() bool { after = f.driver.Stats(); return after.Out-before.Out == n*7 })
		if reads, writes := after.Reads-before.Reads, after.Writes-before.Writes; reads != 1 || writes != 1 {
			t.Errorf("%d reads and %d writes for a pipeline of %d", reads, writes, n)
		}
		if in := after.In - before.In; in != uint64(len(wire)) {
			t.Errorf("%d bytes in, want %d", in, len(wire))
		}
	})
}

func TestLargeArgumentsComeBackWhole(t *testing.T) {
	forDrivers(t, Limits{QueryBuffer: 1 << 30}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		for _, size := range []int{1 << 10, 40 << 10, 64 << 10, 100 << 10, 5 << 20, 3} {
			value := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
			request := command("ECHO", value)
			go nc.Write([]byte(request + "PING\r\n")) // a failure shows in the reply
			want(t, nc, request[len(command("ECHO"))-len("*1")+len("*2"):]+"+PONG\r\n")
		}
	})
}

// A client that writes everything before it reads anything must not wait for a
// server that waits for it.
func TestLongPipelineBeforeTheFirstReadDoesNotBlock(t *testing.T) {
	forPlain(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		one := command("ECHO", "0123456789")
		block, n := strings.Repeat(one, 10000), 0
		for sent := 0; sent < 50<<20; sent += len(block) {
			send(t, nc, block)
			n += 10000
		}
		replies := strings.Repeat("$10\r\n0123456789\r\n", 10000)
		for ; n > 0; n -= 10000 {
			want(t, nc, replies)
		}
		ping(t, nc)
	})
}

func halfClose(t *testing.T, nc net.Conn) {
	t.Helper()
	if err := nc.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

func readToEnd(nc net.Conn) (string, error) {
	got, err := io.ReadAll(nc)
	return string(got), err
}
