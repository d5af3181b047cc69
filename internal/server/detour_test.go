package server

import (
	"testing"

	"github.com/bowline-kv/bowline/slot"
)

func TestDetoursOfSlots(t *testing.T) {
	s, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, "OK", "SET", "hello", "1") // slot 866, of this node
	s.SetDetours(Detours{Slots: map[slot.ID]Detour{
		866:   {Error: "ASK 866 127.0.0.1:7002"},
		12182: {Error: "MOVED 12182 ::1:7003", Asking: true}, // foo, of the third node
	}})
	for range 2 {
		expect(t, c, "ASK 866 127.0.0.1:7002", "GET", "hello")
		expect(t, c, "MOVED 12182 ::1:7003", "SET", "foo", "x")
	}
	expect(t, c, "OK", "ASKING")
	expect(t, c, "ASK 866 127.0.0.1:7002", "GET", "hello")
	expect(t, c, "OK", "ASKING")
	expect(t, c, "OK", "SET", "foo", "x")
	expect(t, c, "OK", "SET", keyIn(0, 865), "1") // other slots are as before

	// A transaction learns of it when a command is queued.
	expect(t, c, "OK", "MULTI")
	expect(t, c, "ASK 866 127.0.0.1:7002", "GET", "hello")
	expect(t, c, "EXECABORT Transaction discarded because of previous errors.", "EXEC")

	// A new map leaves them alone.
	if err := s.SetMap(clusterMap(t, slot.Count-1)); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "ASK 866 127.0.0.1:7002", "GET", "hello")
	expect(t, c, "OK", "ASKING")
	expect(t, c, "x", "GET", "foo")

	mover := s.dial(t)
	s.SetDetours(Detours{
		Slots: map[slot.ID]Detour{866: {Error: "TRYAGAIN"}, 12182: {Error: "TRYAGAIN"}},
		Mover: uint64(mover.Do("CLIENT", "ID").(int64)),
	})
	expect(t, c, "TRYAGAIN", "GET", "hello")
	expect(t, mover, "1", "GET", "hello")
	expect(t, mover, "x", "GET", "foo")

	s.SetDetours(Detours{})
	expect(t, c, "1", "GET", "hello")
	expect(t, mover, "MOVED 12182 ::1:7003", "GET", "foo")
}
