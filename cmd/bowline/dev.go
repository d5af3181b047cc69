package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/devcluster"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
)

// stopTimeout bounds a graceful stop; afterwards connections are cut off.
const stopTimeout = 10 * time.Second

const portMax = 65535

// errTLSFolder is for a cluster that would have nowhere to put its certificates.
var errTLSFolder = errors.New("--tls needs --dir, the folder for the certificates")

func devCommand() *cobra.Command {
	var nodes, port, shards int
	var dir string
	var secured bool
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run a whole cluster in this process, for development",
		Long: "Runs several nodes on loopback, with the slots in equal parts, until Ctrl-C.\n" +
			"Data lives in memory only and nothing is written, unless --dir is given:\n" +
			"then each node keeps its data in a folder there, in snapshots and a log.",
		Args: cobra.NoArgs,
	}
	c.Flags().IntVar(&nodes, "nodes", 3, "number of nodes")
	c.Flags().IntVar(&port, "port", 7001, "port of the first node; ports that are taken are passed over, and 0 takes any")
	c.Flags().IntVar(&shards, "shards", 1, "shards of each node")
	c.Flags().StringVar(&dir, "dir", "", "keep the data of each node, and the cluster map, in this folder")
	c.Flags().BoolVar(&secured, "tls", false, "give each node a port for TLS too, with certificates that are made in the folder of --dir")
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case secured && dir == "":
			return errTLSFolder
		case port < 0 || port > portMax:
			return fmt.Errorf("--port %d: a number between 0 and %d is needed", port, portMax)
		case shards < 1 || shards > shard.ShardsMax:
			return fmt.Errorf("--shards %d: a number between 1 and %d is needed", shards, shard.ShardsMax)
		}
		log, err := newLogger(c.ErrOrStderr(), config.New())
		if err != nil {
			return err
		}
		o := devcluster.Options{Nodes: nodes, Port: port, Shards: shards, Version: version, Log: log, TLS: secured}
		var settings []func(index int, cfg *config.Config) error
		if dir != "" {
			keep, err := devData(dir, nodes, shards)
			if err != nil {
				return err
			}
			settings = append(settings, keep)
		}
		if secured {
			certificates, err := devCertificates(dir)
			if err != nil {
				return err
			}
			settings = append(settings, certificates)
		}
		o.Configure = func(index int, cfg *config.Config) error {
			for _, set := range settings {
				if err := set(index, cfg); err != nil {
					return err
				}
			}
			return nil
		}
		cluster, err := devcluster.Start(o)
		if err != nil {
			return err
		}
		err = announce(c.OutOrStdout(), cluster, dir)
		if err == nil {
			<-c.Context().Done()
			fmt.Fprintln(c.OutOrStdout(), "stopping")
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if stopErr := cluster.Stop(ctx); err == nil {
			err = stopErr
		}
		return err
	}
	return c
}

// announce prints the nodes and what to type next, and writes the map.
func announce(w io.Writer, c *devcluster.Cluster, dir string) error {
	if dir != "" {
		path := filepath.Join(dir, devMap)
		if err := os.WriteFile(path, []byte(c.Map.String()), 0o644); err != nil {
			return fmt.Errorf("write the cluster map: %w", err)
		}
		fmt.Fprintf(w, "The cluster map is in %s\n\n", path)
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "node\taddress\tslots\tid")
	i, first, secured := 0, 0, []string(nil)
	for g, m := range c.Map.Members() {
		i++
		if first == 0 {
			first = m.Port
		}
		if m.TLSPort != 0 {
			secured = append(secured, net.JoinHostPort(m.Host, fmt.Sprint(m.TLSPort)))
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", i, net.JoinHostPort(m.Host, fmt.Sprint(m.Port)), slotText(g), m.ID)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the nodes: %w", err)
	}
	if len(secured) > 0 {
		_, port, _ := net.SplitHostPort(secured[0])
		fmt.Fprintf(w, "\nBy TLS: %s\n\n  redis-cli -c --tls --cacert %s -p %s get a\n",
			strings.Join(secured, " "), filepath.Join(dir, devAuthority), port)
	}
	where := "in memory only"
	if dir != "" {
		where = "kept in " + dir
	}
	_, err := fmt.Fprintf(w, "\nThe cluster is ready. In another terminal:\n\n"+
		"  redis-cli -c -p %[1]d set a 1\n"+
		"  redis-cli -c -p %[1]d get a\n"+
		"  redis-benchmark --cluster -p %[1]d -t set,get -q\n\n"+
		"Ctrl-C stops it; the data is %[2]s.\n", first, where)
	return err
}

// slotText shows a group's slots, cut to a readable length.
func slotText(g *topology.Group) string {
	const most = 40
	set := g.SlotSet()
	text := set.String()
	if len(text) > most {
		text = fmt.Sprintf("%d slots", set.Len())
	}
	return text
}
