// Package announce reads what servers say of their cluster: addresses, redirections and
// maps. It turns bytes into values and knows of no connection, so that all clients of
// this module follow the same rules.
package announce

import (
	"net"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/slot"
)

// Split cuts "host:port" at the last colon, for an IPv6 address is announced without
// brackets. Brackets and the cluster bus port ("@17001") are taken off.
func Split(addr string) (host, port string, ok bool) {
	addr, _, _ = strings.Cut(addr, "@")
	at := strings.LastIndexByte(addr, ':')
	if at < 0 {
		return "", "", false
	}
	host, port = addr[:at], addr[at+1:]
	if n := len(host); n >= 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", false
	}
	return host, port, true
}

// Join gives what can be dialed for an announced host and port: an empty host is that
// of asked, the node that said it, and so is port 0. An unknown node ("?", or neither
// host nor port) gives "".
func Join(host, port, asked string) string {
	if host == "?" || host == "" && port == "0" {
		return ""
	}
	askedHost, askedPort, _ := Split(asked)
	if host == "" {
		host = askedHost
	}
	if port == "0" || port == "" {
		port = askedPort
	}
	return net.JoinHostPort(host, port)
}

// Redirect is a MOVED or ASK.
type Redirect struct {
	Ask  bool
	Slot slot.ID
	Addr string // as it can be dialed
}

// ParseRedirect reads the text of an error reply, "MOVED 3999 127.0.0.1:6381", as said
// by the node asked; ok is false for every other error, and for one that names no node.
func ParseRedirect(text, asked string) (r Redirect, ok bool) {
	words := strings.Fields(text)
	if len(words) < 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return r, false
	}
	id, err := slot.Parse(words[1])
	if err != nil {
		return r, false
	}
	host, port, ok := Split(words[2])
	if !ok {
		return r, false
	}
	addr := Join(host, port, asked)
	return Redirect{words[0] == "ASK", id, addr}, addr != ""
}
