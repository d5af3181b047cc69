package rdb

import (
	"fmt"
	"strconv"
	"strings"
)

// gathered is a sink that writes down what it gets.
type gathered struct {
	keys map[string]string // "database/name" to what it is
	name string
	b    strings.Builder
}

func newGathered() *gathered { return &gathered{keys: map[string]string{}} }

func (g *gathered) Key(k *Key) error {
	g.name = fmt.Sprintf("%d/%s", k.DB, k.Name)
	if k.ExpireAt != 0 {
		fmt.Fprintf(&g.b, "until %d ", k.ExpireAt)
	}
	if _, twice := g.keys[g.name]; twice {
		return fmt.Errorf("key %q comes twice", g.name)
	}
	return nil
}

func (g *gathered) Begin(kind Kind, _ uint64) error {
	fmt.Fprintf(&g.b, "%s:", [...]string{"", "string", "list", "set", "zset", "hash"}[kind])
	return nil
}

func (g *gathered) Element(e *Element) error {
	fmt.Fprintf(&g.b, " %q", e.Value)
	if e.Second != nil {
		fmt.Fprintf(&g.b, "=%q", e.Second)
	}
	if e.Score != 0 {
		g.b.WriteString("@" + strconv.FormatFloat(e.Score, 'g', -1, 64))
	}
	if e.ExpireAt != 0 {
		fmt.Fprintf(&g.b, "until:%d", e.ExpireAt)
	}
	return nil
}

func (g *gathered) End() error {
	g.keys[g.name] = g.b.String()
	g.b.Reset()
	return nil
}
