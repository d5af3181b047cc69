package topology

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/slot"
	"pgregory.net/rapid"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mustParse(t testing.TB, text string) *Map {
	t.Helper()
	m, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMapHasACanonicalText(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	if got, want := m.String(), read(t, "three_groups.canonical"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again := mustParse(t, m.String()); again.String() != m.String() {
		t.Errorf("parses back to\n%s", again)
	}
}

// ids spells out the node ids that refused.txt calls A, B and C.
var ids = strings.NewReplacer(" A", " "+strings.Repeat("a", 40), " B", " "+strings.Repeat("b", 40), " C", " "+strings.Repeat("c", 40))

func TestParseRefusesWithLineAndReason(t *testing.T) {
	cases := strings.Split(read(t, "refused.txt"), "\n---")
	for _, c := range cases[1:] {
		_, c, _ = strings.Cut(c, "\n")
		want, text, _ := strings.Cut(c, "\n")
		m, err := Parse([]byte(ids.Replace(text)))
		if err == nil {
			t.Errorf("accepted:\n%s\nas\n%s", text, m)
		} else if want = ids.Replace(want); err.Error() != want {
			t.Errorf("of\n%s\n got: %v\nwant: %s", text, err, want)
		}
	}
	if _, err := Parse(make([]byte, TextMax+1)); err == nil {
		t.Error("a text that is too long was accepted")
	}
}

func TestMapAnswersWhoServesWhat(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	for _, c := range []struct {
		id    slot.ID
		group string
		shard int
	}{{0, "g1", 0}, {5460, "g1", 0}, {5461, "g2", 0}, {8000, "g2", 0}, {8001, "g2", 1}, {10922, "g2", 1}, {10923, "g3", 0}, {16383, "g3", 0}} {
		g, shard, ok := m.Owner(c.id)
		if !ok || g.Name != c.group || shard != c.shard {
			t.Errorf("slot %d: %v %d %v", c.id, g, shard, ok)
		}
	}
	if _, _, ok := m.Owner(slot.Count); ok {
		t.Error("a slot beyond the last has an owner")
	}
	member, g, ok := m.Member("5d9a1f3c2b4e6a8092837465564738291a0b1c2d")
	if !ok || g.Name != "g2" || member.Host != "::1" || g.Primary().Port != 7005 || g.Shards() != 2 {
		t.Errorf("member %+v of %+v", member, g)
	}
	if _, _, ok := m.Member("x"); ok {
		t.Error("found a member that is not there")
	}
	waiting, ok := m.Group("00112233445566778899aabbccddeeff00112233")
	if !ok || waiting.ID != waiting.Name || waiting.Shards() != 0 || !waiting.SlotSet().Empty() {
		t.Errorf("group %+v", waiting)
	}
	if g1, ok := m.Group("g1"); !ok || !isHexID(g1.ID) || g1.ID != deriveID("group", "g1") {
		t.Errorf("group %+v", g1)
	}
	if !m.Covered() || m.Assigned() != slot.Count || m.Len() != 6 || m.ConfigEpoch != 5 || m.Version != 7 {
		t.Errorf("map %v %d %d %d", m.Covered(), m.Assigned(), m.Len(), m.ConfigEpoch)
	}
}

func TestOwnerDoesNotAllocate(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	if n := testing.AllocsPerRun(100, func() { m.Owner(8001) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNewKeepsNothingOfItsArguments(t *testing.T) {
	groups := []Group{{
		Name:    "g1",
		Slots:   []slot.Assignment{{Range: slot.Range{First: 0, Last: 9}}},
		Members: []Member{{ID: NodeIDOf("a"), Host: "10.0.0.1", Port: 1}},
	}}
	m, err := New(1, 0, groups)
	if err != nil {
		t.Fatal(err)
	}
	before := m.String()
	groups[0].Members[0].Host = "changed"
	groups[0].Slots[0].Last = 5
	if m.String() != before || len(groups[0].ID) != 0 {
		t.Error("the map shares memory with the groups it was made of")
	}
}

func TestNewRefuses(t *testing.T) {
	member := Member{ID: NodeIDOf("a"), Host: "10.0.0.1", Port: 1}
	bad := member
	bad.Health = 9
	negative := member
	negative.BusPort = -1
	for want, g := range map[string]Group{
		"bad name":           {Members: []Member{member}},
		"does not belong":    {Name: "g1", ID: strings.Repeat("a", 40), Members: []Member{member}},
		"has no primary":     {Name: "g1"},
		"bad slots":          {Name: "g1", Slots: []slot.Assignment{{Shard: -1}}, Members: []Member{member}},
		"slot 3 is assigned": {Name: "g1", Slots: []slot.Assignment{{Range: slot.Range{First: 3, Last: 4}}, {Range: slot.Range{First: 0, Last: 3}}}},
		"unknown health":     {Name: "g1", Members: []Member{bad}},
		"bad port":           {Name: "g1", Members: []Member{negative}},
	} {
		if _, err := New(1, 0, []Group{g}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func nodes(primaries, replicas int) []Member {
	var list []Member
	for i := range primaries + replicas {
		list = append(list, Member{ID: NodeIDOf(string(rune('a' + i))), Host: "127.0.0.1", Port: 7001 + i, Replica: i >= primaries})
	}
	return list
}

func TestEvenDividesAsRedisDoes(t *testing.T) {
	m, err := Even(nodes(3, 4), 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range m.Groups {
		got = append(got, g.SlotSet().String()+" "+slot.FormatAssignments(g.Slots))
	}
	want := []string{
		"0-5460 0-2730@0,2731-5460@1",
		"5461-10922 5461-8191@0,8192-10922@1",
		"10923-16383 10923-13653@0,13654-16383@1",
	}
	if !slices.Equal(got, want) || len(m.Groups[0].Members) != 3 || len(m.Groups[2].Members) != 2 {
		t.Errorf("got %q in\n%s", got, m)
	}
	for _, c := range []struct{ primaries, replicas, shards int }{{0, 1, 1}, {1, 0, 0}, {1, 0, slot.Count + 1}, {5, 0, slot.Count / 4}} {
		if m, err := Even(nodes(c.primaries, c.replicas), c.shards); err == nil {
			t.Errorf("%v accepted as\n%s", c, m)
		}
	}
}

func TestEvenCoversAllSlotsInEqualParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "nodes")
		shards := rapid.IntRange(1, 40).Draw(t, "shards")
		m, err := Even(nodes(n, rapid.IntRange(0, 5).Draw(t, "replicas")), shards)
		if err != nil || !m.Covered() {
			t.Fatalf("%v, %v", m, err)
		}
		for _, g := range m.Groups {
			if l := g.SlotSet().Len(); l < slot.Count/n || l > slot.Count/n+1 || g.Shards() != shards {
				t.Fatalf("group of %d slots, %d shards", l, g.Shards())
			}
			for _, a := range g.Slots {
				if l := slot.Count / n / shards; a.Len() < l || a.Len() > l+2 {
					t.Fatalf("shard of %d slots in\n%s", a.Len(), m)
				}
			}
		}
	})
}

// drawMap makes any map, with slots dealt out at random.
func drawMap(t *rapid.T) *Map {
	hosts := []string{"10.0.0.1", "::1", "2001:db8::5", "db1.example", "a_b"}
	var groups []Group
	port := 0
	first := rapid.IntRange(0, 40).Draw(t, "first slot")
	for i := range rapid.IntRange(0, 5).Draw(t, "groups") {
		label := string(rune('a' + i))
		g := Group{Name: label, Epoch: rapid.Uint64().Draw(t, "epoch")}
		if rapid.Bool().Draw(t, "long name") {
			g.Name, g.ID = "", deriveID("any", label)
		}
		for range rapid.IntRange(0, 4).Draw(t, "assignments") {
			last := first + rapid.IntRange(0, 700).Draw(t, "length")
			g.Slots = append(g.Slots, slot.Assignment{
				Range: slot.Range{First: slot.ID(first), Last: slot.ID(last)}, Shard: rapid.IntRange(0, 2).Draw(t, "shard"),
			})
			first = last + rapid.IntRange(1, 3).Draw(t, "gap")
		}
		size := rapid.IntRange(1, 4).Draw(t, "members")
		primary := rapid.IntRange(0, size-1).Draw(t, "primary")
		for j := range size {
			port++
			g.Members = append(g.Members, Member{
				ID: NodeIDOf(label + string(rune('0'+j))), Host: rapid.SampledFrom(hosts).Draw(t, "host"), Port: port,
				TLSPort: rapid.SampledFrom([]int{0, 30000 + port}).Draw(t, "tls"), BusPort: rapid.IntRange(0, 65535).Draw(t, "bus"),
				Hostname: rapid.SampledFrom([]string{"", "h.example"}).Draw(t, "hostname"), Zone: rapid.SampledFrom([]string{"", "eu/a:1"}).Draw(t, "zone"),
				Health: Health(rapid.IntRange(0, 2).Draw(t, "health")), Replica: j != primary,
			})
		}
		// The order of what New gets does not matter for slots.
		g.Slots = rapid.Permutation(g.Slots).Draw(t, "order")
		groups = append(groups, g)
	}
	epoch := uint64(0)
	if rapid.Bool().Draw(t, "own epoch") {
		epoch = ^uint64(0)
	}
	m, err := New(rapid.Uint64().Draw(t, "version"), epoch, groups)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMapsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		again, err := Parse([]byte(m.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, m)
		}
		same(t, m, again)
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

// same compares two maps by what they answer, not by their texts alone.
func same(t failer, a, b *Map) {
	if a.String() != b.String() || a.Version != b.Version || a.ConfigEpoch != b.ConfigEpoch || a.Assigned() != b.Assigned() {
		t.Fatalf("differ:\n%s\n%s", a, b)
	}
	for id := range slot.ID(slot.Count) {
		g, s, ok := a.Owner(id)
		h, u, also := b.Owner(id)
		if ok != also || s != u || ok && (g.ID != h.ID || !g.set.Has(id)) {
			t.Fatalf("slot %d differs in\n%s", id, a)
		}
	}
	for _, m := range a.Members() {
		if n, _, ok := b.Member(m.ID); !ok || *n != *m {
			t.Fatalf("node %s differs in\n%s", m.ID, a)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"three_groups.map", "three_groups.canonical"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("version 1 epoch 2\ngroup a\nmember " + strings.Repeat("a", 40) + " [::1]:1 primary zone=x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse([]byte(m.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, m)
		}
		same(t, m, again)
	})
}
