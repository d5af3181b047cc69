package clienttest

// Stall makes the node hang: it takes connections and what clients send, and answers
// nothing until [Node.Resume]. Then it goes on with what came meanwhile. Commands that
// it has read already are executed; only their replies are held back.
func (n *Node) Stall() { n.door.Stall() }

// Resume ends [Node.Stall]. Without a stall it does nothing.
func (n *Node) Resume() { n.door.Resume() }

// CutNext cuts one connection off after so many bytes of replies, at least 0: the first
// one, open or new, that is sent a reply from now on. With 0 a command is executed and
// nothing of its reply arrives. A negative number takes the order back. A client greets
// each new connection with commands of its own, whose replies count too.
func (n *Node) CutNext(bytes int) {
	d := n.door
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutNext = max(bytes, noCut)
}

// CutAll cuts every connection off, the open ones and each new one, after so many more
// bytes of replies, at least 0, until [Node.Mend].
func (n *Node) CutAll(bytes int) { n.cutAll(max(bytes, 0)) }

// Mend ends [Node.CutNext] and [Node.CutAll] for connections that are not cut off yet.
func (n *Node) Mend() {
	n.CutNext(noCut)
	n.cutAll(noCut)
}

func (n *Node) cutAll(bytes int) {
	d := n.door
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutAll = bytes
	for c := range d.conns {
		c.left = bytes
	}
}

// Disconnect resets all open connections. The node runs on and takes new ones.
func (n *Node) Disconnect() { n.door.resetAll() }

// Conns counts connections from outside, those of other nodes of the cluster included:
// how many are open, and how many were accepted since the test's start.
func (n *Node) Conns() (open, accepted int) {
	d := n.door
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns), d.accepted
}
