package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// files is a ReadFile over a map.
func files(m map[string]string) ReadFile {
	return func(path string) ([]byte, error) {
		if text, ok := m[path]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
	}
}

func TestRedisConfIsRead(t *testing.T) {
	c := New()
	err := c.LoadFile("/etc/redis.conf", files(map[string]string{
		"/etc/redis.conf": "# a comment\n\r\n  MaxClients 50\r\n" +
			"requirepass \"a \\\"b\\\" \\x41\\n\\q\"\n" +
			"masteruser 'it\\'s \\x'\n" +
			"bind 127.0.0.1 ::1\n" +
			"save 900 1\nsave 60 1000 30 5\n" +
			"slaveof db1 6379\n" +
			"client-output-buffer-limit replica 1mb 2mb 3\n" +
			"client-output-buffer-limit pubsub 1 2 3\n" +
			"include more.conf\ninclude /abs/last.conf\n" +
			"notify-keyspace-events \"\"\nlogfile ''\nunixsocketperm 700\n",
		"/etc/more.conf": "hz 50\nmaxmemory 1gb\n",
		"/abs/last.conf": "maxmemory 2gb\nlazyfree-lazy-expire YES\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ got, want string }{
		{c.String(MaxClients), "50"},
		{c.String(RequirePass), "a \"b\" A\nq"},
		{c.String(MasterUser), `it's \x`},
		{c.String(Bind), "127.0.0.1 ::1"},
		{c.String(Save), "900 1 60 1000 30 5"},
		{fmt.Sprint(c.Get("replicaof")), "[[replicaof db1 6379]]"},
		{c.String(ClientOutputBufferLimit), "normal 0 0 0 slave 1048576 2097152 3 pubsub 1 2 3"},
		{c.String(HZ), "50"},
		{c.String(MaxMemory), "2147483648"},
		{fmt.Sprint(c.Get("lazyfree-lazy-expire")), "[[lazyfree-lazy-expire yes]]"},
		{c.String(UnixSocketPerm), "700"},
		{fmt.Sprint(c.Int(UnixSocketPerm)), fmt.Sprint(0o700)},
		{c.Origin(MaxClients), "/etc/redis.conf:3"},
		{c.Origin(MaxMemory), "/abs/last.conf:1"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

func TestSaveLinesReplaceDefaultsAndCanBeCleared(t *testing.T) {
	for text, want := range map[string]string{
		"save 1 1":                       "1 1",
		"save ''":                        "",
		"save 1 1\nsave \"\"":            "",
		"save 1 1\nsave ''\nsave 2 2":    "2 2",
		"save 1 1\nhz 10\nsave 2 2 3 3 ": "1 1 2 2 3 3",
	} {
		c := New()
		if err := c.LoadFile("x.conf", files(map[string]string{"x.conf": text})); err != nil || c.String(Save) != want {
			t.Errorf("%q gives %q, %v; want %q", text, c.String(Save), err, want)
		}
	}
}

func TestRedisConfRefusesWithPlaceAndReason(t *testing.T) {
	many := strings.Repeat("include b.conf\n", filesMax)
	for text, want := range map[string]string{
		"hz 10\nmaxclient 5":              `x.conf:2: unknown key "maxclient", did you mean "maxclients"?`,
		"slave-prority 5":                 `x.conf:1: unknown key "slave-prority", did you mean "slave-priority"?`,
		"zzzzzzzzzzzzzzzz 1":              `x.conf:1: unknown key "zzzzzzzzzzzzzzzz"`,
		"maxclients 0":                    "x.conf:1: maxclients: argument must be between 1 and 4294967295 inclusive",
		"maxclients 5 # five":             "x.conf:1: maxclients: wrong number of arguments",
		"maxclients":                      "x.conf:1: maxclients: wrong number of arguments",
		"requirepass \"abc":               "x.conf:1: unbalanced quotes",
		"requirepass 'a'b":                "x.conf:1: unbalanced quotes",
		"\n\nrename-command GET ''":       "x.conf:3: rename-command: commands cannot be renamed",
		"include":                         "x.conf:1: include: wrong number of arguments",
		"include *.conf":                  "x.conf:1: include: patterns are not supported",
		"include gone.conf":               "x.conf:1: include: read configuration: open gone.conf: file does not exist",
		"include x.conf":                  "included more than 16 deep",
		many:                              "more than 64 files",
		"include bad.conf":                "x.conf:1: include: bad.conf:2: hz: argument couldn't be parsed into an integer",
		"unixsocketperm 9":                "x.conf:1: unixsocketperm: argument couldn't be parsed as an octal number",
		"replicaof db1":                   "x.conf:1: replicaof: wrong number of arguments",
		"replicaof db1 0":                 "x.conf:1: replicaof: Invalid master port",
		"node-id 07C3":                    "x.conf:1: node-id: argument must be 40 lower-case hexadecimal digits",
		"dbfilename a/b.rdb":              "x.conf:1: dbfilename: dbfilename can't be a path, just a filename",
		"dbfilename ..":                   "x.conf:1: dbfilename: dbfilename can't be a path, just a filename",
		"appendfilename a/b":              "x.conf:1: appendfilename: appendfilename can't be a path, just a filename",
		"appenddirname ../a":              "x.conf:1: appenddirname: appenddirname can't be a path, just a dirname",
		"appenddirname \"\"":              "x.conf:1: appenddirname: appenddirname can't be empty",
		"redirect never":                  "x.conf:1: redirect: argument(s) must be one of the following: moved, forward, auto",
		"bind" + strings.Repeat(" a", 17): "x.conf:1: bind: Too many bind addresses specified.",
		strings.Repeat("\n", fileMax+1):   "x.conf: longer than 1048576 bytes",
	} {
		err := New().LoadFile("x.conf", files(map[string]string{"x.conf": text, "b.conf": "", "bad.conf": "\nhz x"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
	err := New().LoadFile("gone.conf", files(nil))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTOMLIsRead(t *testing.T) {
	c := New()
	err := c.LoadFile("bowline.toml", files(map[string]string{"bowline.toml": `# Bowline
maxclients = 50
maxmemory = "1gb"
appendonly = true
"protected-mode" = "no"
bind = ["127.0.0.1", "::1"]
save = ["900 1", "60 1000"]
client-output-buffer-limit = ["normal 1 2 3", "replica 4 5 6"]
latency-tracking-info-percentiles = [50, 99.5]
replicaof = []
requirepass = """
two lines"""
`}))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ got, want string }{
		{c.String(MaxClients), "50"},
		{c.String(MaxMemory), "1073741824"},
		{c.String(ProtectedMode), "no"},
		{c.String(Bind), "127.0.0.1 ::1"},
		{c.String(Save), "900 1 60 1000"},
		{c.String(ClientOutputBufferLimit), "normal 1 2 3 slave 4 5 6 pubsub 33554432 8388608 60"},
		{c.String(LatencyPercentiles), "50 99.5"},
		{fmt.Sprint(c.Get("replicaof")), "[[replicaof ]]"},
		{c.String(RequirePass), "two lines"},
		{c.Origin(ProtectedMode), "bowline.toml:5"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

func TestTOMLRefusesWithPlaceAndReason(t *testing.T) {
	for text, want := range map[string]string{
		"hz = 10\nmaxclient = 5":                `x.toml:2: unknown key "maxclient", did you mean "maxclients"?`,
		"hz = 'x'":                              "x.toml:1: hz: argument couldn't be parsed into an integer",
		"hz = 1.5":                              "x.toml:1: hz: argument couldn't be parsed into an integer",
		"\nhz 10":                               "x.toml:2: ",
		"hz = 1\nhz = 2":                        "x.toml:2: ",
		"[server]\nhz = 1":                      `x.toml:1: a table called "server" is not expected`,
		"server.hz = 1":                         `x.toml:1: a table called "server" is not expected`,
		"[hz]\na = 1":                           "x.toml:1: a value is a string, a number, a boolean or an array of these",
		"bind = [['a']]":                        "x.toml:1: an array within an array is not expected",
		"hz = 2020-01-01":                       "x.toml:1: a value is a string",
		"maxclients = [1, 2]":                   "x.toml:1: maxclients: wrong number of arguments",
		"maxclients = []":                       "x.toml:1: maxclients: wrong number of arguments",
		"save = true":                           "x.toml:1: save: Invalid save parameters",
		"\xff = 1":                              "x.toml:1: ",
		"a = " + strings.Repeat("[", tomlMax-4): "x.toml:",
		"a = " + strings.Repeat("{a=", 65):      "x.toml: more than 64 braces",
		"\n" + strings.Repeat("a.", 129) + "a = 1": "x.toml:2: more than 128 dots",
		"a = 1" + strings.Repeat("\n", tomlMax):    "x.toml: longer than 65536 bytes",
		"include = 'other.toml'":                   `x.toml:1: unknown key "include"`,
		"requirepass = 'a'\nhz=''\n\n":             "x.toml:2: hz: ",
	} {
		err := New().LoadFile("x.toml", files(map[string]string{"x.toml": text}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestEnvironmentIsRead(t *testing.T) {
	c := New()
	err := c.LoadEnviron([]string{"PATH=/bin", "BOWLINE_MAXCLIENTS=50", "BOWLINE_SLAVE_PRIORITY=7", "BOWLINE_SERVER_CPULIST=0-3",
		"BOWLINE_BIND=127.0.0.1 ::1", "BOWLINE_SAVE=", "BOWLINE_REQUIREPASS=a b=c", "BOWLINE_REQUIRE_REDIS=1", "BOWLINE_REDIS8=/redis-server"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q", c.Get("maxclients", "replica-priority", "server_cpulist", "bind", "save", "requirepass"))
	if want := `[["maxclients" "50"] ["replica-priority" "7"] ["server_cpulist" "0-3"] ["bind" "127.0.0.1 ::1"] ["save" ""] ["requirepass" "a b=c"]]`; got != want {
		t.Errorf("got %s", got)
	}
	if c.Origin(MaxClients) != "BOWLINE_MAXCLIENTS" {
		t.Error(c.Origin(MaxClients))
	}
	for entry, want := range map[string]string{
		"BOWLINE_MAX_CLIENTS=5":  `BOWLINE_MAX_CLIENTS: unknown key "BOWLINE_MAX_CLIENTS", did you mean "BOWLINE_MAXCLIENTS"?`,
		"BOWLINE_maxclients=5":   "unknown key",
		"BOWLINE_=5":             "unknown key",
		"BOWLINE_MAXCLIENTS=abc": "BOWLINE_MAXCLIENTS: argument couldn't be parsed into an integer",
	} {
		if err := New().LoadEnviron([]string{entry}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", entry, err, want)
		}
	}
}

func TestLaterSourcesWin(t *testing.T) {
	c := New()
	steps := []error{
		c.LoadFile("x.conf", files(map[string]string{"x.conf": "port 1\nhz 20\ntimeout 5\nsave 1 1"})),
		c.LoadEnviron([]string{"BOWLINE_PORT=2", "BOWLINE_HZ=30"}),
		c.Load("port", []string{"3"}, "--port"),
		c.Load("save", []string{"7 7 8 8"}, "--save"),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Get("port", "hz", "timeout", "save"), " ", c.Origin(Port), " ", c.Origin(HZ), " ", c.Origin(Timeout))
	if want := "[[port 3] [hz 30] [timeout 5] [save 7 7 8 8]] --port BOWLINE_HZ x.conf:3"; got != want {
		t.Errorf("got %s", got)
	}
	if err := c.Load("prot", []string{"3"}, "--prot"); err == nil || err.Error() != `--prot: unknown key "prot", did you mean "port"?` {
		t.Error(err)
	}
}

// fuzzFile checks that a loader neither fails badly nor lets a value in that
// CONFIG SET would not take.
func fuzzFile(t *testing.T, name, text string) {
	c := New()
	err := c.LoadFile(name, files(map[string]string{name: text}))
	if err != nil && !strings.Contains(err.Error(), name) {
		t.Fatalf("error without place: %v", err)
	}
	for _, p := range All() {
		v := c.String(p)
		again, err := p.parse(value{}, p.split(v))
		if err != nil || again.text != v {
			t.Fatalf("%s has %q, which becomes %q, %v", p.Name, v, again.text, err)
		}
	}
}

func FuzzRedisConf(f *testing.F) {
	for _, seed := range []string{
		"maxclients 5\nsave 1 1 2 2\n", "requirepass \"\\x41\\\"\"", "include x.conf", "bind * -::*\n# c",
		"client-output-buffer-limit normal 1 2 3", "masteruser 'a\\'b' c", "replicaof h 1", "save ''",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzFile(t, "x.conf", text) })
}

func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"maxclients = 5\nsave = ['1 1', '2 2']", "[a]\nb=1", "hz = 0x10", "bind = [[1]]", "a.b.c = 1", "requirepass = '''\nx'''",
		"timeout = 1979-05-27", "maxmemory = 1e3", "a = {b = 1}", "[[a]]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzFile(t, "x.toml", text) })
}
