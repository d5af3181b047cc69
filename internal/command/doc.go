// Package command is the command table: what every command of Redis 7.4 and
// Valkey 8 is called, how many arguments it takes, which of them are keys, and
// what the COMMAND family says about it.
//
// The facts live in testdata/commands.json, one row a command or subcommand,
// and are generated into table.go; the Go client generates its routing table
// from the same file. Change the JSON, then run go generate; a test fails when
// the two differ.
//
// What it promises: [Lookup], [Spec.Subcommand], [Find], [Spec.CheckArity] and
// [Spec.Keys] allocate nothing, take any bytes without panicking, and may be
// called from any goroutine. Nothing here changes after the package is loaded.
//
// What it refuses: it holds no handlers, runs nothing, and knows no sockets.
// A row whose [State] is not [Working] does not exist for a client: [Lookup]
// and [Reply] leave it out, only the functions ending in Any see it.
//
// To start, look a request up and ask for its keys:
//
//	spec := command.Find(args)
//	if spec == nil || !spec.CheckArity(len(args)) { ... }
//	refs, err := spec.Keys(args, refs[:0])
package command

//go:generate go run ./gen
