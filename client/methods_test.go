package client

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// TestContract25EveryCommandHasAMethod sees that testdata/command_methods.json speaks
// of every command and that the methods it names exist.
func TestContract25EveryCommandHasAMethod(t *testing.T) {
	var commands struct {
		Commands []struct {
			Name string `json:"name"`
		} `json:"commands"`
	}
	var methods struct {
		Commands map[string][]string `json:"commands"`
		Never    map[string]string   `json:"never"`
	}
	read := func(path string, into any) {
		b, err := os.ReadFile("../testdata/" + path)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read("commands.json", &commands)
	read("command_methods.json", &methods)
	types := map[string]reflect.Type{
		"Client": reflect.TypeFor[*Client](), "Conn": reflect.TypeFor[*Conn](), "Tx": reflect.TypeFor[*Tx](),
		"Script": reflect.TypeFor[*Script](), "Subscription": reflect.TypeFor[*Subscription](), "Node": reflect.TypeFor[*Node](),
	}
	for _, c := range commands.Commands {
		list := methods.Commands[c.Name]
		if len(list) == 0 && methods.Never[c.Name] == "" {
			t.Errorf("%s has neither a method nor a reason", c.Name)
		}
		for _, m := range list {
			if m == "Open" {
				continue
			}
			typ, name, _ := strings.Cut(m, ".")
			if types[typ] == nil {
				t.Errorf("%s: no type %s", c.Name, typ)
			} else if _, ok := types[typ].MethodByName(name); !ok {
				t.Errorf("%s: %s has no method %s", c.Name, typ, name)
			}
		}
		delete(methods.Commands, c.Name)
		delete(methods.Never, c.Name)
	}
	if n := len(methods.Commands) + len(methods.Never); n > 0 {
		t.Errorf("%d rows are about no command", n)
	}
}

func TestContract25TypedMethodsAllocateNothingMore(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	ctx := t.Context()
	c, err := Open(ctx, Options{Addrs: []string{quiet(t)}, ConnsPerNode: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	key, value := strings.Repeat("k", 20), strings.Repeat("v", 40)
	if n := testing.AllocsPerRun(1000, func() {
		if err := c.Set(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Set: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := c.Get(ctx, key); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("Get: %v allocations", n)
	}
}

// TestExportedNamesAreFew counts what a user has to know beside the typed methods.
func TestExportedNamesAreFew(t *testing.T) {
	const most = 150
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	add := func(prefix string, id *ast.Ident) {
		if id.IsExported() {
			names = append(names, prefix+id.Name)
		}
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Name() == "methods.go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					add("", d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add("", s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add("", id)
						}
					}
				}
			}
		}
	}
	if len(names) > most {
		t.Errorf("%d exported names are more than %d", len(names), most)
	}
	t.Logf("%d exported names", len(names))
}

func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name
}

// TestTypedMethodsReadWhatAServerAnswers runs methods of every kind of result against
// redis-server, in both protocols.
func TestTypedMethodsReadWhatAServerAnswers(t *testing.T) {
	srv := redistest.Start(t)
	for _, resp2 := range []bool{false, true} {
		ctx := t.Context()
		c, err := Open(ctx, Options{Addrs: []string{srv.Addr}, RESP2: resp2})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.FlushAll(ctx); err != nil {
			t.Fatal(err)
		}
		deref := func(list []*string, err error) ([]string, error) {
			out := []string{}
			for _, p := range list {
				if p == nil {
					out = append(out, "nil")
				} else {
					out = append(out, *p)
				}
			}
			return out, err
		}
		for i, step := range []struct {
			got  func() (any, error)
			want string
		}{
			{func() (any, error) { return "", c.Set(ctx, "s", "text") }, "<nil>"},
			{func() (any, error) { return "", c.Set(ctx, "s", 5, "NX") }, "nil reply"},
			{func() (any, error) { return c.Get(ctx, "s") }, "text"},
			{func() (any, error) { return c.Get(ctx, "none") }, "nil reply"},
			{func() (any, error) { return c.GetRange(ctx, "s", 1, 2) }, "ex"},
			{func() (any, error) { return c.Append(ctx, "s", []byte("!")) }, "5"},
			{func() (any, error) { return c.Incr(ctx, "n") }, "1"},
			{func() (any, error) { return c.IncrByFloat(ctx, "f", 1.5) }, "1.5"},
			{func() (any, error) { return c.SetNX(ctx, "s", "x") }, "false"},
			{func() (any, error) { return c.Expire(ctx, "s", 100) }, "true"},
			{func() (any, error) { return c.Persist(ctx, "s") }, "true"},
			{func() (any, error) { return c.Type(ctx, "s") }, "string"},
			{func() (any, error) { return deref(c.MGet(ctx, "s", "none")) }, "[text! nil]"},
			{func() (any, error) { return c.Exists(ctx, "s", "n", "none") }, "2"},
			{func() (any, error) { return "", c.MSet(ctx, "a", 1, "b", 2) }, "<nil>"},
			{func() (any, error) { return c.BitOp(ctx, "OR", "dest", "a", "b") }, "1"},
			{func() (any, error) { return c.RPush(ctx, "l", "x", 2, []byte("z")) }, "3"},
			{func() (any, error) { return c.LRange(ctx, "l", 0, -1) }, "[x 2 z]"},
			{func() (any, error) { return c.LInsert(ctx, "l", "BEFORE", 2, "y") }, "4"},
			{func() (any, error) { return c.LMove(ctx, "l", "m", "LEFT", "RIGHT") }, "x"},
			{func() (any, error) { return c.BLPop(ctx, []string{"none", "l"}, 0.1) }, "[l y]"},
			{func() (any, error) { return c.BLPop(ctx, []string{"none"}, 0.01) }, "nil reply"},
			{func() (any, error) { return c.HSet(ctx, "h", "f", 1, "g", "two") }, "2"},
			{func() (any, error) { return c.HGetAll(ctx, "h") }, "map[f:1 g:two]"},
			{func() (any, error) { return c.HGetAll(ctx, "none") }, "map[]"},
			{func() (any, error) { return deref(c.HMGet(ctx, "h", "g", "none")) }, "[two nil]"},
			{func() (any, error) { return c.HIncrByFloat(ctx, "h", "f", 0.5) }, "1.5"},
			{func() (any, error) { return c.SAdd(ctx, "set", "a", "b") }, "2"},
			{func() (any, error) { return c.SIsMember(ctx, "set", "a") }, "true"},
			{func() (any, error) { return c.SMIsMember(ctx, "set", "a", "x") }, "[1 0]"},
			{func() (any, error) { return c.SInterCard(ctx, []string{"set", "set"}, "LIMIT", 1) }, "1"},
			{func() (any, error) { return c.SInter(ctx, "set", "none") }, "[]"},
			{func() (any, error) { return c.ZAdd(ctx, "z", 1.5, "a", 2, "b") }, "2"},
			{func() (any, error) { return c.ZScore(ctx, "z", "a") }, "1.5"},
			{func() (any, error) { return c.ZIncrBy(ctx, "z", 1, "a") }, "2.5"},
			{func() (any, error) { return c.ZRange(ctx, "z", 0, -1).Texts() }, "[b a]"},
			{func() (any, error) { return c.ZUnionStore(ctx, "zz", []string{"z", "z"}, "WEIGHTS", 1, 2) }, "2"},
			{func() (any, error) { return c.ZCount(ctx, "z", "-inf", "(2.5") }, "1"},
			{func() (any, error) { return c.GeoAdd(ctx, "g", 13.361389, 38.115556, "Palermo") }, "1"},
			{func() (any, error) { return c.XAdd(ctx, "x", "1-1", "f", "v") }, "1-1"},
			{func() (any, error) { return "", c.XGroupCreate(ctx, "x", "grp", "0") }, "<nil>"},
			{func() (any, error) { return c.XGroupCreateConsumer(ctx, "x", "grp", "me") }, "true"},
			{func() (any, error) { return c.XAck(ctx, "x", "grp", "9-9") }, "0"},
			{func() (any, error) { return c.Eval(ctx, "return {KEYS[1], ARGV[1]}", []string{"k"}, "v").Texts() }, "[k v]"},
			{func() (any, error) { return c.PFAdd(ctx, "pf", "a") }, "true"},
			{func() (any, error) { return c.Copy(ctx, "s", "copy") }, "true"},
			{func() (any, error) { return c.ConfigGet(ctx, "maxmemory") }, "map[maxmemory:0]"},
			{func() (any, error) { return "", c.ConfigSet(ctx, "maxmemory", 0) }, "<nil>"},
			{func() (any, error) { return c.ObjectEncoding(ctx, "n") }, "int"},
			{func() (any, error) { return c.ScriptExists(ctx, "abc") }, "[0]"},
			{func() (any, error) { return c.ClientGetName(ctx) }, ""},
			{func() (any, error) { return c.Ping(ctx) }, "PONG"},
			{func() (any, error) { return c.DBSize(ctx) }, "16"},
			{func() (any, error) { return c.Del(ctx, "s", "none") }, "1"},
		} {
			v, err := step.got()
			got := fmt.Sprint(v)
			if err != nil || step.want == "<nil>" {
				got = fmt.Sprint(err)
			}
			if got != step.want && !(step.want == "" && strings.HasSuffix(got, "nil reply")) {
				t.Errorf("step %d (RESP2 %v): got %s, want %s", i, resp2, got, step.want)
			}
		}
	}
}
