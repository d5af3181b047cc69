package acl

import (
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/command"
)

// secretDigest is the SHA-256 of "secret".
const secretDigest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"

func TestRulesHaveOneForm(t *testing.T) {
	all := Defaults{AllChannels: true}
	for _, c := range []struct {
		d           Defaults
		rules, want string
	}{
		{Defaults{}, "", "off sanitize-payload resetchannels -@all"},
		{all, "", "off sanitize-payload &* -@all"},
		{Defaults{}, "on nopass allkeys allchannels allcommands", "on nopass sanitize-payload ~* &* +@all"},
		{Defaults{}, "ON NoPass ~* &* +@ALL", "on nopass sanitize-payload ~* &* +@all"},
		{Defaults{}, ">secret >secret #" + secretDigest, "off sanitize-payload #" + secretDigest + " resetchannels -@all"},
		{Defaults{}, ">secret nopass", "off nopass sanitize-payload resetchannels -@all"},
		{Defaults{}, "nopass >secret", "off sanitize-payload #" + secretDigest + " resetchannels -@all"},
		{Defaults{}, ">secret >a <a", "off sanitize-payload #" + secretDigest + " resetchannels -@all"},
		{Defaults{}, ">secret !" + secretDigest, "off sanitize-payload resetchannels -@all"},
		{Defaults{}, "nopass resetpass", "off sanitize-payload resetchannels -@all"},
		{Defaults{}, "skip-sanitize-payload", "off skip-sanitize-payload resetchannels -@all"},
		{Defaults{}, "~a %R~b %W~c %rw~d ~a", "off sanitize-payload ~a %R~b %W~c ~d resetchannels -@all"},
		{Defaults{}, "%R~a %W~a", "off sanitize-payload ~a resetchannels -@all"},
		{Defaults{}, "%RW~* ~b", "off sanitize-payload %RW~* ~b resetchannels -@all"},
		{Defaults{}, "~a resetkeys ~b", "off sanitize-payload ~b resetchannels -@all"},
		{Defaults{}, "&a &b &a", "off sanitize-payload resetchannels &a &b -@all"},
		{Defaults{}, "+get +@read -get", "off sanitize-payload resetchannels -@all +@read -get"},
		{Defaults{}, "-@all +GET -get +get", "off sanitize-payload resetchannels -@all +get"},
		{Defaults{}, "+@all -@dangerous +keys", "off sanitize-payload resetchannels +@all -@dangerous +keys"},
		{Defaults{}, "+config|get -config", "off sanitize-payload resetchannels -@all -config"},
		{Defaults{}, "+config|get +config|set -config|get", "off sanitize-payload resetchannels -@all +config|set -config|get"},
		{Defaults{}, "+select|0 +select|A", "off sanitize-payload resetchannels -@all +select|0 +select|a"},
		{Defaults{}, "+select|0 -select", "off sanitize-payload resetchannels -@all -select"},
		{Defaults{}, "+get allcommands", "off sanitize-payload resetchannels +@all"},
		{Defaults{}, "~a (~b +set) ( %R~c  &ch +get )", "off sanitize-payload ~a resetchannels -@all (~b resetchannels -@all +set) (%R~c resetchannels &ch -@all +get)"},
		{all, "(+get)", "off sanitize-payload &* -@all (&* -@all +get)"},
		{Defaults{}, "(+get) clearselectors ~x", "off sanitize-payload ~x resetchannels -@all"},
		{Defaults{}, "on >secret ~a &b +get (+set) skip-sanitize-payload reset", "off sanitize-payload resetchannels -@all"},
		{all, "resetchannels reset", "off sanitize-payload &* -@all"},
	} {
		u, err := New("u", c.d).With(strings.Fields(c.rules), c.d)
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		if got := u.String(); got != "user u "+c.want {
			t.Errorf("%s:\n  got  %s\n  want user u %s", c.rules, got, c.want)
		}
	}
}

func TestBadRulesAreRefusedInTheWordsOfRedis(t *testing.T) {
	modifier := func(rule, why string) string { return "Error in ACL SETUSER modifier '" + rule + "': " + why }
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{"foo"}, modifier("foo", "Syntax error")},
		{[]string{"on", "+foo"}, modifier("+foo", "Unknown command or category name in ACL")},
		{[]string{"-@foo"}, modifier("-@foo", "Unknown command or category name in ACL")},
		{[]string{"+@"}, modifier("+@", "Unknown command or category name in ACL")},
		{[]string{"+"}, modifier("+", "Unknown command or category name in ACL")},
		{[]string{"+config|nosub"}, modifier("+config|nosub", "Unknown command or category name in ACL")},
		{[]string{"+config|get|x"}, modifier("+config|get|x", "Allowing first-arg of a subcommand is not supported")},
		{[]string{"+select|"}, modifier("+select|", "Syntax error")},
		{[]string{"+select|a b"}, modifier("+select|a b", "Syntax error")},
		{[]string{"-select|0"}, modifier("-select|0", "Unknown command or category name in ACL")},
		{[]string{"~*", "~a"}, modifier("~a", string(afterAllKeys))},
		{[]string{"~*", "%R~a"}, modifier("%R~a", string(afterAllKeys))},
		{[]string{"&*", "&a"}, modifier("&a", string(afterAllChannel))},
		{[]string{"~a b"}, modifier("~a b", "Syntax error")},
		{[]string{"~a\x00"}, modifier("~a\x00", "Syntax error")},
		{[]string{"&a\tb"}, modifier("&a\tb", "Syntax error")},
		{[]string{"%~a"}, modifier("%~a", "Syntax error")},
		{[]string{"%R"}, modifier("%R", "Syntax error")},
		{[]string{"%RR~a"}, modifier("%RR~a", "Syntax error")},
		{[]string{"%X~a"}, modifier("%X~a", "Syntax error")},
		{[]string{"<x"}, modifier("<x", string(noSuchPassword))},
		{[]string{"!" + secretDigest}, modifier("!"+secretDigest, string(noSuchPassword))},
		{[]string{"#abc"}, modifier("#abc", string(badDigest))},
		{[]string{"#" + strings.ToUpper(secretDigest)}, modifier("#"+strings.ToUpper(secretDigest), string(badDigest))},
		{[]string{"(+foo)"}, modifier("(+foo)", "Unknown command or category name in ACL")},
		{[]string{"(on)"}, modifier("(on)", "Syntax error")},
		{[]string{"(~a", "+get"}, "Unmatched parenthesis in acl selector starting at '(~a'."},
		{[]string{"(~a))"}, modifier("(~a))", "Syntax error")},
		{[]string{"(~a", "(~b)"}, modifier("(~a (~b)", "Syntax error")},
		{[]string{")"}, modifier(")", "Syntax error")},
	} {
		before := NewDefault("")
		u, err := New("u", Defaults{}).With(c.rules, Defaults{})
		if err == nil || err.Error() != c.want || u != nil {
			t.Errorf("%q: got %v, want %s", c.rules, err, c.want)
		}
		if !before.Everything() {
			t.Errorf("%q changed the default user", c.rules)
		}
	}
}

func TestRulesLeaveTheOldUserAlone(t *testing.T) {
	old := must(t, New("u", Defaults{}), "on >secret ~a &b +get +select|0 (~c +set)")
	text := old.String()
	must(t, old, "resetpass >x resetkeys ~z resetchannels &y -get +select|1 +@all -select clearselectors off")
	if old.String() != text {
		t.Errorf("%s became %s", text, old)
	}
}

func TestLogin(t *testing.T) {
	for _, c := range []struct {
		rules, password string
		accepts, open   bool
	}{
		{"on >secret", "secret", true, false},
		{"on >secret", "Secret", false, false},
		{"on >secret", "", false, false},
		{"on >a >secret >b", "secret", true, false},
		{"off >secret", "secret", false, false},
		{"on", "", false, false},
		{"on nopass", "anything", true, true},
		{"off nopass", "anything", false, false},
		{"on #" + secretDigest, "secret", true, false},
	} {
		u := must(t, New("u", Defaults{}), c.rules)
		if u.Accepts([]byte(c.password)) != c.accepts || u.Open() != c.open {
			t.Errorf("%s with %q: accepts %v, open %v", c.rules, c.password, !c.accepts, !c.open)
		}
	}
	if Nobody.Accepts(nil) || Nobody.Everything() {
		t.Error("nobody is somebody")
	}
	d := NewDefault("secret")
	if d.Open() || !d.Accepts([]byte("secret")) || !d.Everything() || !d.WithPassword("").Open() {
		t.Errorf("default user %s", d)
	}
}

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		rules, command string
		why            Denial
		at             int
	}{
		{"+get ~a*", "GET ab", Allowed, 0},
		{"+get ~a*", "GET b", DeniedKey, 1},
		{"+get ~a*", "SET ab 1", DeniedCommand, 0},
		{"~*", "AUTH x", Allowed, 0}, // needed to become somebody else
		{"~*", "PING", DeniedCommand, 0},
		{"+mget ~a ~b", "MGET a b", Allowed, 0},
		{"+mget ~a ~b", "MGET a b c", DeniedKey, 3},
		{"+@all %R~r %W~w", "GET r", Allowed, 0},
		{"+@all %R~r %W~w", "GET w", DeniedKey, 1},
		{"+@all %R~r %W~w", "SET w 1", Allowed, 0},
		{"+@all %R~r %W~w", "SET r 1", DeniedKey, 1},
		{"+@all %R~r %W~w", "SET w 1 GET", DeniedKey, 1},
		{"+@all %R~r %W~w", "GETDEL r", DeniedKey, 1},
		{"+@all %R~r %W~w", "COPY r w", Allowed, 0},
		{"+@all %R~r %W~w", "COPY w w", DeniedKey, 1},
		{"+@all %R~r %W~w", "COPY r r", DeniedKey, 2},
		{"+@all %R~r %W~w", "EXISTS w r", Allowed, 0}, // takes no reading
		{"+@all %R~r %W~w", "EXISTS x", DeniedKey, 1},
		{"+@all %R~r %W~w", "BITFIELD r GET u8 0", Allowed, 0},
		{"+@all %R~r %W~w", "BITFIELD r SET u8 0 1", DeniedKey, 1},
		{"+@all %R~x %W~x", "INCR x", Allowed, 0},
		{"+config|get", "CONFIG GET x", Allowed, 0},
		{"+config|get", "CONFIG SET x y", DeniedCommand, 0},
		{"+config -config|set", "CONFIG SET x y", DeniedCommand, 0},
		{"+config -config|set", "CONFIG REWRITE", Allowed, 0},
		{"+select|0", "SELECT 0", Allowed, 0},
		{"+select|0", "SELECT 1", DeniedCommand, 0},
		{"+publish &a*", "PUBLISH ab x", Allowed, 0},
		{"+publish &a*", "PUBLISH b x", DeniedChannel, 1},
		{"+publish &a*", "SPUBLISH ab x", DeniedCommand, 0},
		{"+@pubsub &a*", "SUBSCRIBE ab ac", Allowed, 0},
		{"+@pubsub &a*", "SUBSCRIBE ab b", DeniedChannel, 2},
		{"+@pubsub &a*", "SSUBSCRIBE ab b", DeniedChannel, 2},
		{"+@pubsub &a*", "PSUBSCRIBE a*", Allowed, 0},
		{"+@pubsub &a*", "PSUBSCRIBE ab", DeniedChannel, 1},
		{"+@pubsub &a*", "UNSUBSCRIBE b", Allowed, 0},
		{"+get ~a (+set ~b)", "SET b 1", Allowed, 0},
		{"+get ~a (+set ~b)", "SET a 1", DeniedKey, 1},
		{"+get ~a (+set ~b)", "GET b", DeniedKey, 1},
		{"+get ~a (+get ~b)", "GET b", Allowed, 0},
		{"+mget ~a (+mget ~b)", "MGET a b", DeniedKey, 2},
		{"+@all ~* &a", "SPUBLISH b x", DeniedChannel, 1},
		{"+eval ~a", "EVAL x 1 a", Allowed, 0},
		{"+eval ~a", "EVAL x 1 b", DeniedKey, 3},
		{"+eval ~a", "EVAL x 0", Allowed, 0},
		{"+eval ~a", "EVAL x nan b", Allowed, 0}, // the command refuses its arguments
	} {
		u := must(t, New("u", Defaults{}), c.rules)
		args, spec := request(c.command)
		var scratch []command.KeyRef
		if why, at := u.Check(spec, args, &scratch); why != c.why || at != c.at {
			t.Errorf("%s: %s: got %q at %d, want %q at %d", c.rules, c.command, why, at, c.why, c.at)
		}
	}
}

func TestWhoMayStillListen(t *testing.T) {
	u := must(t, New("u", Defaults{}), "&a* (&b)")
	for _, c := range []struct {
		name    string
		pattern bool
		want    bool
	}{{"ab", false, true}, {"ab", true, false}, {"a*", true, true}, {"b", false, true}, {"b", true, true}, {"c", false, false}} {
		if u.MayListen([]byte(c.name), c.pattern) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestSortReadsBeyondItsKeysOnlyWithFullRights(t *testing.T) {
	args, spec := request("SORT a BY w_*")
	for rules, want := range map[string]bool{
		"+sort ~*": true, "+sort %R~* %W~a": true, "+sort ~a": false, "+sort %W~* %R~a": false, "~*": false, "+get ~* (+sort ~a)": false, "~a (+sort %RW~*)": true,
	} {
		var scratch []command.KeyRef
		if got := must(t, New("u", Defaults{}), rules).ReadsAnyKey(spec, args, &scratch); got != want {
			t.Errorf("%s: %v", rules, got)
		}
	}
}

func TestCheckingDoesNotAllocate(t *testing.T) {
	u := must(t, New("u", Defaults{}), "+@all -flushall ~nothing &nothing (~a* %R~b* &ch +@all +select|0)")
	scratch := make([]command.KeyRef, 0, 8)
	for _, line := range []string{"GET ab", "MGET ab bb", "PUBLISH ch x", "SELECT 0"} {
		args, spec := request(line)
		n := testing.AllocsPerRun(100, func() {
			if why, _ := u.Check(spec, args, &scratch); why != Allowed {
				t.Fatalf("%s: %v", line, why)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func must(t testing.TB, u *User, rules string) *User {
	t.Helper()
	next, err := u.With(strings.Fields(rules), Defaults{})
	if err != nil {
		t.Fatalf("%s: %v", rules, err)
	}
	return next
}

func request(line string) (args [][]byte, spec *command.Spec) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args, command.FindAny(args)
}

func BenchmarkCheck(b *testing.B) {
	u := must(b, New("u", Defaults{}), "+@all -flushall ~user:* ~cache:*")
	args, spec := request("GET cache:12345")
	scratch := make([]command.KeyRef, 0, 8)
	for b.Loop() {
		if why, _ := u.Check(spec, args, &scratch); why != Allowed {
			b.Fatal(why)
		}
	}
}
