package client

import (
	"net"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// splitAddr cuts "host:port" at the last colon, for an IPv6 address is announced
// without brackets. Brackets and the cluster bus port ("@17001") are taken off.
func splitAddr(addr string) (host, port string, ok bool) {
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

// joinAddr gives what can be dialed for an announced host and port: an empty host is
// that of asked, the node that said it, and so is port 0. An unknown node ("?", or
// neither host nor port) gives "".
func joinAddr(host, port, asked string) string {
	if host == "?" || host == "" && port == "0" {
		return ""
	}
	askedHost, askedPort, _ := splitAddr(asked)
	if host == "" {
		host = askedHost
	}
	if port == "0" || port == "" {
		port = askedPort
	}
	return net.JoinHostPort(host, port)
}

// redirection is a parsed MOVED or ASK.
type redirection struct {
	ask  bool
	slot int
	addr string
}

// parseRedirect reads "MOVED 3999 127.0.0.1:6381" as said by the node asked; ok is
// false for every other reply, and for one that names no node.
func parseRedirect(v *resp.Value, asked string) (r redirection, ok bool) {
	if !v.IsError() {
		return r, false
	}
	words := strings.Fields(string(v.Str))
	if len(words) < 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return r, false
	}
	id, err := slot.Parse(words[1])
	if err != nil {
		return r, false
	}
	host, port, ok := splitAddr(words[2])
	if !ok {
		return r, false
	}
	addr := joinAddr(host, port, asked)
	return redirection{words[0] == "ASK", int(id), addr}, addr != ""
}
