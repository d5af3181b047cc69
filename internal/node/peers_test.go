package node

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/topology"
)

// A node that may not log in to another one says which settings are for that, and how many
// messages did not arrive.
func TestABrokenLinkTellsWhatWasLost(t *testing.T) {
	for _, test := range []struct {
		name     string
		messages int
		replies  string
		want     []string
	}{
		{"refused at once", 1, "-NOAUTH Authentication required.\r\n", []string{"masterauth: NOAUTH Authentication required.", "messages_lost=1\n"}},
		{"refused later", 3, ":1\r\n:0\r\n-NOAUTH Authentication required.\r\n", []string{"NOAUTH", "messages_lost=1\n"}},
		{"closed", 2, "", []string{"error=EOF", "messages_lost=2\n"}},
		{"closed with an answer", 2, ":1\r\n", []string{"error=EOF", "messages_lost=1\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			logged := &lines{}
			log := slog.New(slog.NewTextHandler(logged, nil))
			ps := linkTo(t, l.Addr().(*net.TCPAddr).Port, log)
			for range test.messages {
				ps.relay([]byte("channel"), []byte("body"))
			}
			ps.start()
			defer ps.close()
			nc, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			in := bufio.NewReader(nc)
			for range test.messages * 9 { // lines of one command
				if _, err := in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			io.WriteString(nc, test.replies)
			nc.Close()
			for _, want := range test.want {
				eventually(t, "the log to have "+want, func() bool { return logged.count(want) == 1 })
			}
		})
	}
}

// A message for a node that is not there is lost, and counted.
func TestAMessageToNobodyIsLost(t *testing.T) {
	logged := &lines{}
	ps := linkTo(t, 0, slog.New(slog.NewTextHandler(logged, nil)))
	ps.relay([]byte("channel"), []byte("body"))
	ps.start()
	defer ps.close()
	eventually(t, "the message to be lost", func() bool { return logged.count("messages_lost=1\n") == 1 })
}

// linkTo makes the links of a node to one other, at a port of loopback.
func linkTo(t *testing.T, port int, log *slog.Logger) *peers {
	t.Helper()
	members := []topology.Member{{ID: topology.NodeIDOf("a"), Host: Loopback, Port: 1}, {ID: topology.NodeIDOf("b"), Host: Loopback, Port: port, TLSPort: 2}}
	m, err := topology.Even(members, 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.New()
	tls, err := newKeeper(cfg, log, false)
	if err != nil {
		t.Fatal(err)
	}
	return newPeers(m, members[0].ID, cfg, tls, log)
}
