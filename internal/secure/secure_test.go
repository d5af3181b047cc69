package secure

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// now is the time of all certificates.
var now = time.Now()

// shelf is a folder in memory.
type shelf map[string][]byte

func (s shelf) files() Files {
	return Files{
		ReadFile: func(path string) ([]byte, error) {
			if content, ok := s[path]; ok {
				return content, nil
			}
			return nil, fs.ErrNotExist
		},
		List: func(dir string) (names []string, err error) {
			for path := range maps.Keys(s) {
				if name, ok := strings.CutPrefix(path, dir+"/"); ok {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names, nil
		},
	}
}

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	a, err := NewAuthority(rand.Reader, now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// add puts a pair on the shelf.
func (s shelf) add(t *testing.T, a *Authority, name string) {
	t.Helper()
	var err error
	if s[name+".crt"], s[name+".key"], err = a.Issue(now, 30*time.Minute, name); err != nil {
		t.Fatal(err)
	}
}

// standard is a shelf with a node's and another's certificate, and settings for
// the node.
func standard(t *testing.T) (shelf, Settings) {
	t.Helper()
	s, a := shelf{}, newAuthority(t)
	s["ca.crt"] = a.PEM
	s.add(t, a, "node")
	s.add(t, a, "other")
	return s, Settings{CertFile: "node.crt", KeyFile: "node.key", CAFile: "ca.crt", AuthClients: "yes", Outgoing: true}
}

func load(t *testing.T, s Settings, from shelf) *Material {
	t.Helper()
	m, err := Load(s, from.files())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// meet does a handshake over a socket and sends a byte back.
func meet(t *testing.T, client, server *tls.Config) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	result := make(chan error, 1)
	go func() {
		far, err := l.Accept()
		if err == nil {
			_, err = tls.Server(far, server).Write([]byte{1})
			far.Close()
		}
		result <- err
	}()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	_, err = tls.Client(near, client).Read(make([]byte, 1))
	near.Close()
	return errors.Join(err, <-result)
}

func TestClientsAreAskedForACertificate(t *testing.T) {
	s, settings := standard(t)
	strange := shelf{}
	strange.add(t, newAuthority(t), "stranger")
	key := func(from shelf, name string) *tls.Certificate {
		pair, err := tls.X509KeyPair(from[name+".crt"], from[name+".key"])
		if err != nil {
			t.Fatal(err)
		}
		return &pair
	}
	for _, c := range []struct {
		auth                  string
		known, none, stranger bool
	}{{"yes", true, false, false}, {"optional", true, true, false}, {"no", true, true, true}} {
		settings.AuthClients = c.auth
		m := load(t, settings, s)
		for name, want := range map[string]bool{"known": c.known, "none": c.none, "stranger": c.stranger} {
			shown := map[string]*tls.Certificate{"known": key(s, "other"), "none": {}, "stranger": key(strange, "stranger")}[name]
			client := &tls.Config{
				RootCAs: m.Server.ClientCAs, ServerName: "node",
				// Sent although the server names other authorities.
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil },
			}
			if err := meet(t, client, m.Server); (err == nil) != want {
				t.Errorf("tls-auth-clients %s, client %s: %v", c.auth, name, err)
			}
		}
	}
}

func TestNodesTrustTheirAuthorityWhateverTheName(t *testing.T) {
	s, settings := standard(t)
	m := load(t, settings, s)
	if err := meet(t, m.Client, m.Server); err != nil {
		t.Error(err)
	}
	alien, theirs := standard(t)
	if err := meet(t, m.Client, load(t, theirs, alien).Server); err == nil {
		t.Error("a node of another authority is trusted")
	}
	// A certificate of its own for the way out.
	settings.ClientCertFile, settings.ClientKeyFile = "other.crt", "other.key"
	m = load(t, settings, s)
	if err := meet(t, m.Client, m.Server); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff("other", m.Client.Certificates[0].Leaf.Subject.CommonName); diff != "" {
		t.Error(diff)
	}
	settings.Outgoing = false
	if m = load(t, settings, s); m.Client != nil {
		t.Error("there is a configuration for connections that nobody opens")
	}
}

func TestWhatIsMissingOrDoesNotFitIsNamed(t *testing.T) {
	s, settings := standard(t)
	s["junk"] = []byte("no PEM")
	for name, c := range map[string]struct {
		change func(s *Settings)
		want   string
	}{
		"no certificate":  {func(s *Settings) { s.CertFile = "" }, "no tls-cert-file configured"},
		"no key":          {func(s *Settings) { s.KeyFile = "" }, "no tls-key-file configured"},
		"no authority":    {func(s *Settings) { s.CAFile = "" }, "either tls-ca-cert-file or tls-ca-cert-dir must be specified"},
		"missing file":    {func(s *Settings) { s.CertFile = "none" }, "read certificate: file does not exist"},
		"missing key":     {func(s *Settings) { s.KeyFile = "none" }, "read key: file does not exist"},
		"not a pair":      {func(s *Settings) { s.KeyFile = "other.key" }, "certificate node.crt with key other.key: "},
		"junk":            {func(s *Settings) { s.CertFile = "junk" }, "certificate junk with key node.key: "},
		"junk authority":  {func(s *Settings) { s.CAFile = "junk" }, "authority junk: no certificate in it"},
		"empty folder":    {func(s *Settings) { s.CAFile, s.CADir = "", "none" }, "folder of authorities none: no certificate in it"},
		"client's key":    {func(s *Settings) { s.ClientCertFile = "other.crt" }, "certificate for outgoing connections: no tls-key-file configured"},
		"protocol":        {func(s *Settings) { s.Protocols = "TLSv1.2 SSLv3" }, `invalid tls-protocols specified: "SSLv3"`},
		"gap":             {func(s *Settings) { s.Protocols = "TLSv1.1 TLSv1.3" }, "leaves out a version"},
		"cipher":          {func(s *Settings) { s.Ciphers = "ECDHE-RSA-AES128-GCM-SHA256:RC5" }, `tls-ciphers: "RC5" is not known`},
		"no cipher":       {func(s *Settings) { s.Ciphers = ":" }, "names no cipher"},
		"suite":           {func(s *Settings) { s.CipherSuites = "TLS_NONE" }, `tls-ciphersuites: "TLS_NONE" is not known`},
		"choice of suite": {func(s *Settings) { s.CipherSuites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384" }, "can't leave out TLS_CHACHA20_POLY1305_SHA256"},
	} {
		changed := settings
		c.change(&changed)
		if _, err := Load(changed, s.files()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestProtocolsAndCiphersAreThoseNamed(t *testing.T) {
	s, settings := standard(t)
	settings.Protocols, settings.Ciphers = "tlsv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305:TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
	settings.CipherSuites = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"
	m := load(t, settings, s)
	got := []any{m.Server.MinVersion, m.Server.MaxVersion, m.Server.CipherSuites}
	want := []any{uint16(tls.VersionTLS12), uint16(tls.VersionTLS12), []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	settings.Protocols, settings.Ciphers = "", "DEFAULT"
	if m = load(t, settings, s); m.Server.MinVersion != tls.VersionTLS12 || m.Server.MaxVersion != tls.VersionTLS13 || m.Server.CipherSuites != nil {
		t.Errorf("the default is %d to %d, %v", m.Server.MinVersion, m.Server.MaxVersion, m.Server.CipherSuites)
	}
}

// needOpenSSL skips the test without it, or fails where all programs are required.
func needOpenSSL(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		if os.Getenv("BOWLINE_REQUIRE_REDIS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// OpenSSL knows every name that is accepted here.
func TestCiphersHaveOpenSSLsNames(t *testing.T) {
	needOpenSSL(t)
	out, err := exec.Command("openssl", "ciphers", "-stdname", "ALL:@SECLEVEL=0").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 {
			theirs[f[0]] = f[2]
		}
	}
	compared := 0
	for _, c := range known() {
		if want, ok := theirs[c.Name]; ok {
			compared++
			if got := openSSLName(c.Name); got != want {
				t.Errorf("%s is %s, want %s", c.Name, got, want)
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d names compared", compared)
	}
}

func TestFolderOfAuthorities(t *testing.T) {
	s, settings := standard(t)
	other := newAuthority(t)
	s["trusted/a"], s["trusted/b"], s["trusted/readme"] = s["ca.crt"], other.PEM, []byte("not a certificate")
	settings.CAFile, settings.CADir = "", "trusted"
	m := load(t, settings, s)
	if err := meet(t, m.Client, m.Server); err != nil {
		t.Error(err)
	}
	if !m.CAExpires.Equal(now.Add(time.Hour).Truncate(time.Second)) || !m.Expires.Equal(now.Add(30*time.Minute).Truncate(time.Second)) {
		t.Errorf("they end at %v and %v", m.CAExpires, m.Expires)
	}
}

func TestDigestTellsEveryChange(t *testing.T) {
	s, settings := standard(t)
	first := load(t, settings, s)
	if again := load(t, settings, s); again.Digest != first.Digest {
		t.Error("nothing has changed, but the digest")
	}
	changed := settings
	changed.Protocols = "TLSv1.3"
	if load(t, changed, s).Digest == first.Digest {
		t.Error("the digest tells no change of settings")
	}
	s["node.crt"], s["node.key"] = s["other.crt"], s["other.key"]
	if second := load(t, settings, s); second.Digest == first.Digest || second.Serial == first.Serial {
		t.Error("the digest tells no change of files")
	}
}

func TestEncryptedKeys(t *testing.T) {
	needOpenSSL(t)
	s, settings := standard(t)
	settings.KeyPassword = "open sesame"
	load(t, settings, s) // a key that is not encrypted needs none
	dir := t.TempDir()
	plain, locked := filepath.Join(dir, "plain"), filepath.Join(dir, "locked")
	if err := os.WriteFile(plain, s["node.key"], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range [][]string{
		{"-v2", "aes-256-cbc"}, {"-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"}, {"-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA512"}, {"-v2", "des3"},
	} {
		args := append([]string{"pkcs8", "-topk8", "-in", plain, "-out", locked, "-passout", "pass:open sesame"}, how...)
		if out, err := exec.Command("openssl", args...).CombinedOutput(); err != nil {
			t.Fatalf("openssl %q: %v\n%s", args, err, out)
		}
		content, err := os.ReadFile(locked)
		if err != nil {
			t.Fatal(err)
		}
		s["node.key"] = content
		load(t, settings, s)
		for password, want := range map[string]error{"": errPasswordMissing, "wrong": errPasswordWrong} {
			wrong := settings
			wrong.KeyPassword = password
			if _, err := Load(wrong, s.files()); !errors.Is(err, want) {
				t.Errorf("%q, password %q: %v, want %v", how, password, err, want)
			}
		}
	}
	s["node.key"] = []byte("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n")
	if _, err := Load(settings, s.files()); !errors.Is(err, errKeyScheme) {
		t.Errorf("an old form gives %v", err)
	}
}

// FuzzOpenKey: no content of a file crashes it, or makes it work for long.
func FuzzOpenKey(f *testing.F) {
	f.Add([]byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if key, err := openKey(content, "x"); err == nil && len(key) == 0 && len(content) > 0 {
			t.Error("the key is gone")
		}
	})
}
