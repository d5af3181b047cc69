package node

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/secure"
	"github.com/bowline-kv/bowline/internal/topology"
)

// vault is a folder with the files of an authority and certificates by it.
type vault struct {
	dir       string
	authority *secure.Authority
}

func newVault(t *testing.T) *vault {
	t.Helper()
	a, err := secure.NewAuthority(rand.Reader, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	v := &vault{t.TempDir(), a}
	v.write(t, "ca.crt", a.PEM)
	v.issue(t)
	return v
}

func (v *vault) path(name string) string { return filepath.Join(v.dir, name) }

func (v *vault) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(v.path(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pair makes a certificate and a key for the node.
func (v *vault) pair(t *testing.T) (cert, key []byte) {
	t.Helper()
	cert, key, err := v.authority.Issue(time.Now(), time.Hour, "localhost", Loopback)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// issue writes a new pair for the node.
func (v *vault) issue(t *testing.T) {
	t.Helper()
	cert, key := v.pair(t)
	v.write(t, "node.crt", cert)
	v.write(t, "node.key", key)
}

// settings name the files, with others behind them.
func (v *vault) settings(pairs ...string) []string {
	return append([]string{"tls-cert-file", v.path("node.crt"), "tls-key-file", v.path("node.key"), "tls-ca-cert-file", v.path("ca.crt")}, pairs...)
}

// client is a client's configuration, with a certificate or without.
func (v *vault) client(t *testing.T, known bool) *tls.Config {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(v.authority.PEM)
	c := &tls.Config{RootCAs: pool, ServerName: "localhost"}
	if known {
		cert, key, err := v.authority.Issue(time.Now(), time.Hour, "client")
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// startTLS serves one port without TLS and one with it, and gives the latter.
func startTLS(t *testing.T, log *slog.Logger, pairs ...string) (*Node, string) {
	t.Helper()
	listeners, err := ListenLoopback(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Start(Options{Config: settings(t, pairs...), Version: "test", Log: log, Listeners: listeners[:1], TLSListeners: listeners[1:]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	return n, listeners[1].Addr().String()
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestClientsByTLS(t *testing.T) {
	v := newVault(t)
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			n, addr := startTLS(t, quiet(), v.settings("network", driver)...)
			c, plain := redistest.DialTLS(t, addr, v.client(t, true)), dial(t, n)
			expect(t, c, "OK", "SET", "a", "1")
			expect(t, plain, "1", "GET", "a")
			if list := fmt.Sprint(plain.Do("CLIENT", "LIST")); strings.Count(list, "\n") != 2 || !strings.Contains(list, " laddr="+addr+" ") {
				t.Errorf("CLIENT LIST: %s", list)
			}
			large := strings.Repeat("x", 3<<20)
			expect(t, c, "OK", "SET", "large", large)
			expect(t, c, large, "GET", "large")
			for name, want := range map[string]string{"tls_enabled": "1", "tls_connections": "1", "tls_loads": "1", "tls_last_load_status": "ok", "tls_handshakes_failed": "0"} {
				if got := infoField(t, plain, name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			expect(t, c, "OK", "CLIENT", "KILL", c.Net().LocalAddr().String())
		})
	}
}

func TestClientsNeedACertificateAsTheSettingSays(t *testing.T) {
	v := newVault(t)
	n, addr := startTLS(t, quiet(), v.settings()...)
	admin := dial(t, n)
	for _, c := range []struct {
		auth string
		none bool
	}{{"yes", false}, {"optional", true}, {"no", true}, {"yes", false}} {
		expect(t, admin, "OK", "CONFIG", "SET", "tls-auth-clients", c.auth)
		expect(t, redistest.DialTLS(t, addr, v.client(t, true)), "PONG", "PING")
		stranger := redistest.DialTLS(t, addr, v.client(t, false))
		stranger.Send("PING")
		if got, err := stranger.TryReceive(); (err == nil) != c.none {
			t.Errorf("tls-auth-clients %s, without a certificate: %v, %v", c.auth, got, err)
		}
	}
	eventually(t, "two failed handshakes to be counted", func() bool { return infoField(t, admin, "tls_handshakes_failed") == "2" })
}

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// serial is the number of the certificate that a new connection is shown.
func serial(t *testing.T, addr string, client *tls.Config) string {
	t.Helper()
	nc, err := tls.Dial("tcp", addr, client)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	return nc.ConnectionState().PeerCertificates[0].SerialNumber.Text(16)
}

func TestCertificatesAreLoadedAgain(t *testing.T) {
	v, log := newVault(t), &lines{}
	n, addr := startTLS(t, slog.New(slog.NewTextHandler(log, nil)), v.settings()...)
	client := v.client(t, true)
	admin, old := dial(t, n), redistest.DialTLS(t, addr, client)
	expect(t, old, "PONG", "PING")
	first := serial(t, addr, client)

	// The old pair stays as long as the new one is not whole. The watch looks, too.
	cert, key := v.pair(t)
	v.write(t, "node.crt", cert)
	n.secure.check()
	n.secure.check()
	if got := serial(t, addr, client); got != first {
		t.Errorf("certificate %s is shown, the old one was %s", got, first)
	}
	if got := log.count("certificate not loaded again"); got != 1 {
		t.Errorf("%d lines in the log, want 1", got)
	}
	if status, failures := infoField(t, admin, "tls_last_load_status"), infoField(t, admin, "tls_load_failures"); status != "err" || failures != "1" {
		t.Errorf("status %s, %s failures", status, failures)
	}

	v.write(t, "node.key", key)
	n.secure.check()
	second := serial(t, addr, client)
	if second == first || second != infoField(t, admin, "tls_cert_serial") {
		t.Errorf("certificate %s is shown, before %s, INFO has %s", second, first, infoField(t, admin, "tls_cert_serial"))
	}
	n.secure.check()
	if got := log.count("certificate loaded again"); got != 1 || infoField(t, admin, "tls_last_load_status") != "ok" {
		t.Errorf("%d lines in the log, want 1; status %s", got, infoField(t, admin, "tls_last_load_status"))
	}
	expect(t, old, "PONG", "PING")

	// The watch does by itself what the test did.
	v.issue(t)
	eventually(t, "the third certificate is in use", func() bool { return infoField(t, admin, "tls_loads") == "3" })
	expect(t, old, "PONG", "PING")
}

func TestReloadUnderLoadBreaksNothing(t *testing.T) {
	v := newVault(t)
	n, addr := startTLS(t, quiet(), v.settings()...)
	client := v.client(t, true)
	var all sync.WaitGroup
	var stopped atomic.Bool
	for i := range 4 {
		stays := redistest.DialTLS(t, addr, client)
		key := fmt.Sprint("k", i)
		all.Go(func() {
			for n := 1; !stopped.Load(); n++ {
				if got := stays.Do("INCR", key); got != int64(n) {
					t.Errorf("INCR gives %v, want %d", got, n)
					return
				}
			}
		})
		all.Go(func() {
			for !stopped.Load() {
				nc, err := tls.Dial("tcp", addr, client)
				if err != nil {
					t.Errorf("connect: %v", err)
					return
				}
				nc.Close()
			}
		})
	}
	for range 20 {
		v.issue(t)
		n.secure.check()
	}
	stopped.Store(true)
	all.Wait()
	if got := infoField(t, dial(t, n), "tls_loads"); got != "21" {
		t.Errorf("%s loads, want 21", got)
	}
}

func TestSettingsOfTLSFollowConfigSet(t *testing.T) {
	v, other := newVault(t), newVault(t)
	n, addr := startTLS(t, quiet(), v.settings()...)
	admin := dial(t, n)
	refused := func(name string) string {
		return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - Unable to update TLS configuration. Check server logs."
	}
	first := serial(t, addr, v.client(t, true))
	expect(t, admin, refused("tls-cert-file"), "CONFIG", "SET", "tls-cert-file", v.path("none"))
	expect(t, admin, refused("tls-cert-file"), "CONFIG", "SET", "tls-cert-file", other.path("node.crt")) // not with this key
	expect(t, admin, refused("tls-protocols"), "CONFIG", "SET", "tls-protocols", "SSLv3")
	expect(t, admin, refused("tls-ciphersuites"), "CONFIG", "SET", "tls-ciphersuites", "TLS_AES_128_GCM_SHA256")
	expect(t, admin, fmt.Sprintf("[tls-cert-file %s]", v.path("node.crt")), "CONFIG", "GET", "tls-cert-file")
	if got := serial(t, addr, v.client(t, true)); got != first {
		t.Errorf("a refused setting changes the certificate from %s to %s", first, got)
	}
	expect(t, admin, "OK", "CONFIG", "SET", "tls-cert-file", other.path("node.crt"), "tls-key-file", other.path("node.key"), "tls-ca-cert-file", other.path("ca.crt"))
	if got := serial(t, addr, other.client(t, true)); got == first {
		t.Error("the certificate is the old one")
	}
	// Whom only the old authority knows may not come in.
	config, old := other.client(t, false), v.client(t, true).Certificates[0]
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &old, nil }
	stranger := redistest.DialTLS(t, addr, config)
	stranger.Send("PING")
	if got, err := stranger.TryReceive(); err == nil {
		t.Errorf("a client of the old authority gets %v", got)
	}
	expect(t, admin, "OK", "CONFIG", "SET", "tls-protocols", "TLSv1.3")
	dated := other.client(t, true)
	dated.MaxVersion = tls.VersionTLS12
	if nc, err := tls.Dial("tcp", addr, dated); err == nil {
		nc.Close()
		t.Error("TLS 1.2 is accepted")
	}
}

func TestWithoutTLSItsSettingsAreOnlyKept(t *testing.T) {
	n := startNode(t)
	c := dial(t, n)
	expect(t, c, "OK", "CONFIG", "SET", "tls-cert-file", "/no/such/file", "tls-protocols", "SSLv3")
	expect(t, c, "[tls-cert-file /no/such/file]", "CONFIG", "GET", "tls-cert-file")
	expect(t, c, "ERR CONFIG SET failed (possibly related to argument 'tls-cluster') - Unable to update TLS configuration. Check server logs.", "CONFIG", "SET", "tls-cluster", "yes")
	expect(t, c, "[tls-cluster no]", "CONFIG", "GET", "tls-cluster")
	if got := infoField(t, c, "tls_enabled") + infoField(t, c, "tls_cert_serial"); got != "0" {
		t.Errorf("INFO has %s", got)
	}
}

func TestStartWithoutACertificateIsRefused(t *testing.T) {
	cfg := settings(t, "port", "0", "tls-port", "6390")
	if _, err := Start(Options{Config: cfg, Log: quiet()}); err == nil || err.Error() != "configure TLS: no tls-cert-file configured" {
		t.Errorf("start gives %v", err)
	}
}

// The settings open the port, and the cluster map's port of that kind finds the
// node its place.
func TestTLSPortAlone(t *testing.T) {
	v := newVault(t)
	free, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	addr := free[0].Addr().String()
	_, port, _ := strings.Cut(addr, ":")
	CloseListeners(free)
	var number int
	fmt.Sscan(port, &number)
	m, err := topology.Even([]topology.Member{{ID: topology.NodeIDOf("a"), Host: Loopback, TLSPort: number}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	v.write(t, "cluster.map", []byte(m.String()))
	cfg := settings(t, v.settings("port", "0", "tls-port", port, "bind", Loopback, "cluster-map", v.path("cluster.map"))...)
	n, err := Start(Options{Config: cfg, Version: "test", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	c := redistest.DialTLS(t, addr, v.client(t, true))
	expect(t, c, "OK", "SET", "a", "1")
	if got := infoField(t, c, "tcp_port"); got != port {
		t.Errorf("tcp_port is %s, want %s", got, port)
	}
	if got := cfg.Int(config.TLSPort); got != int64(number) {
		t.Errorf("tls-port is %d", got)
	}
}
