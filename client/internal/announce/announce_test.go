package announce

import (
	"reflect"
	"testing"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

func TestParseRedirect(t *testing.T) {
	for _, c := range []struct {
		text string
		want Redirect
		ok   bool
	}{
		{"MOVED 3999 127.0.0.1:6381", Redirect{false, 3999, "127.0.0.1:6381"}, true},
		{"ASK 3999 127.0.0.1:6381@16381", Redirect{true, 3999, "127.0.0.1:6381"}, true},
		{"MOVED 1 ::1:7000", Redirect{false, 1, "[::1]:7000"}, true},
		{"MOVED 1 :7000", Redirect{false, 1, "asked:7000"}, true},
		{"MOVED 1 other:0", Redirect{false, 1, "other:1"}, true},
		{"MOVED 1 ?:7000", Redirect{}, false},
		{"MOVED 1 :0", Redirect{}, false},
		{"MOVED 16384 h:1", Redirect{}, false},
		{"MOVED 1 h", Redirect{}, false},
		{"MOVED 1", Redirect{}, false},
		{"ERR no", Redirect{}, false},
		{"", Redirect{}, false},
	} {
		got, ok := ParseRedirect(c.text, "asked:1")
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}

func TestParseSlots(t *testing.T) {
	wire := "*4\r\n" +
		"*4\r\n:0\r\n:9\r\n*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n*3\r\n$-1\r\n:2\r\n$2\r\nid\r\n" + // a null host is the one asked
		"*3\r\n:10\r\n:19\r\n*4\r\n$1\r\nb\r\n:1\r\n$2\r\nid\r\n*2\r\n$8\r\nhostname\r\n$1\r\nn\r\n" +
		"*3\r\n:20\r\n:29\r\n*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n" + // more of the first primary
		"*4\r\n:30\r\n:39\r\n*3\r\n$1\r\n?\r\n:1\r\n$2\r\nid\r\n*3\r\n$1\r\nr\r\n:2\r\n$2\r\nid\r\n" // nobody knows the primary
	v, _, err := new(resp.ReplyReader).Next([]byte(wire))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseSlots(&v, "asked:7")
	want := &Map{Groups: []Group{
		{Slots: []slot.Range{{First: 0, Last: 9}, {First: 20, Last: 29}},
			Members: []Member{{Addr: "a:1", ServerName: "a", Primary: true}, {Addr: "asked:2"}}},
		{Slots: []slot.Range{{First: 10, Last: 19}}, Members: []Member{{Addr: "b:1", ServerName: "b", Primary: true}}},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if !got.Serves() || (&Map{}).Serves() {
		t.Error("Serves")
	}
	for _, bad := range []string{"*1\r\n*1\r\n:0\r\n", "*1\r\n*3\r\n:5\r\n:4\r\n*0\r\n", "*1\r\n*3\r\n:0\r\n:16384\r\n*0\r\n", "*1\r\n*3\r\n$1\r\nx\r\n:1\r\n*0\r\n"} {
		v, _, err := new(resp.ReplyReader).Next([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := ParseSlots(&v, "asked:7"); err == nil {
			t.Errorf("%q was read as %+v", bad, m)
		}
	}
}
