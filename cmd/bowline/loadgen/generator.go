package loadgen

import (
	"math/rand/v2"
	"strconv"
)

// generator makes the commands of one worker. It is for one goroutine.
type generator struct {
	rand *rand.Rand
	mix  Mix
	keys keys
	size Size
	data []byte // what values are cut from
}

// newGenerator makes the generator of a worker; the same seed and worker give the same
// commands, but for the keys of a sequential distribution, which all workers share.
func newGenerator(o *Options, k keys, worker int) *generator {
	g := &generator{rand: rand.New(rand.NewPCG(o.Seed, uint64(worker))), mix: o.Mix, keys: k, size: o.ValueSize}
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	// Twice the largest size, so that values differ in where they begin.
	g.data = make([]byte, max(2*o.ValueSize.Max, 1))
	for i := range g.data {
		g.data[i] = alphabet[g.rand.IntN(len(alphabet))]
	}
	return g
}

// next chooses a command and appends its arguments.
func (g *generator) next(args []any) (row int, _ []any) {
	row = g.mix.pick(g.rand)
	return row, g.mix.rows[row].build(g, args)
}

func (g *generator) key(prefix string) string {
	return prefix + strconv.Itoa(g.keys.next(g.rand))
}

// value is valid until the generator is gone. It must not be changed.
func (g *generator) value() []byte {
	n := g.size.Min + g.rand.IntN(g.size.Max-g.size.Min+1)
	from := g.rand.IntN(len(g.data) - n + 1)
	return g.data[from : from+n]
}
