package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// benchTLS are the flags for connections by TLS, named as those of redis-cli.
type benchTLS struct {
	on, insecure                     bool
	authority, cert, key, serverName string
}

func (f *benchTLS) define(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "tls", false, "connect by TLS")
	flags.StringVar(&f.authority, "cacert", "", "file with the certificates of trusted authorities; without it those of the system")
	flags.StringVar(&f.cert, "cert", "", "file with the certificate to show")
	flags.StringVar(&f.key, "key", "", "file with its key")
	flags.StringVar(&f.serverName, "sni", "", "name that the servers' certificates must have; without it their host")
	flags.BoolVar(&f.insecure, "insecure", false, "trust any certificate")
}

var (
	errNeedsTLS = errors.New("--cacert, --cert, --key, --sni and --insecure need --tls")
	errCertKey  = errors.New("--cert and --key need each other")
)

// config makes a configuration of the flags; nil: no TLS.
func (f *benchTLS) config(readFile func(string) ([]byte, error)) (*tls.Config, error) {
	switch {
	case !f.on && (*f != benchTLS{}):
		return nil, errNeedsTLS
	case !f.on:
		return nil, nil
	case (f.cert == "") != (f.key == ""):
		return nil, errCertKey
	}
	c := &tls.Config{ServerName: f.serverName, InsecureSkipVerify: f.insecure}
	if f.authority != "" {
		pem, err := readFile(f.authority)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert: no certificate in %s", f.authority)
		}
	}
	if f.cert == "" {
		return c, nil
	}
	cert, err := readFile(f.cert)
	if err != nil {
		return nil, fmt.Errorf("--cert: %w", err)
	}
	key, err := readFile(f.key)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--cert and --key: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
