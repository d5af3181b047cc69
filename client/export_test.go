package client

// FakeCluster gives the options to reach a cluster of three scripted nodes, for the
// examples.
func FakeCluster() Options {
	f := newFake(nil, "a:1", "b:2", "c:3")
	h := newHub()
	for _, n := range f.nodes {
		n.script(withMap(map3, func(r *request) string {
			switch {
			case r.is("PUBLISH"), r.is("SPUBLISH"):
				kind := "message"
				if r.is("SPUBLISH") {
					kind = "smessage"
				}
				h.send(r.args[1], bulk(kind), bulk(r.args[1]), bulk(r.args[2]))
				return ":1\r\n"
			case r.is("EVALSHA"):
				return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
			case r.is("EVAL"):
				return bulk(r.args[3] + "=" + r.args[4])
			case r.is("DBSIZE"):
				n.mu.Lock()
				defer n.mu.Unlock()
				return integer(len(n.data))
			case r.is("SCAN"):
				return n.scan()
			case r.is("BLPOP"):
				return array(bulk(r.args[1]), bulk("job 1"))
			}
			return h.answer(r)
		}))
	}
	return Options{Addrs: []string{"a:1", "b:2", "c:3"}, Dialer: f.dial}
}

// scan answers SCAN with all keys at once.
func (n *fakeNode) scan() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var keys []string
	for key := range n.data {
		keys = append(keys, bulk(key))
	}
	return array(bulk("0"), array(keys...))
}
