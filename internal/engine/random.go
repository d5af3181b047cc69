package engine

import (
	"math"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// RandomMax is the largest number of members, chosen by chance with repetition, that
// a reply may hold. Redis lets memory be the limit.
const RandomMax = 1 << 22

// RandomCount parses the count of SRANDMEMBER and its like; below 0, members may
// repeat. When ok is false the error was written.
func RandomCount(c *Ctx, arg []byte) (n int64, ok bool) {
	n, ok = resp.ParseInt(arg)
	switch {
	case !ok:
		c.Error(reply.NotInteger)
	case n == math.MinInt64:
		c.Error(reply.Outside(-math.MaxInt64, math.MaxInt64))
	default:
		return n, true
	}
	return 0, false
}
