package secure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// Authority issues certificates, for development and tests: its key is nowhere
// but in memory.
type Authority struct {
	// PEM is the authority's certificate.
	PEM []byte

	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	random io.Reader
}

// NewAuthority makes an authority that vouches from an hour before now for as
// long as given. random is the source of keys and serial numbers.
func NewAuthority(random io.Reader, now time.Time, valid time.Duration) (*Authority, error) {
	a := &Authority{random: random}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Bowline development authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	if a.PEM, _, err = a.sign(template); err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	return a, nil
}

// Issue makes a certificate for a node or a client that is known by the names,
// host names and IP addresses, and its key. Both are PEM.
func (a *Authority) Issue(now time.Time, valid time.Duration, names ...string) (cert, key []byte, err error) {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: names[0]},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if cert, key, err = a.sign(template); err != nil {
		return nil, nil, fmt.Errorf("issue a certificate for %s: %w", names[0], err)
	}
	return cert, key, nil
}

// sign makes a key and its certificate; the first is the authority's own.
func (a *Authority) sign(template *x509.Certificate) (cert, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), a.random)
	if err != nil {
		return nil, nil, err
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(a.random, serial); err != nil {
		return nil, nil, err
	}
	serial[0] &= 0x7f // positive
	template.SerialNumber = new(big.Int).SetBytes(serial)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, own
	}
	der, err := x509.CreateCertificate(a.random, template, parent, own.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	if a.cert == nil {
		a.key = own
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			return nil, nil, err
		}
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}
