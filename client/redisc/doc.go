// Package redisc talks to a cluster through redigo, and takes the place of the package
// of that name: a program changes the import path and nothing else.
//
// A [Cluster] stands where a redis.Pool of redigo stood. Its Get returns a connection
// that belongs to no node yet; the first command with a key binds it to the node that has
// the key's slot, and there it stays until it is closed:
//
//	cluster := &redisc.Cluster{
//		StartupNodes: []string{"10.0.0.1:6379", "10.0.0.2:6379"},
//		CreatePool: func(addr string, opts ...redis.DialOption) (*redis.Pool, error) {
//			return &redis.Pool{MaxIdle: 5, Dial: func() (redis.Conn, error) {
//				return redis.Dial("tcp", addr, opts...)
//			}}, nil
//		},
//	}
//	defer cluster.Close()
//	if err := cluster.Refresh(); err != nil { ... } // optional: right from the first command
//	conn := cluster.Get()
//	defer conn.Close()
//	greeting, err := redis.String(conn.Do("GET", "greeting"))
//
// What it promises:
//
//   - A MOVED that any connection sees corrects the slot for everybody before the call
//     returns, and has the whole map loaded in the background when it was news.
//   - A connection follows no redirection on its own. [RetryConn] makes one that does,
//     and so does [Cluster.Retry].
//   - There is one pool for each address, made by [Cluster.CreatePool], and no connection
//     beside it but those of [Cluster.Dial].
//   - After [Cluster.Close] connections that are bound work on; everything else gives
//     the error "redisc: closed".
//
// What it refuses: keys of several slots in one command, unless [Cluster.SplitKeys] or
// [Cluster.SpreadPipelines] allow what can be split.
//
// Methods of Cluster may be called concurrently. A connection has one reader (Receive)
// and one writer (Send, Flush) at a time, which may work at the same time; Do is both.
// docs/redisc.md says more, also what goes beyond the package it replaces.
package redisc
