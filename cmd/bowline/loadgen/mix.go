package loadgen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Mix says which commands are sent, and how often each. [ParseMix] makes it.
type Mix struct {
	text  string
	rows  []*command
	until []int // of rows, the sum of the weights up to and with it
}

// weightMax bounds the weight of one command.
const weightMax = 1_000_000

// ParseMix reads a list such as "get=80,set=20": commands with their weights, which need
// not add up to 100. A command without a weight has 1.
func ParseMix(text string) (Mix, error) {
	m := Mix{text: text}
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		row := lookup(strings.ToLower(name))
		if row == nil {
			return Mix{}, fmt.Errorf("unknown command %q; known are %s", name, strings.Join(Commands(), ", "))
		}
		if slices.Contains(m.rows, row) {
			return Mix{}, fmt.Errorf("command %q is there twice", name)
		}
		weight := 1
		if given {
			var err error
			if weight, err = strconv.Atoi(value); err != nil || weight < 1 || weight > weightMax {
				return Mix{}, fmt.Errorf("weight %q of %s: a number between 1 and %d is needed", value, name, weightMax)
			}
		}
		sum += weight
		m.rows = append(m.rows, row)
		m.until = append(m.until, sum)
	}
	return m, nil
}

// String returns the text that the mix was read from.
func (m Mix) String() string { return m.text }

// pick chooses a command, as an index into rows.
func (m Mix) pick(r *rand.Rand) int {
	at, _ := slices.BinarySearch(m.until, 1+r.IntN(m.until[len(m.until)-1]))
	return at
}
