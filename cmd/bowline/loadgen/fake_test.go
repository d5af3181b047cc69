package loadgen

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/resp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a single server in memory, for virtual time. To GET and SET it answers what
// answer says, and OK where that is "".
type fake struct{ answer func(command string) string }

func (f *fake) options() client.Options {
	return client.Options{Addrs: []string{"fake:1"}, ConnsPerNode: 1, Timeout: -1, Dialer: f.dial}
}

func (f *fake) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go f.serve(there)
	return here, nil
}

// serve answers one command after the other. Whatever the answers do, what the client
// sends is taken at once, as a socket does: a pipe alone has no room.
func (f *fake) serve(nc net.Conn) {
	defer nc.Close()
	commands := make(chan string, 10_000)
	go receive(nc, commands)
	for name := range commands {
		if _, err := nc.Write([]byte(f.reply(name))); err != nil {
			return
		}
	}
}

// receive reads the names of commands until the client is gone.
func receive(nc net.Conn, commands chan<- string) {
	defer close(commands)
	var r resp.CommandReader
	var buf []byte
	chunk := make([]byte, 4096)
	for {
		args, _, n, err := r.Next(buf, nil)
		if errors.Is(err, resp.ErrIncomplete) {
			read, err := nc.Read(chunk)
			if err != nil {
				return
			}
			buf = append(buf, chunk[:read]...)
			continue
		}
		if err != nil {
			return
		}
		commands <- strings.ToUpper(string(args[0]))
		buf = buf[n:]
	}
}

func (f *fake) reply(name string) string {
	switch name {
	case "HELLO":
		return "-ERR unknown command 'HELLO'\r\n"
	case "CLUSTER":
		return "-ERR This instance has cluster support disabled\r\n"
	case "GET", "SET":
		if text := f.answer(name); text != "" {
			return text
		}
	}
	return "+OK\r\n"
}
