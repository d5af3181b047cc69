package player

import (
	"testing"

	"pgregory.net/rapid"
)

// sortOptions draws options of SORT whose outcome does not depend on the order of a
// hash table or of equal elements, which is by chance in both servers: elements of
// equal weight are ordered by themselves, but not with ALPHA.
func sortOptions(t *rapid.T, ordered bool) (args []string) {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "word") }
	alpha := rapid.Bool().Draw(t, "alpha")
	switch by := rapid.IntRange(0, 3).Draw(t, "by"); {
	case by == 0 && ordered:
		args = append(args, "BY", "nosort")
	case by == 1 && !alpha:
		args = append(args, "BY", pick("weight_*", "hash_*->weight", "none_*", "text_*"))
	}
	if alpha {
		args = append(args, "ALPHA")
	}
	if rapid.Bool().Draw(t, "limit") {
		args = append(args, "LIMIT", pick("0", "1", "2", "-1", "100", "x"), pick("0", "1", "3", "-1", "100", "9223372036854775807"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "gets") {
		args = append(args, "GET", pick("#", "weight_*", "hash_*->name", "none_*", "text_*", "plain", "list", "hash_*->"))
	}
	args = append(args, pick("ASC", "DESC", "asc"))
	return args
}

func TestSortsAnswerAsRedis(t *testing.T) {
	setChecks(t, *steps/20)
	forBothProtocols(t, func(t *testing.T, proto int) {
		p := pair(t, proto)
		rapid.Check(t, func(t *rapid.T) {
			element := rapid.SampledFrom([]string{"1", "2", "3", "10", "-5", "2.5", "1e3", "a", "b", "", "weight"})
			elements := rapid.SliceOfNDistinct(element, 1, 8, func(s string) string { return s }).Draw(t, "elements")
			program := [][]string{
				{"FLUSHALL"}, {"MSET", "weight_1", "5", "weight_2", "-1", "weight_3", "5", "weight_10", "0.5", "text_1", "x", "text_2", "y"},
				{"HSET", "hash_1", "weight", "3", "name", "one"}, {"HSET", "hash_2", "weight", "1", "name", "two"},
				append([]string{"RPUSH", "list"}, elements...), append([]string{"SADD", "set"}, elements...),
			}
			for i, e := range elements {
				program = append(program, []string{"ZADD", "zset", string(rune('0' + i%4)), e})
			}
			for range 5 {
				key := rapid.SampledFrom([]string{"list", "set", "zset", "none", "weight_1"}).Draw(t, "key")
				command := rapid.SampledFrom([]string{"SORT", "SORT_RO"}).Draw(t, "command")
				args := append([]string{command, key}, sortOptions(t, key != "set")...)
				if command == "SORT" && rapid.Bool().Draw(t, "store") {
					args = append(args, "STORE", rapid.SampledFrom([]string{"list", "out", "weight_2"}).Draw(t, "destination"))
				}
				program = append(program, args, []string{"LRANGE", "list", "0", "-1"}, []string{"LRANGE", "out", "0", "-1"}, []string{"TYPE", "weight_2"})
			}
			if difference := p.Play(program); difference != "" {
				t.Fatal(difference)
			}
		})
	})
}
