package store

// bucketMap is a chained hash table whose buckets are in the order of the
// hash: bucket i of 2^k holds the hashes whose top k bits are i. Growing and
// shrinking therefore keep the order, and a walk can continue from a hash
// whatever happened to the table in between.
//
//	hash   0........................................2^64
//	k = 1  |        bucket 0        |       bucket 1    |
//	k = 2  |     0     |     1      |    2    |    3    |
type bucketMap struct {
	buckets []*item // length 0 or 2^bits
	bits    uint
	count   int
}

const bucketBitsMin = 2

func (m *bucketMap) index(hash uint64) int { return int(hash >> (64 - m.bits)) }

func (m *bucketMap) find(k Key) *item {
	if m.count == 0 {
		return nil
	}
	for it := m.buckets[m.index(k.Hash)]; it != nil; it = it.next {
		if it.hash == k.Hash && string(it.key) == string(k.Name) {
			return it
		}
	}
	return nil
}

// insert adds an item whose key is not there yet.
func (m *bucketMap) insert(it *item) {
	switch {
	case m.buckets == nil:
		m.resize(bucketBitsMin)
	case m.count >= len(m.buckets):
		m.resize(m.bits + 1)
	}
	i := m.index(it.hash)
	it.next = m.buckets[i]
	m.buckets[i] = it
	m.count++
}

func (m *bucketMap) remove(k Key) *item {
	if m.count == 0 {
		return nil
	}
	link := &m.buckets[m.index(k.Hash)]
	for *link != nil && !((*link).hash == k.Hash && string((*link).key) == string(k.Name)) {
		link = &(*link).next
	}
	it := *link
	if it == nil {
		return nil
	}
	*link = it.next
	it.next = nil
	m.count--
	switch {
	case m.count == 0:
		m.buckets, m.bits = nil, 0
	case m.bits > bucketBitsMin && m.count < len(m.buckets)/8:
		m.resize(m.bits - 1)
	}
	return it
}

func (m *bucketMap) resize(bits uint) {
	old := m.buckets
	m.bits = bits
	m.buckets = make([]*item, 1<<bits)
	for _, it := range old {
		for it != nil {
			next := it.next
			i := m.index(it.hash)
			it.next = m.buckets[i]
			m.buckets[i] = it
			it = next
		}
	}
}
