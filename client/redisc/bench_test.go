package redisc_test

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
	"github.com/bowline-kv/bowline/internal/redistest"
)

// BenchmarkGetDoClose compares a command by way of a cluster with one by way of the pool
// of its node.
func BenchmarkGetDoClose(b *testing.B) {
	srv := redistest.Start(b, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")
	srv.Dial(b).Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	c := &redisc.Cluster{StartupNodes: []string{srv.Addr}, CreatePool: livePools}
	defer c.Close()
	waitFor(b, "the cluster to serve", func() bool {
		conn := c.Get()
		defer conn.Close()
		_, err := conn.Do("SET", keyA, 1)
		return err == nil
	})
	pool, err := livePools(srv.Addr)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	for name, get := range map[string]func() redis.Conn{"cluster": c.Get, "pool": pool.Get} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				conn := get()
				if _, err := conn.Do("GET", keyA); err != nil {
					b.Fatal(err)
				}
				conn.Close()
			}
		})
	}
}
