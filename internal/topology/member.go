package topology

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
)

// NodeID names a node for its whole life: 40 lower-case hexadecimal digits, as
// CLUSTER MYID prints it.
type NodeID string

// idLen is the number of digits in the id of a node or group.
const idLen = 40

// Valid reports whether id is 40 lower-case hexadecimal digits.
func (id NodeID) Valid() bool { return isHexID(string(id)) }

// NodeIDOf returns an id that depends on name alone, for clusters that are set
// up by code and must look the same at every start.
func NodeIDOf(name string) NodeID { return NodeID(deriveID("node", name)) }

// deriveID turns a short name into an id of the usual form.
func deriveID(kind, name string) string {
	sum := sha256.Sum256([]byte("bowline " + kind + " " + name))
	return hex.EncodeToString(sum[:idLen/2])
}

func isHexID(s string) bool {
	return len(s) == idLen && only(s, "0123456789abcdef")
}

// only reports whether every byte of s is in the alphabet.
func only(s, alphabet string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(alphabet, r) }) < 0
}

// Health is what the map's source believes of a node. The zero value is
// Online.
type Health uint8

// The states of a node.
const (
	Online  Health = iota // serves
	Loading               // runs, but has no data to serve yet
	Failed                // taken for dead
)

// healthWords are the words of the text form.
var healthWords = [...]string{Online: "online", Loading: "loading", Failed: "failed"}

// String returns "online", "loading" or "failed".
func (h Health) String() string {
	if int(h) < len(healthWords) {
		return healthWords[h]
	}
	return fmt.Sprintf("Health(%d)", uint8(h))
}

func parseHealth(s string) (Health, bool) {
	for h, word := range healthWords {
		if s == word {
			return Health(h), true
		}
	}
	return 0, false
}

// Member is a node as the map knows it.
type Member struct {
	ID NodeID
	// Host is an IP address without brackets, or a host name, never empty.
	Host string
	// Port and TLSPort are where clients connect; 0: does not listen there. At
	// least one is set.
	Port, TLSPort int
	// BusPort is the port of the node-to-node protocol; 0: not announced.
	BusPort int
	// Hostname is announced to clients beside Host; empty: none.
	Hostname string
	// Zone is the failure domain the node stands in; empty: not known.
	Zone   string
	Health Health
	// Replica is false for the one primary of a group.
	Replica bool
}

const (
	hostAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	nameAlphabet = hostAlphabet + ":/"
	hostLenMax   = 255
	nameLenMax   = 64
)

// check reports what is wrong with a member by itself.
func (m *Member) check() error {
	switch {
	case !m.ID.Valid():
		return fmt.Errorf("node id %q is not %d lower-case hexadecimal digits", clip(string(m.ID)), idLen)
	case !validHost(m.Host):
		return fmt.Errorf("bad address: host %q is neither an ip address nor a host name", clip(m.Host))
	case m.Hostname != "" && !validHostname(m.Hostname):
		return fmt.Errorf("bad hostname %q", clip(m.Hostname))
	case m.Zone != "" && (len(m.Zone) > nameLenMax || !only(m.Zone, nameAlphabet)):
		return fmt.Errorf("bad zone %q", clip(m.Zone))
	case int(m.Health) >= len(healthWords):
		return fmt.Errorf("unknown health %d", m.Health)
	case m.Port == 0 && m.TLSPort == 0:
		return fmt.Errorf("bad address: node %s has neither a port nor a tls port", m.ID)
	}
	for _, port := range []int{m.Port, m.TLSPort, m.BusPort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("bad port %d", port)
		}
	}
	return nil
}

// validHost accepts an address only in its canonical spelling, so that the
// same address cannot stand in a map in two forms.
func validHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == "" && addr.String() == host
	}
	return validHostname(host)
}

// validHostname refuses a name whose last label is a number: it is a mistyped
// address.
func validHostname(name string) bool {
	if name == "" || len(name) > hostLenMax || !only(name, hostAlphabet) {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	return !only(last, "0123456789")
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
