package secure

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// protocols are the words of tls-protocols, oldest first.
var protocols = []struct {
	word    string
	version uint16
}{
	{"TLSv1", tls.VersionTLS10}, {"TLSv1.1", tls.VersionTLS11}, {"TLSv1.2", tls.VersionTLS12}, {"TLSv1.3", tls.VersionTLS13},
}

// versions reads tls-protocols: the oldest and the newest that are offered.
func versions(text string) (least, most uint16, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	named := map[int]bool{}
	for _, word := range words {
		at := slices.IndexFunc(protocols, func(p struct {
			word    string
			version uint16
		}) bool {
			return strings.EqualFold(p.word, word)
		})
		if at < 0 {
			return 0, 0, fmt.Errorf("invalid tls-protocols specified: %q; use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'", word)
		}
		named[at] = true
	}
	first, last := len(protocols), 0
	for at := range named {
		first, last = min(first, at), max(last, at)
	}
	if last-first+1 != len(named) {
		return 0, 0, fmt.Errorf("tls-protocols %q leaves out a version between two others, which is not possible", text)
	}
	return protocols[first].version, protocols[last].version, nil
}

// suites reads tls-ciphers, a list in OpenSSL's names with colons between them;
// nil: those that Go offers by itself.
func suites(text string) ([]uint16, error) {
	if text == "" || text == "DEFAULT" {
		return nil, nil
	}
	var ids []uint16
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		id, ok := suite(name)
		if !ok {
			return nil, fmt.Errorf("tls-ciphers: %q is not known; known are %s", name, strings.Join(suiteNames(), ":"))
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("tls-ciphers %q names no cipher", text)
	}
	return ids, nil
}

// known are the ciphers up to TLS 1.2 that may be named, safe ones first.
func known() []*tls.CipherSuite {
	return slices.DeleteFunc(append(tls.CipherSuites(), tls.InsecureCipherSuites()...), func(c *tls.CipherSuite) bool {
		return slices.Equal(c.SupportedVersions, []uint16{tls.VersionTLS13})
	})
}

func suite(name string) (uint16, bool) {
	for _, c := range known() {
		if name == c.Name || name == openSSLName(c.Name) {
			return c.ID, true
		}
	}
	return 0, false
}

func suiteNames() []string {
	var names []string
	for _, c := range known() {
		names = append(names, openSSLName(c.Name))
	}
	return names
}

// openSSLName turns a name of the standards into OpenSSL's:
// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is ECDHE-RSA-AES128-GCM-SHA256.
func openSSLName(name string) string {
	return strings.NewReplacer(
		"TLS_RSA_WITH_", "", "TLS_", "", "WITH_", "",
		"CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305",
		"3DES_EDE_CBC_SHA", "DES-CBC3-SHA",
		"AES_", "AES", "_CBC_", "-", "_", "-",
	).Replace(name)
}

// checkSuites13 refuses a choice of tls-ciphersuites: Go offers those of TLS 1.3
// always, so that a list with less would be a promise that is not kept.
func checkSuites13(text string) error {
	if text == "" {
		return nil
	}
	missing := map[string]bool{}
	for _, c := range tls.CipherSuites() {
		if slices.Equal(c.SupportedVersions, []uint16{tls.VersionTLS13}) {
			missing[c.Name] = true
		}
	}
	for name := range strings.SplitSeq(text, ":") {
		if _, ok := missing[name]; !ok {
			return fmt.Errorf("tls-ciphersuites: %q is not known", name)
		}
		missing[name] = false
	}
	for name, left := range missing {
		if left {
			return fmt.Errorf("tls-ciphersuites can't leave out %s: all ciphers of TLS 1.3 are offered", name)
		}
	}
	return nil
}
