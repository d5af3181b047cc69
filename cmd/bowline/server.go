package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
)

func serverCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "server",
		Short: "Run one node",
		Long: "Runs one node until SIGTERM or Ctrl-C.\n\n" +
			"Settings come from the defaults, the file named by --config (TOML when its name ends in\n" +
			".toml, else the syntax of redis.conf), the environment (BOWLINE_MAXCLIENTS for maxclients)\n" +
			"and flags; each counts more than those before it. Every parameter of CONFIG GET is a flag.",
		Args: noArguments,
	}
	c.Flags().StringVar(&file, "config", "", "configuration file")
	values := map[string]*string{}
	for _, p := range config.All() {
		doc := p.Doc
		if !p.HasEffect() {
			doc += " (without effect)"
		}
		values[p.Name] = c.Flags().String(p.Name, "", doc)
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return explainFlag(err) })
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg := config.New()
		if err := load(cfg, file, c, values); err != nil {
			return err
		}
		return serve(c, cfg, file)
	}
	return c
}

// load reads all sources in their order.
func load(cfg *config.Config, file string, c *cobra.Command, values map[string]*string) error {
	if file != "" {
		if err := cfg.LoadFile(file, os.ReadFile); err != nil {
			return err
		}
	}
	if err := cfg.LoadEnviron(os.Environ()); err != nil {
		return err
	}
	for name, value := range values {
		if c.Flags().Changed(name) {
			if err := cfg.Load(name, []string{*value}, "--"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// explainFlag names the parameter that was probably meant.
func explainFlag(err error) error {
	_, name, found := strings.Cut(err.Error(), "unknown flag: --")
	if !found {
		return err
	}
	if known := config.Nearest(name); known != "" {
		return fmt.Errorf("%w, did you mean --%s?", err, known)
	}
	return err
}

// noArguments refuses what redis-server would take for its configuration file.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &argumentError{args[0]}
}

// argumentError is an argument where only flags are expected.
type argumentError struct{ argument string }

// Error names the argument.
func (e *argumentError) Error() string { return fmt.Sprintf("unexpected argument %q", e.argument) }

// Hint says how a configuration file is given.
func (e *argumentError) Hint() string {
	return "a configuration file is named by --config, every setting by a flag of its own"
}

func serve(c *cobra.Command, cfg *config.Config, file string) error {
	signal.Ignore(syscall.SIGHUP) // a terminal that is closed ends no server, as with Redis
	log, err := newLogger(c.ErrOrStderr(), cfg)
	if err != nil {
		return err
	}
	if idle := cfg.WithoutEffect(); len(idle) > 0 {
		log.Warn("these settings have no effect here", "settings", strings.Join(idle, " "))
	}
	// Not by the context, which ends once: a node that can't save its data goes on.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	n, err := node.Start(node.Options{Config: cfg, Version: version, Log: log, ConfigFile: file, Interrupt: c.Context().Done()})
	if err != nil {
		return err
	}
	for _, a := range n.Addrs() {
		log.Info("ready to accept connections", "address", a.String(), "version", version, "pid", os.Getpid())
	}
	awaitStop(n, signals, log)
	log.Info("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// awaitStop waits until a client's SHUTDOWN has stopped the node, or a signal is to.
func awaitStop(n *node.Node, signals <-chan os.Signal, log *slog.Logger) {
	for {
		select {
		case <-n.Done():
			return
		case s := <-signals:
			setting := config.ShutdownOnSigterm
			if s == os.Interrupt {
				setting = config.ShutdownOnSigint
			}
			err := n.PrepareStop(setting)
			if err == nil {
				return
			}
			log.Error("the data can't be saved, so the node goes on", "signal", s.String(), "setting", setting.Name, "error", err)
		}
	}
}
