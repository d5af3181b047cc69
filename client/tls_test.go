package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certificate makes one for a name that signs itself.
func certificate(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// dialTLS is fake.dial with the server's end behind TLS.
func (f *fake) dialTLS(config *tls.Config) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		plain, err := f.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		near, far := newPipe()
		server := tls.Server(far, config)
		go relay(server, plain)
		go relay(plain, server)
		return near, nil
	}
}

func relay(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func TestContract05TLSNamesFollowTheAnnouncedHostName(t *testing.T) {
	cert, pool := certificate(t, "node.example")
	f := newFake(t, "a:1")
	text := array(mapOf("slots", array(":0\r\n", ":16383\r\n"), "nodes", array(mapOf("endpoint", bulk("a"), "ip", bulk("10.0.0.1"),
		"hostname", bulk("node.example"), "port", ":9\r\n", "tls-port", ":1\r\n", "role", bulk("master"), "health", bulk("online")))))
	text = strings.Replace(text, bulk("endpoint")+bulk("a"), bulk("endpoint")+bulk("10.0.0.1"), 1)
	f.node("a:1").script(withMap(func() string { return text }, nil))
	f.mu.Lock()
	f.nodes["10.0.0.1:1"] = f.nodes["a:1"]
	f.nodes["node.example:1"] = f.nodes["a:1"]
	f.mu.Unlock()
	c, err := Open(t.Context(), Options{Addrs: []string{"node.example:1"}, TLS: &tls.Config{RootCAs: pool},
		Dialer: f.dialTLS(&tls.Config{Certificates: []tls.Certificate{cert}})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	set(t, c, keyA, strings.Repeat("v", 100000))
	if got := get(t, c, keyA); len(got) != 100000 {
		t.Errorf("got %d bytes", len(got))
	}
	// An address without a name is not in the certificate.
	if _, err := Open(t.Context(), Options{Addrs: []string{"a:1"}, TLS: &tls.Config{RootCAs: pool},
		Dialer: f.dialTLS(&tls.Config{Certificates: []tls.Certificate{cert}})}); err == nil {
		t.Error("a certificate for another name was taken")
	}
}
