package devcluster

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/secure"
	"github.com/bowline-kv/bowline/slot"
)

// startTLS starts three nodes that each have a port for TLS, and gives the
// configuration for clients, which show the nodes' own certificate.
func startTLS(t *testing.T, change func(index int, cfg *config.Config) error) (*Cluster, *tls.Config) {
	t.Helper()
	authority, err := secure.NewAuthority(rand.Reader, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := authority.Issue(time.Now(), time.Hour, "node")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": authority.PEM}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t, Options{Nodes: 3, TLS: true, Configure: func(index int, cfg *config.Config) error {
		for name := range files {
			if err := cfg.Load(name, []string{filepath.Join(dir, name)}, "test"); err != nil {
				return err
			}
		}
		return change(index, cfg)
	}})
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.PEM)
	return c, &tls.Config{RootCAs: pool, ServerName: "node", Certificates: []tls.Certificate{pair}}
}

// Clients are sent to ports of the kind by which they came.
func TestClientsSeeThePortsOfTheirKind(t *testing.T) {
	c, client := startTLS(t, func(int, *config.Config) error { return nil })
	plain := redistest.Dial(t, "tcp", c.Nodes[0].Addrs()[0].String())
	secured := redistest.DialTLS(t, c.Nodes[0].Addrs()[1].String(), client)
	for conn, want := range map[*redistest.Conn]func(g int) int{
		plain:   func(g int) int { return c.Map.Groups[g].Primary().Port },
		secured: func(g int) int { return c.Map.Groups[g].Primary().TLSPort },
	} {
		slots := fmt.Sprint(conn.Do("CLUSTER", "SLOTS"))
		nodes := fmt.Sprint(conn.Do("CLUSTER", "NODES"))
		for g := range c.Map.Groups {
			if port := strconv.Itoa(want(g)); !strings.Contains(slots, " "+port+" ") || !strings.Contains(nodes, ":"+port+"@") {
				t.Errorf("port %s is missing in\n%s\n%s", port, slots, nodes)
			}
		}
		moved := 0
		for i := range 30 {
			key := fmt.Sprint("k", i)
			s := slot.Of([]byte(key))
			g, _, _ := c.Map.Owner(s)
			if g == c.Map.Groups[0] {
				continue
			}
			port := g.Primary().Port
			if conn == secured {
				port = g.Primary().TLSPort
			}
			moved++
			if got, want := fmt.Sprint(conn.Do("GET", key)), fmt.Sprintf("MOVED %d %s", s, net.JoinHostPort(g.Primary().Host, strconv.Itoa(port))); got != want {
				t.Errorf("GET %s: %s, want %s", key, got, want)
			}
		}
		if moved < 5 {
			t.Errorf("only %d keys of other nodes", moved)
		}
	}
	// CLUSTER SHARDS shows both kinds to everybody.
	for _, conn := range []*redistest.Conn{plain, secured} {
		shards := fmt.Sprint(conn.Do("CLUSTER", "SHARDS"))
		m := c.Map.Groups[0].Primary()
		if !strings.Contains(shards, fmt.Sprintf("port %d tls-port %d ", m.Port, m.TLSPort)) {
			t.Errorf("CLUSTER SHARDS: %s", shards)
		}
	}
}

// With tls-cluster, messages between nodes go to the TLS port, where the sender
// has to show a certificate.
func TestMessagesBetweenNodesGoByTLS(t *testing.T) {
	c, client := startTLS(t, func(_ int, cfg *config.Config) error { return cfg.Load("tls-cluster", []string{"yes"}, "test") })
	listener := redistest.DialTLS(t, c.Nodes[1].Addrs()[1].String(), client)
	listener.Do("SUBSCRIBE", "news")
	redistest.DialTLS(t, c.Nodes[0].Addrs()[1].String(), client).Do("PUBLISH", "news", "hello")
	if got := fmt.Sprint(listener.Receive()); got != "[message news hello]" {
		t.Errorf("hears %s", got)
	}
	// The link is among the TLS connections of the node that hears: its own
	// listener, and the publisher's node.
	admin := redistest.Dial(t, "tcp", c.Nodes[1].Addrs()[0].String())
	if info := fmt.Sprint(admin.Do("INFO", "tls")); !strings.Contains(info, "tls_connections:2\r\n") {
		t.Errorf("INFO tls: %s", info)
	}
}
