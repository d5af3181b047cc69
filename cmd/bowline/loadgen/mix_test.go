package loadgen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func mix(t *testing.T, text string) Mix {
	t.Helper()
	m, err := ParseMix(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMixFollowsItsWeights(t *testing.T) {
	const picks = 100_000
	m := mix(t, "get=70, SET=20,incr=9,del")
	if m.String() != "get=70, SET=20,incr=9,del" {
		t.Errorf("it calls itself %q", m)
	}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for range picks {
		seen[m.rows[m.pick(r)].name]++
	}
	for name, percent := range map[string]int{"get": 70, "set": 20, "incr": 9, "del": 1} {
		want := picks * percent / 100
		if got := seen[name]; got < want*9/10 || got > want*11/10 {
			t.Errorf("%s was chosen %d times, want about %d", name, got, want)
		}
	}
}

func TestMixesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                 `unknown command ""; known are get, set, `,
		"get=80,foo=20":    `unknown command "foo"`,
		"get,get=1":        `command "get" is there twice`,
		"get=0":            `weight "0" of get: a number between 1 and 1000000 is needed`,
		"get=-1":           `weight "-1" of get`,
		"get=1000001":      `weight "1000001" of get`,
		"get=x":            `weight "x" of get`,
		"get=80,":          `unknown command ""`,
		"get=80;set=20":    `weight "80;set=20" of get`,
		"flushall":         `unknown command "flushall"`,
		"get=1,set=1,Get1": `unknown command "Get1"`,
	} {
		if _, err := ParseMix(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{"0": {0, 0}, "100": {100, 100}, "10-1000": {10, 1000}, "5-5": {5, 5}} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%q prints as %q", text, got)
		}
	}
	for _, text := range []string{"", "-", "x", "-5", "10-", "10-5", "1-2-3", "536870913", "1.5"} {
		if s, err := ParseSize(text); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("size %q: ", text)) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// The same seed gives the same commands, and another worker others.
func TestCommandsFollowFromTheSeed(t *testing.T) {
	o := &Options{Mix: mix(t, strings.Join(Commands(), ",")), Keys: 1000, ValueSize: Size{5, 50}, Seed: 7}
	list := func(worker int) string {
		g := newGenerator(o, uniform(o.Keys), newData(o), worker)
		var b strings.Builder
		for range 500 {
			_, args := g.next(nil)
			for _, a := range args {
				if v, ok := a.([]byte); ok {
					if len(v) < 5 || len(v) > 50 {
						t.Fatalf("a value of %d bytes", len(v))
					}
					a = string(v)
				}
				fmt.Fprint(&b, a, " ")
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	first := list(0)
	if again := list(0); again != first {
		t.Error("the same worker sends other commands")
	}
	if first == list(1) {
		t.Error("two workers send the same")
	}
}
