// Package config is the configuration of a node: one table of parameters, the
// sources that fill it, and CONFIG GET and SET over it.
//
// A [Config] starts with the defaults of the table ([New]). Then come, each
// overriding what was before, a file ([Config.LoadFile], TOML or the syntax of
// redis.conf), the environment ([Config.LoadEnviron]) and flags
// ([Config.Load]). While the node runs, [Config.Set] changes what may change.
// Code reads a parameter by its handle, c.Int(config.MaxClients), without lock
// or lookup, so also on the hottest path.
//
// The package promises that every value in a Config is within the limits of its
// row, that a source with an unknown key or a bad value is refused with its
// place, and that a CONFIG SET of several parameters happens whole or not at
// all. Replies to CONFIG GET and SET have the bytes of Redis 7. It opens no
// file by itself: the caller passes a [ReadFile].
//
// A new parameter is a row in the file table.go and, when code reads it, a
// handle in handles.go.
package config
