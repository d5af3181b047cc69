package secure

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"path/filepath"
	"time"
)

// Settings are what a configuration is made from. The fields follow the
// parameters tls-*; "" is what an empty parameter means.
type Settings struct {
	CertFile, KeyFile, KeyPassword string
	// ClientCertFile and its key are for outgoing connections; "": CertFile.
	ClientCertFile, ClientKeyFile, ClientKeyPassword string
	CAFile, CADir                                    string
	// AuthClients is no, yes or optional.
	AuthClients string
	// Outgoing: this node opens TLS connections too, and checks whom it reaches.
	Outgoing                         bool
	Protocols, Ciphers, CipherSuites string
	// Tickets lets clients come back with a shorter handshake.
	Tickets bool
}

// Files is how [Load] reaches the disk.
type Files struct {
	ReadFile func(path string) ([]byte, error)
	// List names the files of a folder, without their folder.
	List func(dir string) ([]string, error)
}

// Material is what was loaded. It is immutable.
type Material struct {
	// Server is for connections that come in. A client resumes sessions of the
	// same Material only, so that nobody comes back by a trust that is gone.
	Server *tls.Config
	// Client is for connections to other nodes; nil without [Settings].Outgoing.
	Client *tls.Config
	// Serial is the number of the certificate, in hexadecimal digits.
	Serial string
	// Expires is when the certificate ends, CAExpires when the first of the
	// trusted authorities does; zero: there is none.
	Expires, CAExpires time.Time
	// Digest tells whether two loads found the same settings and files.
	Digest [sha256.Size]byte
}

// The errors for settings that lack something; the words are Redis's.
var (
	errNoCert = errors.New("no tls-cert-file configured")
	errNoKey  = errors.New("no tls-key-file configured")
	errNoCA   = errors.New("either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or tls-auth-clients are enabled")
)

// loader reads files and notes what it has read.
type loader struct {
	Files
	seen hash.Hash
}

func (l *loader) read(path string) ([]byte, error) {
	content, err := l.ReadFile(path)
	if err == nil {
		fmt.Fprintf(l.seen, "%q %d\n", path, len(content))
		l.seen.Write(content)
	}
	return content, err
}

// Load reads the files and makes the configurations.
func Load(s Settings, f Files) (*Material, error) {
	l := &loader{f, sha256.New()}
	fmt.Fprintf(l.seen, "%q\n", fmt.Sprint(s))
	m := &Material{}
	base, err := base(s)
	if err != nil {
		return nil, err
	}
	pair, err := l.pair(s.CertFile, s.KeyFile, s.KeyPassword)
	if err != nil {
		return nil, err
	}
	m.Serial, m.Expires = pair.Leaf.SerialNumber.Text(16), pair.Leaf.NotAfter
	var pool *x509.CertPool
	switch {
	case s.CAFile != "" || s.CADir != "":
		if pool, m.CAExpires, err = l.authorities(s); err != nil {
			return nil, err
		}
	case s.AuthClients != "no" || s.Outgoing:
		return nil, errNoCA
	}
	m.Server = base.Clone()
	m.Server.Certificates = []tls.Certificate{pair}
	m.Server.ClientCAs = pool
	m.Server.ClientAuth = map[string]tls.ClientAuthType{
		"no": tls.NoClientCert, "optional": tls.VerifyClientCertIfGiven, "yes": tls.RequireAndVerifyClientCert,
	}[s.AuthClients]
	m.Server.SessionTicketsDisabled = !s.Tickets
	if s.Outgoing {
		if s.ClientCertFile != "" {
			if pair, err = l.pair(s.ClientCertFile, s.ClientKeyFile, s.ClientKeyPassword); err != nil {
				return nil, fmt.Errorf("certificate for outgoing connections: %w", err)
			}
		}
		m.Client = base.Clone()
		m.Client.Certificates = []tls.Certificate{pair}
		trustOnly(m.Client, pool)
	}
	l.seen.Sum(m.Digest[:0])
	return m, nil
}

// base is what both directions have in common.
func base(s Settings) (*tls.Config, error) {
	// Small first records would cost a system call each.
	c := &tls.Config{DynamicRecordSizingDisabled: true}
	var err error
	if c.MinVersion, c.MaxVersion, err = versions(s.Protocols); err != nil {
		return nil, err
	}
	if c.CipherSuites, err = suites(s.Ciphers); err != nil {
		return nil, err
	}
	return c, checkSuites13(s.CipherSuites)
}

// pair reads a certificate with its chain, and its key.
func (l *loader) pair(certFile, keyFile, password string) (tls.Certificate, error) {
	var none tls.Certificate
	switch {
	case certFile == "":
		return none, errNoCert
	case keyFile == "":
		return none, errNoKey
	}
	cert, err := l.read(certFile)
	if err != nil {
		return none, fmt.Errorf("read certificate: %w", err)
	}
	key, err := l.read(keyFile)
	if err != nil {
		return none, fmt.Errorf("read key: %w", err)
	}
	if key, err = openKey(key, password); err != nil {
		return none, fmt.Errorf("key %s: %w", keyFile, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return none, fmt.Errorf("certificate %s with key %s: %w", certFile, keyFile, err)
	}
	if pair.Leaf == nil {
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	return pair, err
}

// authorities reads those that are trusted, and tells when the first of them ends.
func (l *loader) authorities(s Settings) (*x509.CertPool, time.Time, error) {
	var paths []string
	if s.CAFile != "" {
		paths = append(paths, s.CAFile)
	}
	if s.CADir != "" {
		names, err := l.List(s.CADir)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("list folder of authorities: %w", err)
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(s.CADir, name))
		}
	}
	pool, first, found := x509.NewCertPool(), time.Time{}, false
	for _, path := range paths {
		content, err := l.read(path)
		if err != nil {
			return nil, first, fmt.Errorf("read authority: %w", err)
		}
		certs, err := certificates(content)
		if err != nil {
			return nil, first, fmt.Errorf("authority %s: %w", path, err)
		}
		if len(certs) == 0 && path == s.CAFile {
			return nil, first, fmt.Errorf("authority %s: no certificate in it", path)
		}
		for _, c := range certs {
			pool.AddCert(c)
			if !found || c.NotAfter.Before(first) {
				first, found = c.NotAfter, true
			}
		}
	}
	if !found {
		return nil, first, fmt.Errorf("folder of authorities %s: no certificate in it", s.CADir)
	}
	return pool, first, nil
}

// certificates reads those of a PEM file and passes over everything else.
func certificates(content []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// trustOnly makes a client accept every server whose certificate the pool
// vouches for, whatever its name: nodes are known by their authority, as with
// Redis, and reached by addresses that certificates seldom list.
func trustOnly(c *tls.Config, pool *x509.CertPool) {
	c.InsecureSkipVerify = true // VerifyConnection does it
	c.VerifyConnection = func(state tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool()}
		for _, above := range state.PeerCertificates[1:] {
			opts.Intermediates.AddCert(above)
		}
		_, err := state.PeerCertificates[0].Verify(opts)
		return err
	}
}
