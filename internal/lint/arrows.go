package lint

// ranks is the house of docs/architecture.md: a package may import packages of
// a lower rank only. A new package gets its place here first.
var ranks = map[string]int{
	"slot": 0,
	"resp": 0,

	"client/internal/announce": 1,

	"client":        2, // needs these and the standard library only
	"client/redisc": 3,

	"internal/glob":      1,
	"internal/histogram": 1,
	"internal/reply":     1,
	"internal/page":      1,
	"internal/vfs":       1,
	"internal/wal":       2,

	"internal/ds/pack":   1,
	"internal/ds/intset": 1,
	"internal/ds/tree":   2,
	"internal/ds/chain":  2,
	"internal/rdb":       3,

	"internal/command":  3,
	"internal/topology": 3,
	"internal/store":    3,
	"internal/config":   3,
	"internal/metrics":  3,
	"internal/secure":   3,

	"internal/acl":   4,
	"internal/value": 4,
	"internal/shard": 5,

	"internal/engine":         6,
	"internal/engine/bitmaps": 7,
	"internal/engine/hashes":  7,
	"internal/engine/keys":    7,
	"internal/engine/lists":   7,
	"internal/engine/sets":    7,
	"internal/engine/strings": 7,
	"internal/engine/zsets":   7,
	"internal/session":        7,
	"internal/netdrive":       8,

	"internal/server": 9,

	"internal/node":       10,
	"internal/devcluster": 11,

	"client/clienttest": 11, // the whole server, for the tests of programs that use the client

	"cmd/bowline/loadgen": 11,
	"cmd/bowline":         12,

	// Generators, benchmarks and what only tests import stand on top.
	"client/gen":           20,
	"internal/command/gen": 20,
	"internal/redistest":   20,
	"internal/player":      21,
	"internal/lint":        20,
	"bench":                20,
}

// public packages need the standard library only. client/redisc is public too, and needs
// redigo.
var public = []string{"resp", "slot", "client", "client/internal/announce"}

// pure packages import nothing with a goroutine, clock, socket or file in it.
var pure = []string{
	"resp", "slot", "internal/glob", "internal/reply", "internal/command", "internal/topology",
	"internal/ds/pack", "internal/ds/intset", "internal/acl",
}

// impure are the packages of the standard library that a pure one can't import.
var impure = []string{
	"os", "os/exec", "os/signal", "net", "net/http", "time", "sync", "sync/atomic", "context", "syscall",
	"io/fs", "io/ioutil", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog", "testing", "runtime",
}

// testOnly packages are imported by tests only.
var testOnly = []string{"internal/redistest", "internal/player", "internal/lint"}

// bannedCalls are kept out of internal/: time, disk, network and chance come in
// from outside.
var bannedCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"net": {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialUnix", "DialIP",
		"Listen", "ListenTCP", "ListenUDP", "ListenUnix", "ListenPacket", "ListenIP"},
	"os": {"Open", "OpenFile", "OpenRoot", "OpenInRoot", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir",
		"Mkdir", "MkdirAll", "MkdirTemp", "Remove", "RemoveAll", "Rename", "Stat", "Lstat", "Truncate",
		"Link", "Symlink", "Chmod", "Chown", "Chtimes", "DirFS", "CopyFS"},
	"math/rand":    {"*"},
	"math/rand/v2": {"*"},
	"crypto/rand":  {"*"},
}

// seeded are the functions of the random packages that use no global source.
var seeded = map[string]bool{"New": true, "NewSource": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true}

// outside may read clocks and open files and sockets.
var outside = []string{
	"internal/node", "internal/vfs", "internal/netdrive", "internal/redistest", "internal/lint", "internal/command/gen",
}

// bannedNames say nothing about what is inside.
var bannedNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "base"}
