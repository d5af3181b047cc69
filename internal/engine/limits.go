package engine

import (
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/value"
)

// Limits reads the settings that say up to what collections are packed.
func Limits(cfg *config.Config) value.Limits {
	size := func(p *config.Param) int { return int(cfg.Int(p)) }
	return value.Limits{
		List:      chain.LimitOf(size(config.ListMaxListpackSize)),
		Set:       value.SetLimit{Ints: size(config.SetMaxIntsetEntries), Entries: size(config.SetMaxListpackEntries), Value: size(config.SetMaxListpackValue)},
		SortedSet: value.SortedSetLimit{Entries: size(config.ZSetMaxListpackEntries), Value: size(config.ZSetMaxListpackValue)},
		Hash:      value.HashLimit{Entries: size(config.HashMaxListpackEntries), Value: size(config.HashMaxListpackValue)},
	}
}
