package chain

import "slices"

// deque is a slice of nodes with room at both ends.
type deque struct {
	all  []node
	head int // the first node's place; what is before is free
}

const dequeMin = 4

func (d *deque) len() int { return len(d.all) - d.head }

func (d *deque) at(i int) *node { return &d.all[d.head+i] }

// insert puts a node before the one at i, moving those of the shorter side.
func (d *deque) insert(i int, n node) {
	if i < d.len()/2 || i == 0 && len(d.all) > 0 {
		if d.head == 0 {
			d.resize(d.len()/2 + dequeMin)
		}
		d.head--
		copy(d.all[d.head:], d.all[d.head+1:d.head+1+i])
		d.all[d.head+i] = n
		return
	}
	d.all = slices.Insert(d.all, d.head+i, n)
}

// remove takes nodes i..j-1 out.
func (d *deque) remove(i, j int) {
	if i < d.len()-j {
		copy(d.all[d.head+j-i:], d.all[d.head:d.head+i])
		d.head += j - i
	} else {
		d.all = slices.Delete(d.all, d.head+i, d.head+j)
	}
	if cap(d.all) > 4*(d.len()+dequeMin) {
		d.resize(d.len() / 2)
	}
}

// resize moves the nodes to a slice with so much room in front, and a little behind.
func (d *deque) resize(front int) {
	n := d.len()
	all := make([]node, front+n, front+n+n/4+dequeMin)
	copy(all[front:], d.all[d.head:])
	d.all, d.head = all, front
}
