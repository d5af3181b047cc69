package acl

import (
	"fmt"
	"strings"
	"testing"
)

func TestLikeRefusalsWithinAMinuteAreOneEntry(t *testing.T) {
	var l Log
	add := func(at int64, reason Denial, object, user, client string) {
		l.Add(Entry{Reason: reason, Context: TopLevel, Object: object, Username: user, Updated: at, Client: client}, 3)
	}
	shown := func() string {
		var lines []string
		for _, e := range l.Newest(10) {
			lines = append(lines, fmt.Sprintf("%d:%s/%s x%d %d-%d %s", e.ID, e.Object, e.Username, e.Count, e.Created, e.Updated, e.Client))
		}
		return strings.Join(lines, ", ")
	}
	for _, step := range []struct {
		at           int64
		reason       Denial
		object, user string
		want         string
	}{
		{1000, DeniedCommand, "get", "ann", "0:get/ann x1 1000-1000 c1000"},
		{2000, DeniedKey, "get", "ann", "1:get/ann x1 2000-2000 c2000, 0:get/ann x1 1000-1000 c1000"},
		{61000, DeniedCommand, "get", "ann", "0:get/ann x2 1000-61000 c61000, 1:get/ann x1 2000-2000 c2000"},
		{61001, DeniedCommand, "get", "bob", "2:get/bob x1 61001-61001 c61001, 0:get/ann x2 1000-61000 c61000, 1:get/ann x1 2000-2000 c2000"},
		{121001, DeniedCommand, "get", "ann", "3:get/ann x1 121001-121001 c121001, 2:get/bob x1 61001-61001 c61001, 0:get/ann x2 1000-61000 c61000"},
	} {
		add(step.at, step.reason, step.object, step.user, fmt.Sprint("c", step.at))
		if got := shown(); got != step.want {
			t.Errorf("at %d: got %s, want %s", step.at, got, step.want)
		}
	}
	if n := len(l.Newest(1)); n != 1 {
		t.Errorf("%d entries instead of 1", n)
	}
	add(121001, DeniedKey, strings.Repeat("k", 1<<20), strings.Repeat("u", 1<<20), strings.Repeat("c", 1<<20))
	if e := l.Newest(1)[0]; len(e.Object) != objectMax || len(e.Username) != objectMax || len(e.Client) != clientMax {
		t.Errorf("an entry keeps %d, %d and %d bytes", len(e.Object), len(e.Username), len(e.Client))
	}
	l.Reset()
	if add(0, DeniedAuth, "AUTH", "x", ""); l.Newest(1)[0].ID != 5 || len(l.Newest(9)) != 1 {
		t.Error("after a reset")
	}
	l.Add(Entry{Object: "y"}, 0)
	if len(l.Newest(9)) != 0 {
		t.Error("a list of length 0 has entries")
	}
}
