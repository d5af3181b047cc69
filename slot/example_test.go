package slot_test

import (
	"fmt"

	"github.com/bowline-kv/bowline/slot"
)

func ExampleOf() {
	fmt.Println(slot.Of([]byte("foo")), slot.OfString("{foo}.bar"))
	// Output: 12182 12182
}

func ExampleParseSet() {
	have, _ := slot.ParseSet("0-5460,8000")
	gone, _ := slot.ParseSet("100-199")
	left := have.Subtract(gone)
	fmt.Println(left, left.Len())
	// Output: 0-99,200-5460,8000 5362
}

func ExampleParseAssignment() {
	a, _ := slot.ParseAssignment("100-199@1")
	fmt.Println(a.First, a.Last, a.Shard, a.Len())
	// Output: 100 199 1 100
}
