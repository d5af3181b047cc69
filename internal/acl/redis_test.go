package acl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/redistest"
)

// Rules that random users are made of. Those that 7.0 reads otherwise are left out:
// "%RW~*", which it can't read back once it has printed it; words in a selector that
// end in a parenthesis; and a selector that begins within another, of which it
// forgets the first without a word.
var (
	someFlags = []string{"on", "off", "nopass", "resetpass", ">secret", ">other", "<secret", "#" + secretDigest, "!" + secretDigest, "#12",
		"sanitize-payload", "skip-sanitize-payload", "reset", "clearselectors", "ON", "", "nonsense", ")"}
	someRules = []string{"~a", "~b*", "%R~r", "%W~w", "%RW~x", "%rw~a", "%R~a", "%~a", "%RR~a", "%Q~a", "~*", "allkeys", "resetkeys",
		"&c", "&d*", "&*", "allchannels", "resetchannels",
		"+get", "-get", "+GET", "+set", "-set", "+mget", "+config", "-config", "+config|get", "-config|set", "+config|nope", "+config|get|x", "+select|0", "+select|1", "-select|0",
		"+select", "-select", "+select|", "+debug|object", "+@all", "-@all", "allcommands", "nocommands", "+@read", "-@read", "+@write", "-@write", "+@dangerous", "-@dangerous",
		"+@keyspace", "-@slow", "+@fast", "+@pubsub", "-@pubsub", "+@connection", "-@admin", "+@string", "+@nope", "+nope", "-nope", "+@", "+", "-", "~", "&"}
	someRequests = []string{"get a", "get bc", "get r", "get w", "get z", "set a 1", "set w 1", "set w 1 get", "set r 1", "mget a bb", "mget a z", "mset a 1 w 1", "del a z",
		"copy r w", "copy w r", "exists r w", "getdel x", "incr x", "append w 1", "bitfield r get u8 0", "bitfield r set u8 0 1", "rename x a", "keys *", "type r", "object encoding r",
		"config get x", "config set x y", "config rewrite", "select 0", "select 1", "ping", "auth x", "hello", "acl whoami", "acl list", "client list", "debug object",
		"publish c x", "publish d1 x", "publish e x", "spublish c x", "subscribe c d2", "subscribe c e", "psubscribe d*", "psubscribe d1", "ssubscribe c", "unsubscribe e",
		"flushall", "dbsize", "multi", "watch r", "watch z", "get"}
)

// randomRules makes a sequence of rules; now and then one is a selector, whole or
// spread over several.
func randomRules(rng *rand.Rand) []string {
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	var rules []string
	for range 1 + rng.IntN(6) {
		switch n := rng.IntN(10); {
		case n < 2:
			rules = append(rules, pick(someFlags))
		case n < 8:
			rules = append(rules, pick(someRules))
		default:
			inner := "(" + pick(someRules) + " " + pick(someRules) + " " + pick(someRules) + ")"
			if n == 8 {
				rules = append(rules, inner)
			} else {
				rules = append(rules, strings.Split(inner, " ")...)
			}
		}
	}
	return rules
}

func TestRulesMeanWhatTheyMeanInRedis(t *testing.T) {
	oracle := redistest.Start(t).Dial(t)
	rng := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, 0
	for range 400 {
		oracle.Do("ACL", "SETUSER", "u", "reset")
		u := must(t, New("u", Defaults{}), "reset")
		for range 1 + rng.IntN(3) {
			rules := randomRules(rng)
			want := oracle.Do(append([]string{"ACL", "SETUSER", "u"}, rules...)...)
			next, err := u.With(rules, Defaults{})
			if err != nil {
				refused++
				if want != redistest.Error("ERR "+err.Error()) {
					t.Fatalf("%q:\n  got  %v\n  want %v", rules, err, want)
				}
				continue
			}
			if want != redistest.Simple("OK") {
				t.Fatalf("%q is accepted, want %v", rules, want)
			}
			u = next
			accepted++
		}
		compareUsers(t, oracle, u)
	}
	if accepted < 200 || refused < 100 {
		t.Errorf("%d sequences accepted and %d refused: a poor mixture", accepted, refused)
	}
}

// compareUsers compares what is shown of a user, but for the rules about commands:
// 7.0 works them out of the set, where later versions keep what was said. What these
// mean is compared by trying them out, with our form of them too.
func compareUsers(t *testing.T, oracle *redistest.Conn, u *User) {
	t.Helper()
	d := u.Describe()
	theirs, _ := oracle.Do("ACL", "GETUSER", "u").([]any)
	fields := map[string]any{}
	for i := 0; i+1 < len(theirs); i += 2 {
		fields[fmt.Sprint(theirs[i])] = theirs[i+1]
	}
	for _, row := range [][2]any{
		{d.Flags, fields["flags"]}, {d.Passwords, fields["passwords"]}, {d.Selectors[0].Keys, fields["keys"]}, {d.Selectors[0].Channels, fields["channels"]},
	} {
		if fmt.Sprint(row[0]) != fmt.Sprint(row[1]) {
			t.Fatalf("%s: got %v, want %v", u, row[0], row[1])
		}
	}
	selectors, _ := fields["selectors"].([]any)
	if len(selectors) != len(d.Selectors)-1 {
		t.Fatalf("%s: %d selectors, want %d", u, len(d.Selectors)-1, len(selectors))
	}
	words := strings.Fields(u.String())
	if got := oracle.Do(append([]string{"ACL", "SETUSER", "v", "reset"}, words[2:]...)...); got != redistest.Simple("OK") {
		t.Fatalf("%s: redis-server answers %v", u, got)
	}
	for _, line := range someRequests {
		want := oracle.Do(append([]string{"ACL", "DRYRUN", "u"}, strings.Fields(line)...)...)
		if again := oracle.Do(append([]string{"ACL", "DRYRUN", "v"}, strings.Fields(line)...)...); again != want {
			t.Fatalf("%s: %s: the printed form answers %v, want %v", u, line, again, want)
		}
		if got := dryRun(u, line); got != want {
			t.Fatalf("%s: %s: got %v, want %v", u, line, got, want)
		}
	}
}

// dryRun answers as ACL DRYRUN of 7.0.
func dryRun(u *User, line string) any {
	args, spec := request(line)
	if !spec.CheckArity(len(args)) {
		return redistest.Error("ERR wrong number of arguments for '" + spec.Name + "' command")
	}
	var scratch []command.KeyRef
	switch why, at := u.Check(spec, args, &scratch); why {
	case DeniedKey:
		return "This user has no permissions to access the '" + string(args[at]) + "' key"
	case DeniedChannel:
		return "This user has no permissions to access the '" + string(args[at]) + "' channel"
	case DeniedCommand:
		return "This user has no permissions to run the '" + spec.Name + "' command"
	}
	return redistest.Simple("OK")
}
