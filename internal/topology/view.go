package topology

import "strconv"

// Endpoint is which of a member's addresses a client is told to connect to.
// The zero value is the IP address, as in Redis.
type Endpoint uint8

// The choices of the setting cluster-preferred-endpoint-type.
const (
	ByIP       Endpoint = iota
	ByHostname          // "?" for a member that has none
	ByNothing           // the client keeps the host it knows already
)

// View is what a node adds to the map when it answers a client. The zero value
// shows the map as somebody outside the cluster sees it.
type View struct {
	// Self is the answering node, which CLUSTER NODES marks; it need not be in
	// the map.
	Self NodeID
	// TLS asks for the TLS ports: the client is connected to one. A member
	// without the port asked for is shown with the one it has.
	TLS bool
	// Endpoint is the kind of address given out.
	Endpoint Endpoint
	// Offset returns the replication offset of a member, in bytes; nil: 0 for
	// all.
	Offset func(NodeID) int64
	// NowMillis is the Unix time in milliseconds; it stands as the time of the
	// last sign of life of the other members that are not failed.
	NowMillis int64
	// Partial says that the slots which have an owner are served even when
	// others have none: cluster-require-full-coverage is no.
	Partial bool
	// MessagesSent and MessagesReceived count what nodes sent each other.
	MessagesSent, MessagesReceived int64
}

// port returns the port that the client should use.
func (v *View) port(m *Member) int {
	if v.TLS && m.TLSPort != 0 || m.Port == 0 {
		return m.TLSPort
	}
	return m.Port
}

// host returns the host that the client should use; known is false when it is
// to keep the one it used for this answer.
func (v *View) host(m *Member) (host string, known bool) {
	switch v.Endpoint {
	case ByHostname:
		if m.Hostname == "" {
			return "?", true
		}
		return m.Hostname, true
	case ByNothing:
		return "", false
	}
	return m.Host, true
}

func (v *View) offset(id NodeID) int64 {
	if v.Offset == nil {
		return 0
	}
	return v.Offset(id)
}

// AppendAddress appends "host:port" as it stands in MOVED and ASK: an IPv6
// address without brackets, and no host at all when the client is to keep the
// one it used.
func (v *View) AppendAddress(dst []byte, m *Member) []byte {
	host, _ := v.host(m)
	dst = append(append(dst, host...), ':')
	return strconv.AppendInt(dst, int64(v.port(m)), 10)
}
