package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
	"github.com/bowline-kv/bowline/internal/secure"
)

// devValidity is for how long the certificates of a development cluster are good.
const devValidity = 365 * 24 * time.Hour

// The files of a development cluster's TLS.
const (
	devAuthority   = "ca.crt"
	devCertificate = "node.crt"
	devKey         = "node.key"
)

// devCertificates writes a certificate for this machine, its key and the
// authority that vouches for it into a folder, new ones at each start, and gives
// the settings that name them.
func devCertificates(dir string) (func(index int, cfg *config.Config) error, error) {
	authority, err := secure.NewAuthority(rand.Reader, time.Now(), devValidity)
	if err != nil {
		return nil, err
	}
	cert, key, err := authority.Issue(time.Now(), devValidity, "localhost", node.Loopback, "::1")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("find the folder for certificates: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for certificates: %w", err)
	}
	for name, content := range map[string][]byte{devAuthority: authority.PEM, devCertificate: cert, devKey: key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, fmt.Errorf("write certificates: %w", err)
		}
	}
	values := map[string]string{
		"tls-ca-cert-file": filepath.Join(dir, devAuthority),
		"tls-cert-file":    filepath.Join(dir, devCertificate),
		"tls-key-file":     filepath.Join(dir, devKey),
		"tls-auth-clients": "optional",
		"tls-cluster":      "yes",
	}
	return func(_ int, cfg *config.Config) error {
		for name, value := range values {
			if err := cfg.Load(name, []string{value}, "--tls"); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
