package server

import (
	"time"
)

// Certificate is what INFO tells of the node's TLS.
type Certificate struct {
	// Serial is the certificate's number, in hexadecimal digits.
	Serial string
	// Expires is when the certificate ends, CAExpires when the first authority
	// does that is trusted; zero: there is none.
	Expires, CAExpires time.Time
	// Loaded is when the files were read.
	Loaded time.Time
	// Loads and Failures count the readings that were and were not used. Failed:
	// the newest was not.
	Loads, Failures uint64
	Failed          bool
}

func (srv *Server) aboutTLS() map[string]source {
	field := func(of func(c *Certificate) int64) source {
		return numberSource(func() int64 {
			if srv.process.TLS == nil {
				return 0
			}
			c, on := srv.process.TLS()
			if !on {
				return 0
			}
			return of(&c)
		})
	}
	text := func(of func(c *Certificate) string) source {
		return textSource(func() string {
			if srv.process.TLS == nil {
				return ""
			}
			c, on := srv.process.TLS()
			if !on {
				return ""
			}
			return of(&c)
		})
	}
	unix := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.Unix()
	}
	return map[string]source{
		"tls_enabled": field(func(*Certificate) int64 { return 1 }),
		"tls_connections": numberSource(func() int64 {
			n := int64(0)
			for _, s := range srv.registry.All() {
				if s.TLS() {
					n++
				}
			}
			return n
		}),
		"tls_handshakes_failed": numberSource(func() uint64 {
			stats, _ := srv.driverStats()
			return stats.HandshakesFailed
		}),
		"tls_cert_serial":         text(func(c *Certificate) string { return c.Serial }),
		"tls_cert_expire_time":    field(func(c *Certificate) int64 { return unix(c.Expires) }),
		"tls_ca_cert_expire_time": field(func(c *Certificate) int64 { return unix(c.CAExpires) }),
		"tls_cert_seconds_left": field(func(c *Certificate) int64 {
			return int64(c.Expires.Sub(time.UnixMicro(srv.now().Wall)) / time.Second)
		}),
		"tls_loaded_time":   field(func(c *Certificate) int64 { return unix(c.Loaded) }),
		"tls_loads":         field(func(c *Certificate) int64 { return int64(c.Loads) }),
		"tls_load_failures": field(func(c *Certificate) int64 { return int64(c.Failures) }),
		"tls_last_load_status": text(func(c *Certificate) string {
			if c.Failed {
				return "err"
			}
			return "ok"
		}),
	}
}
