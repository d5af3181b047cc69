package client

import (
	"context"
	"fmt"
	"iter"
)

// ScanOptions narrow a scan down. The zero value scans all.
type ScanOptions struct {
	// Match is a glob pattern; "": everything.
	Match string
	// Count is a hint how much work one round trip does; 0: the server's default.
	Count int
	// Type is that of the keys, "hash" for instance; "": all. Only Client.Scan heeds it.
	Type string
}

func (o *ScanOptions) append(args []any) []any {
	if o.Match != "" {
		args = append(args, "MATCH", o.Match)
	}
	if o.Count > 0 {
		args = append(args, "COUNT", o.Count)
	}
	return args
}

// Scan iterates over the keys of all nodes that serve slots, one node after the other.
// A key that is there from the beginning to the end comes at least once; one that
// moves to another node meanwhile may come twice or, when its slot moves to a node
// already done, not at all. After an error the iteration ends.
func (c *Client) Scan(ctx context.Context, opt ScanOptions) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		nodes := c.nodes(false)
		if len(nodes) == 0 {
			yield("", ErrNoNode)
		}
		for _, n := range nodes {
			rest := opt.append(nil)
			if opt.Type != "" {
				rest = append(rest, "TYPE", opt.Type)
			}
			next := func(cursor string) Reply {
				return n.Do(ctx, append([]any{"SCAN", cursor}, rest...)...)
			}
			if !scan(next, yield) {
				return
			}
		}
	}
}

// ScanSet iterates over the members of a set, with the promises of SSCAN.
func (c *Client) ScanSet(ctx context.Context, key string, opt ScanOptions) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		scan(c.scanKey(ctx, "SSCAN", key, &opt), yield)
	}
}

// Field is a field of a hash and its value, or a member of a sorted set and its score.
type Field struct{ Name, Value string }

// ScanHash iterates over the fields of a hash, with the promises of HSCAN.
func (c *Client) ScanHash(ctx context.Context, key string, opt ScanOptions) iter.Seq2[Field, error] {
	return fields(c.scanKey(ctx, "HSCAN", key, &opt))
}

// ScanSortedSet iterates over the members of a sorted set, with the promises of ZSCAN.
func (c *Client) ScanSortedSet(ctx context.Context, key string, opt ScanOptions) iter.Seq2[Field, error] {
	return fields(c.scanKey(ctx, "ZSCAN", key, &opt))
}

func (c *Client) scanKey(ctx context.Context, command, key string, opt *ScanOptions) func(string) Reply {
	rest := opt.append(nil)
	return func(cursor string) Reply {
		return c.Do(ctx, append([]any{command, key, cursor}, rest...)...)
	}
}

func fields(next func(string) Reply) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		var name *string
		scan(next, func(text string, err error) bool {
			switch {
			case err != nil:
				return yield(Field{}, err)
			case name == nil:
				name = &text
				return true
			}
			f := Field{*name, text}
			name = nil
			return yield(f, nil)
		})
	}
}

// scan follows one cursor to its end; false: the caller has had enough, or there was an
// error.
func scan(next func(cursor string) Reply, yield func(string, error) bool) bool {
	for cursor := "0"; ; {
		var list []string
		parts, err := next(cursor).Slice()
		if err == nil && len(parts) != 2 {
			err = fmt.Errorf("a scan answered %d elements instead of 2", len(parts))
		}
		if err == nil {
			cursor, err = parts[0].Text()
		}
		if err == nil {
			list, err = parts[1].Texts()
		}
		if err != nil {
			yield("", err)
			return false
		}
		for _, text := range list {
			if !yield(text, nil) {
				return false
			}
		}
		if cursor == "0" {
			return true
		}
	}
}
