// Package client talks to a Redis-compatible cluster, or to a single server.
//
// It routes commands to the node that has their keys, follows redirections, splits
// commands over several slots, survives failovers, and shares few connections among
// all goroutines, whose commands it pipelines on its own. What it does when a cluster
// redirects or a socket drops is written down point by point in
// docs/client-behavior.md.
//
// What it promises:
//
//   - A command that may have been executed is never sent again. Its error says so:
//     [ErrMaybeExecuted]. Every other error means that it was not executed, or is the
//     server's own.
//   - A command follows at most three redirections, without delay.
//   - A context that ends ends the call within milliseconds, and disturbs nobody else.
//   - A MOVED corrects the slot for everybody at once; the whole map is reloaded, once
//     at a time and not too often, when there is reason to doubt it.
//   - A node that hangs does not slow the others down.
//
// What it refuses: on the shared connections no command that changes their state
// ([ErrNotShared]): [Client.Subscribe], [Client.Tx], [Client.Watch] and [Client.Conn] are for
// that.
//
// To start:
//
//	c, err := client.Open(ctx, client.Options{Addrs: []string{"10.0.0.1:6379", "10.0.0.2:6379"}})
//	if err != nil { ... }
//	defer c.Close()
//	err = c.Do(ctx, "SET", "greeting", "hello").Err()
//	text, err := c.Do(ctx, "GET", "greeting").Text()
package client
