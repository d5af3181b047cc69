package node

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/secure"
	"github.com/bowline-kv/bowline/internal/server"
)

const (
	// certificateCheck is how often the files are looked at for a change.
	certificateCheck = 2 * time.Second
	// handshakeTime and handshakesMax bound unfinished handshakes.
	handshakeTime = 10 * time.Second
	handshakesMax = 1024
)

// keeper keeps the node's TLS configurations as the settings and the files say:
// it loads them again when CONFIG SET changes one, and when a file has another
// content. Connections that exist go on with what they have.
type keeper struct {
	cfg *config.Config
	log *slog.Logger
	// serves: TLS connections are accepted, whatever tls-port says.
	serves bool
	now    atomic.Pointer[secure.Material] // nil: no TLS

	loading sync.Mutex // one load at a time: held while files are read
	failed  string     // what was logged of the last failure; guarded by loading

	mu     sync.Mutex
	status server.Certificate // guarded by mu
}

// errTLSUpdate is what a client is told; the reason, which may name files, stands
// in the log.
const errTLSUpdate = refusal("Unable to update TLS configuration. Check server logs.")

// refusal is an error in Redis's words.
type refusal string

func (r refusal) Error() string { return string(r) }

// tlsParams are the settings that a change of is followed.
var tlsParams = []*config.Param{
	config.TLSCertFile, config.TLSKeyFile, config.TLSKeyFilePass,
	config.TLSClientCertFile, config.TLSClientKeyFile, config.TLSClientKeyFilePass,
	config.TLSCACertFile, config.TLSCACertDir, config.TLSAuthClients, config.TLSCluster,
	config.TLSProtocols, config.TLSCiphers, config.TLSCipherSuites, config.TLSSessionCaching,
}

// newKeeper loads what the settings name, if they ask for TLS at all.
func newKeeper(cfg *config.Config, log *slog.Logger, serves bool) (*keeper, error) {
	k := &keeper{cfg: cfg, log: log, serves: serves || cfg.Int(config.TLSPort) != 0}
	if k.wanted() {
		m, err := k.load()
		if err != nil {
			return nil, fmt.Errorf("configure TLS: %w", err)
		}
		k.use(m)
	}
	for _, p := range tlsParams {
		cfg.OnChange(p, k.follow)
	}
	return k, nil
}

// wanted says whether any connection is by TLS.
func (k *keeper) wanted() bool { return k.serves || k.cfg.Bool(config.TLSCluster) }

// load reads the files; k.loading is held, or nobody else knows of k.
func (k *keeper) load() (*secure.Material, error) {
	text := k.cfg.String
	return secure.Load(secure.Settings{
		CertFile: text(config.TLSCertFile), KeyFile: text(config.TLSKeyFile), KeyPassword: text(config.TLSKeyFilePass),
		ClientCertFile: text(config.TLSClientCertFile), ClientKeyFile: text(config.TLSClientKeyFile),
		ClientKeyPassword: text(config.TLSClientKeyFilePass),
		CAFile:            text(config.TLSCACertFile), CADir: text(config.TLSCACertDir),
		AuthClients: text(config.TLSAuthClients), Outgoing: k.cfg.Bool(config.TLSCluster),
		Protocols: text(config.TLSProtocols), Ciphers: text(config.TLSCiphers), CipherSuites: text(config.TLSCipherSuites),
		Tickets: k.cfg.Bool(config.TLSSessionCaching),
	}, secure.Files{ReadFile: os.ReadFile, List: listFiles})
}

// listFiles names what is not a folder in a folder.
func listFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// use makes new connections go by m; k.loading is held, or nobody else knows of k.
func (k *keeper) use(m *secure.Material) {
	k.now.Store(m)
	k.failed = ""
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status = server.Certificate{Serial: m.Serial, Expires: m.Expires, CAExpires: m.CAExpires, Loaded: time.Now(), Loads: k.status.Loads + 1, Failures: k.status.Failures}
}

// follow is told of each CONFIG SET.
func (k *keeper) follow() error {
	if !k.wanted() {
		return nil
	}
	k.loading.Lock()
	defer k.loading.Unlock()
	m, err := k.load()
	if err != nil {
		k.log.Warn("TLS settings refused", "error", err)
		return errTLSUpdate
	}
	k.use(m)
	return nil
}

// check looks whether the files have changed. A pair that does not fit, as in the
// moment between the copies of two files, changes nothing.
func (k *keeper) check() {
	k.loading.Lock()
	defer k.loading.Unlock()
	now := k.now.Load()
	if now == nil {
		return
	}
	m, err := k.load()
	switch {
	case err != nil && err.Error() != k.failed:
		k.failed = err.Error()
		k.note(func(c *server.Certificate) { c.Failed = true; c.Failures++ })
		k.log.Warn("certificate not loaded again, the old one stays", "error", err, "expires", now.Expires)
	case err == nil && m.Digest != now.Digest:
		k.use(m)
		k.log.Info("certificate loaded again", "serial", m.Serial, "expires", m.Expires)
	case err == nil: // what was there before is back
		k.failed = ""
		k.note(func(c *server.Certificate) { c.Failed = false })
	}
}

// note changes what INFO tells.
func (k *keeper) note(change func(c *server.Certificate)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.status)
}

// watch checks the files until stop is closed.
func (k *keeper) watch(stop <-chan struct{}) {
	ticker := time.NewTicker(certificateCheck)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			k.check()
		}
	}
}

// server is the configuration for a connection that comes in.
func (k *keeper) server() *tls.Config { return k.now.Load().Server }

// client is the configuration for a connection to another node; nil: it is to be
// plain.
func (k *keeper) client() *tls.Config {
	if m := k.now.Load(); m != nil && k.cfg.Bool(config.TLSCluster) {
		return m.Client
	}
	return nil
}

// describe tells the state for INFO; false: there is no TLS.
func (k *keeper) describe() (server.Certificate, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status, k.now.Load() != nil
}
