package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/netdrive"
)

// errNoListener is for a configuration without a port and a socket.
var errNoListener = errors.New("nothing to listen on: set port, tls-port or unixsocket")

// listen opens what the settings bind, port, tls-port and unixsocket name.
func listen(cfg *config.Config, k *keeper) (open []net.Listener, err error) {
	defer func() {
		if err != nil {
			CloseListeners(open)
			open = nil
		}
	}()
	for _, port := range []*config.Param{config.Port, config.TLSPort} {
		if cfg.Int(port) == 0 {
			continue
		}
		for _, address := range cfg.Strings(config.Bind) {
			l, err := listenTCP(address, int(cfg.Int(port)))
			if err != nil {
				return open, err
			}
			if l != nil && port == config.TLSPort {
				l = netdrive.Secure(l, k.server)
			}
			if l != nil {
				open = append(open, l)
			}
		}
	}
	if path := cfg.String(config.UnixSocket); path != "" {
		l, err := listenUnix(path, fs.FileMode(cfg.Int(config.UnixSocketPerm)))
		if err != nil {
			return open, err
		}
		open = append(open, l)
	}
	if len(open) == 0 {
		return open, errNoListener
	}
	return open, nil
}

// listenTCP opens one address of bind: "*" is every IPv4 address, "::*" every
// IPv6 address, and a '-' in front allows the address to be missing on this
// machine, which gives nil.
func listenTCP(address string, port int) (net.Listener, error) {
	host, optional := strings.CutPrefix(address, "-")
	network := "tcp"
	switch host {
	case "*":
		network, host = "tcp4", "0.0.0.0"
	case "::*":
		network, host = "tcp6", "::"
	}
	l, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil && optional && !addressInUse(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open port: %w", err)
	}
	return l, nil
}

// listenUnix opens a socket file, in place of one that a dead process left.
func listenUnix(path string, perm fs.FileMode) (net.Listener, error) {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		return nil, fmt.Errorf("open unix socket: a path of %d bytes is too long, the system takes %d: %s", len(path), most, path)
	}
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("open unix socket %s: there is a file, and it is no socket", path)
	case err == nil:
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("open unix socket %s: another process is listening on it", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace unix socket: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open unix socket: %w", err)
	}
	if perm != 0 {
		if err := os.Chmod(path, perm); err != nil {
			l.Close()
			return nil, fmt.Errorf("set permissions of unix socket: %w", err)
		}
	}
	return l, nil
}

// Loopback is the address of [ListenLoopback].
const Loopback = "127.0.0.1"

// ListenLoopback opens n TCP ports on loopback, from first on and passing over
// those that are taken; first 0: any free ports.
func ListenLoopback(n, first int) ([]net.Listener, error) {
	var open []net.Listener
	port := first
	for len(open) < n {
		if port > 65535 {
			port = 0 // the end of the range: the system chooses
		}
		l, err := net.Listen("tcp4", net.JoinHostPort(Loopback, strconv.Itoa(port)))
		switch {
		case err == nil:
			open = append(open, l)
		case port == 0 || !addressInUse(err):
			CloseListeners(open)
			return nil, fmt.Errorf("open port %d of %d: %w", len(open)+1, n, err)
		}
		if port != 0 {
			port++
		}
	}
	return open, nil
}

// CloseListeners closes sockets that no node has taken over.
func CloseListeners(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}
