package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
)

// devSecured matches the addresses for TLS that bowline dev prints.
var devSecured = regexp.MustCompile(`(?m)^By TLS: (.+)$`)

// startDevTLS runs `bowline dev --tls` and gives the folder with its certificates,
// the addresses for clients without TLS, and those for clients with it.
func startDevTLS(t *testing.T) (dir string, plain, secured []string) {
	t.Helper()
	dir = t.TempDir()
	p, plain := startDev(t, "--tls", "--dir", dir)
	text, _ := p.out.get()
	found := devSecured.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no addresses for TLS in\n%s", text)
	}
	return dir, plain, strings.Fields(found[1])
}

// startServerTLS runs `bowline server` with the certificates of a folder and gives
// its address for TLS.
func startServerTLS(t *testing.T, dir string, args ...string) (p *process, addr string) {
	t.Helper()
	for range 5 {
		port := strconv.Itoa(freePort(t))
		p = start(t, nil, append([]string{"server", "--bind", "127.0.0.1", "--port", "0", "--tls-port", port,
			"--tls-ca-cert-file", filepath.Join(dir, "ca.crt"), "--tls-cert-file", filepath.Join(dir, "node.crt"),
			"--tls-key-file", filepath.Join(dir, "node.key")}, args...)...)
		if found, ok := p.waitFor(t, ready); ok {
			return p, found[1]
		}
		if text, _ := p.out.get(); !inUse.MatchString(text) {
			break
		}
	}
	t.Fatal("bowline server ended")
	return nil, ""
}

func clientTLS(t *testing.T, dir string, known bool) *tls.Config {
	t.Helper()
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AppendCertsFromPEM(authority)
	if known {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "node.crt"), filepath.Join(dir, "node.key"))
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func TestRedisCLIByTLS(t *testing.T) {
	dir, plain, secured := startDevTLS(t)
	for i, addr := range secured {
		key := "key:" + strconv.Itoa(i)
		args := []string{"-c", "--tls", "--cacert", filepath.Join(dir, "ca.crt"), "-p", portOf(t, addr)}
		if got := mustRun(t, "redis-cli", append(args, "set", key, addr)...); got != "OK\n" {
			t.Errorf("set: %q", got)
		}
		if got := mustRun(t, "redis-cli", "-c", "-p", portOf(t, plain[0]), "get", key); got != addr+"\n" {
			t.Errorf("get without TLS: %q", got)
		}
	}
	// One process follows redirects to the TLS ports of all nodes.
	var commands, want strings.Builder
	for i := range 100 {
		fmt.Fprintf(&commands, "set n%d %d\n", i, i)
		want.WriteString("OK\n")
	}
	got, err := runWith(commands.String(), "redis-cli", "-c", "--tls", "--cacert", filepath.Join(dir, "ca.crt"), "-p", portOf(t, secured[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got = regexp.MustCompile("(?m)^-> Redirected to slot .*\n").ReplaceAllString(got, ""); got != want.String() {
		t.Errorf("replies: %.200q", got)
	}
}

func TestOthersClientsByTLS(t *testing.T) {
	dir, _, secured := startDevTLS(t)
	ctx := deadline(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: secured[:1], TLSConfig: clientTLS(t, dir, false)})
	defer c.Close()
	for i := range 300 {
		key := fmt.Sprint("key", i)
		if err := c.Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Get(ctx, key).Int(); n != i || err != nil {
			t.Fatalf("get %s: %d, %v", key, n, err)
		}
	}
	var nodes atomic.Int32
	err := c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		nodes.Add(1)
		return node.FlushAll(ctx).Err()
	})
	if err != nil || nodes.Load() != 3 {
		t.Errorf("%d nodes, %v", nodes.Load(), err)
	}
	python(t, "cluster.py", portOf(t, secured[0]), filepath.Join(dir, "ca.crt"))
}

func TestServerWantsCertificatesByDefault(t *testing.T) {
	dir, _, _ := startDevTLS(t)
	_, addr := startServerTLS(t, dir)
	ctx := deadline(t)
	known := redis.NewClient(&redis.Options{Addr: addr, TLSConfig: clientTLS(t, dir, true)})
	defer known.Close()
	if err := known.Set(ctx, "a", strings.Repeat("x", 1<<20), 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := known.Get(ctx, "a").Result(); len(got) != 1<<20 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	known.FlushAll(ctx)
	stranger := redis.NewClient(&redis.Options{Addr: addr, TLSConfig: clientTLS(t, dir, false), MaxRetries: -1})
	defer stranger.Close()
	if err := stranger.Ping(ctx).Err(); err == nil {
		t.Error("a client without a certificate is served")
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"--tls", "--cacert", file("ca.crt"), "-p", portOf(t, addr)}
	if got := mustRun(t, "redis-cli", append(args, "--cert", file("node.crt"), "--key", file("node.key"), "ping")...); got != "PONG\n" {
		t.Errorf("redis-cli with a certificate: %q", got)
	}
	if got, err := run("redis-cli", append(args, "ping")...); err == nil && strings.Contains(got, "PONG") {
		t.Errorf("redis-cli without a certificate: %q", got)
	}
	python(t, "plain.py", portOf(t, addr), file("ca.crt"), file("node.crt"), file("node.key"))
}

func TestNewCertificateFilesAreTakenWhileClientsWork(t *testing.T) {
	dir, _, _ := startDevTLS(t)
	next, _, _ := startDevTLS(t)
	p, addr := startServerTLS(t, dir, "--tls-auth-clients", "no")
	ctx := deadline(t)
	old := redis.NewClient(&redis.Options{Addr: addr, TLSConfig: clientTLS(t, dir, false), PoolSize: 1, MaxRetries: -1})
	defer old.Close()
	if err := old.Set(ctx, "a", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node.crt", "node.key", "ca.crt"} {
		content, err := os.ReadFile(filepath.Join(next, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := p.waitFor(t, regexp.MustCompile(`msg="certificate loaded again"`)); !ok {
		t.Fatal("bowline server ended")
	}
	if n, err := old.Incr(ctx, "a").Result(); n != 2 || err != nil { // on the connection that it has
		t.Errorf("incr: %d, %v", n, err)
	}
	config := clientTLS(t, next, false)
	config.ServerName = "localhost"
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := tls.Client(nc, config).HandshakeContext(ctx); err != nil {
		t.Errorf("the new authority does not vouch for the node: %v", err)
	}
}
