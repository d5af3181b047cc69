package chain

import (
	"fmt"
	"testing"

	"github.com/bowline-kv/bowline/internal/page"
)

func TestACloneIsApart(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	c := New(pool, LimitOf(-1))
	for i := range 5000 {
		c.PushFront(fmt.Appendf(nil, "element %d", i))
	}
	d := c.Clone()
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	d.DropFront()
	d.Set(d.At(0), []byte("other"))
	if c.Len() != 5000 || !c.Front().Equal([]byte("element 4999")) || d.Len() != 4999 || !d.Front().Equal([]byte("other")) {
		t.Errorf("%d elements, the clone %d", c.Len(), d.Len())
	}
	for _, c := range []*Chain{c, d} {
		for r := c.Release(); r.Step(10); {
		}
	}
	if n := pool.Stats().InUse; n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}
