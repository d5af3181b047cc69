// Package netdrive has the drivers that connect sessions with sockets.
//
// A driver accepts connections, refuses those that are too many or not allowed,
// feeds each session what its client sends, writes the replies, and enforces
// the limits on time and memory. There are two, and [New] chooses:
//
//   - [Portable] runs one goroutine per connection on net.Conn and works
//     everywhere, over TCP, unix sockets, TLS and pipes.
//   - Epoll (Linux) runs one event loop per core for plain sockets, with one read
//     buffer per loop and nothing but the session's state per idle connection.
//
// Drivers are among the few packages that may read clocks and open sockets.
package netdrive
