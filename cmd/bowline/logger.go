package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/bowline-kv/bowline/internal/config"
)

// newLogger makes the logger that the settings logfile and loglevel ask for. It
// follows CONFIG SET loglevel.
func newLogger(w io.Writer, cfg *config.Config) (*slog.Logger, error) {
	if path := cfg.String(config.LogFile); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
		if err != nil {
			return nil, fmt.Errorf("open log file: %w", err)
		}
		w = f // open until the process ends
	}
	level := new(slog.LevelVar)
	follow := func() error {
		level.Set(levels[cfg.String(config.LogLevel)])
		return nil
	}
	if err := follow(); err != nil {
		return nil, err
	}
	cfg.OnChange(config.LogLevel, follow)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), nil
}

// levels are Redis's words for the least weight of a line.
var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "verbose": slog.LevelDebug, "notice": slog.LevelInfo, "warning": slog.LevelWarn,
}
