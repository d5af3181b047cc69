package topology

import (
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/slot"
)

// String returns the canonical text: [Parse] makes an equal map of it, and
// equal maps have the same text.
func (m *Map) String() string { return string(m.AppendText(nil)) }

// AppendText appends the canonical text to dst.
func (m *Map) AppendText(dst []byte) []byte {
	dst = appendUint(append(dst, "version "...), m.Version)
	if m.ConfigEpoch != m.highestEpoch() {
		dst = appendUint(append(dst, " epoch "...), m.ConfigEpoch)
	}
	dst = append(dst, '\n')
	for _, g := range m.Groups {
		dst = g.appendText(dst)
	}
	return dst
}

func (g *Group) appendText(dst []byte) []byte {
	dst = append(append(dst, "group "...), g.Name...)
	dst = appendUint(append(dst, " epoch "...), g.Epoch)
	if len(g.Slots) > 0 {
		dst = append(append(dst, " slots "...), slot.FormatAssignments(g.Slots)...)
	}
	dst = append(dst, '\n')
	for i := range g.Members {
		dst = g.Members[i].appendText(dst)
	}
	return dst
}

func (m *Member) appendText(dst []byte) []byte {
	dst = append(append(dst, "  member "...), m.ID...)
	dst = append(dst, ' ')
	if strings.Contains(m.Host, ":") {
		dst = append(append(append(dst, '['), m.Host...), ']')
	} else {
		dst = append(dst, m.Host...)
	}
	dst = appendUint(append(dst, ':'), uint64(m.Port))
	if m.Replica {
		dst = append(dst, " replica"...)
	} else {
		dst = append(dst, " primary"...)
	}
	if m.TLSPort != 0 {
		dst = appendUint(append(dst, " tls="...), uint64(m.TLSPort))
	}
	if m.BusPort != 0 {
		dst = appendUint(append(dst, " bus="...), uint64(m.BusPort))
	}
	if m.Hostname != "" {
		dst = append(append(dst, " hostname="...), m.Hostname...)
	}
	if m.Zone != "" {
		dst = append(append(dst, " zone="...), m.Zone...)
	}
	if m.Health != Online {
		dst = append(append(dst, " health="...), m.Health.String()...)
	}
	return append(dst, '\n')
}

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }
