package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
)

func repairCommand() *cobra.Command {
	var o node.RepairOptions
	c := &cobra.Command{
		Use:   "repair",
		Short: "Look for damage in a node's log, and cut it there",
		Long: "Reads the log of a node that does not run, and says where it is damaged and what would be lost\n" +
			"by going on without the damaged part: all that was written after it and is not in the snapshot.\n" +
			"Damage where the snapshot has what was there loses nothing, and needs no repair. With\n" +
			"--accept-loss the log is cut at the damage; what is behind is gone. A copy of the directory\n" +
			"made before keeps it.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&o.Dir, "dir", ".", config.Dir.Doc)
	c.Flags().StringVar(&o.Name, "appenddirname", config.AppendDirname.Default, config.AppendDirname.Doc)
	c.Flags().StringVar(&o.Snapshot, "dbfilename", config.DBFilename.Default, config.DBFilename.Doc)
	c.Flags().BoolVar(&o.Accept, "accept-loss", false, "cut the log at the damage")
	c.RunE = func(c *cobra.Command, _ []string) error { return repair(c, o) }
	return c
}

func repair(c *cobra.Command, o node.RepairOptions) error {
	out := c.OutOrStdout()
	look := o
	look.Accept = false
	d, err := node.Repair(look)
	if err != nil {
		return err
	}
	for _, passed := range d.Passed {
		fmt.Fprintf(out, "damage that a start passes over, as %s has what was there:\n  %v\n", d.Base, passed)
	}
	for i, last := range d.Last {
		fmt.Fprintf(out, "shard %d: whole up to record %d\n", i, last)
	}
	if d.Found == nil {
		if len(d.Passed) == 0 {
			fmt.Fprintln(out, "no damage found")
		} else {
			fmt.Fprintln(out, "nothing is lost")
		}
		return nil
	}
	fmt.Fprintln(out, d.Found)
	for i, seen := range d.Seen {
		if seen > d.Last[i] {
			fmt.Fprintf(out, "shard %d: records %d to %d would be lost\n", i, d.Last[i]+1, seen)
		}
	}
	fmt.Fprintf(out, "lost with it: all records behind, in up to %d bytes\n", d.Lost)
	for _, path := range d.Unusable {
		fmt.Fprintf(out, "%s is damaged too, and has more than the log then: it gets the suffix .damaged\n", path)
	}
	if !o.Accept {
		return &damageLeft{}
	}
	if _, err := node.Repair(o); err != nil {
		return err
	}
	fmt.Fprintln(out, "the log was cut there")
	return nil
}

// damageLeft is the end of a look at a log that is damaged.
type damageLeft struct{}

// Error says that nothing was changed.
func (*damageLeft) Error() string { return "the log is damaged; nothing was changed" }

// Hint says how to go on.
func (*damageLeft) Hint() string { return "the same with --accept-loss cuts the log at the damage" }
