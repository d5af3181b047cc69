package acl

import (
	"fmt"
	"strings"
	"testing"
)

func TestFilesAreRead(t *testing.T) {
	users, err := ParseFile("f", "\n  user ann on >secret  ~a:* +@read\t(~b\t+set)\r\nuser default off\n\n", Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	want := "user ann on sanitize-payload #" + secretDigest + " ~a:* resetchannels -@all +@read (~b resetchannels -@all +set)\n" +
		"user default off sanitize-payload resetchannels -@all\n"
	if got := string(AppendFile(nil, users)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMistakesInFilesAreAllTold(t *testing.T) {
	const end = " WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
	for text, want := range map[string]string{
		"# comment":                        "f:1 should start with user keyword followed by the username." + end,
		"user":                             "f:1 should start with user keyword followed by the username." + end,
		"user a on\n\nuser a off":          "WARNING: Duplicate user 'a' found on line 3." + end,
		"user a foo +nope\nuser b +@nope":  "f:1: Syntax error. f:1: Unknown command or category name in ACL. f:2: Unknown command or category name in ACL." + end,
		"user a (~a\nuser b on":            "f:1: Unmatched parenthesis in selector definition." + end,
		"user a\vb on":                     "'f:1: username 'a\vb' contains invalid characters." + end,
		"user a on\nuser b ~* ~b\nuser c ": "f:2: " + string(afterAllKeys) + "." + end,
	} {
		users, err := ParseFile("f", text, Defaults{})
		if err == nil || err.Error() != want || users != nil {
			t.Errorf("%q:\n  got  %v\n  want %s", text, err, want)
		}
	}
	_, err := ParseFile("f", strings.Repeat("x\n", 1000), Defaults{})
	if err == nil || strings.Count(err.Error(), "should start") != problemsMax {
		t.Errorf("%v", err)
	}
}

// What is printed is read again as the same, whatever was read first.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"user a on >p ~a %R~b &c +get -@all (~x +@read)", "user a %RW~* ~b", "user a +select|A (~a)b)", "user a (~a (~b +get)", "user a ) (", "user a ()",
		"user a \"~x y\"", "user a +config|get -config|set +@all -@dangerous", "user a nopass #" + secretDigest + " off reset clearselectors", "user \xff ~\xff &\xff +@all",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, channels bool) {
		d := Defaults{AllChannels: channels}
		users, err := ParseFile("f", text, d)
		if err != nil {
			return
		}
		checkFixedPoint(t, users, d)
	})
}

// FuzzRules is the same for ACL SETUSER, whose rules may hold any bytes.
func FuzzRules(f *testing.F) {
	for _, rule := range []string{"on", "~a", "%R~b", "&c", "+get", "-@all", "(~x", "+@read)", "()", "+select|0", "+config|get", "~*", "&*", ">p", "<p", "reset", "+@all", "-get"} {
		f.Add(rule, "+set", "(%RW~*)")
	}
	f.Add("(~a b)", "( ~a", ")")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		u, err := New("u", Defaults{}).With([]string{a, b, c}, Defaults{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "Error in ACL SETUSER modifier '") && !strings.HasPrefix(err.Error(), "Unmatched parenthesis") {
				t.Fatalf("%v", err)
			}
			return
		}
		checkFixedPoint(t, []*User{u}, Defaults{})
	})
}

func checkFixedPoint(t *testing.T, users []*User, d Defaults) {
	t.Helper()
	printed := string(AppendFile(nil, users))
	again, err := ParseFile("f", printed, d)
	if err != nil {
		t.Fatalf("%q is printed, but not read: %v", printed, err)
	}
	if got := string(AppendFile(nil, again)); got != printed {
		t.Fatalf("%q becomes %q", printed, got)
	}
	for i, u := range users {
		if !sameRights(u, again[i]) {
			t.Fatalf("%q means something else when it is read again", printed)
		}
	}
}

// sameRights compares what the printed form leaves open.
func sameRights(a, b *User) bool {
	for i, s := range a.selectors {
		o := b.selectors[i]
		if s.commands != o.commands || s.allKeys != o.allKeys || s.allChannels != o.allChannels || s.future != o.future ||
			lower(fmt.Sprint(s.firstArgs)) != lower(fmt.Sprint(o.firstArgs)) || s.allCommands && !o.allCommands {
			return false
		}
	}
	return len(a.selectors) == len(b.selectors)
}
