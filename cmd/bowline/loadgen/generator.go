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
	data []byte // what values are cut from; all workers share it
}

// newGenerator makes the generator of a worker; the same seed and worker give the same
// commands, but for the keys of a sequential distribution, which all workers share.
func newGenerator(o *Options, k keys, data []byte, worker int) *generator {
	return &generator{rand: rand.New(rand.NewPCG(o.Seed, uint64(worker))), mix: o.Mix, keys: k, size: o.ValueSize, data: data}
}

// startsMax is how many bytes more than the largest value there are to cut values from,
// so that they differ in where they begin.
const startsMax = 1 << 20

// newData makes what values are cut from.
func newData(o *Options) []byte {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	r := rand.New(rand.NewPCG(o.Seed, dataStream))
	data := make([]byte, max(o.ValueSize.Max+min(o.ValueSize.Max, startsMax), 1))
	for i := range data {
		data[i] = alphabet[r.IntN(len(alphabet))]
	}
	return data
}

// dataStream is the number of no worker.
const dataStream = 1 << 32

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
