package engine

import (
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/value"
)

// Limits reads the settings that say up to what collections are packed.
func Limits(cfg *config.Config) value.Limits {
	return value.Limits{List: ListLimit(cfg), Set: SetLimit(cfg), SortedSet: SortedSetLimit(cfg), Hash: HashLimit(cfg)}
}

// ListLimit reads the one of lists.
func ListLimit(cfg *config.Config) chain.Limit {
	return chain.LimitOf(int(cfg.Int(config.ListMaxListpackSize)))
}

// SetLimit reads those of sets.
func SetLimit(cfg *config.Config) value.SetLimit {
	return value.SetLimit{
		Ints:    int(cfg.Int(config.SetMaxIntsetEntries)),
		Entries: int(cfg.Int(config.SetMaxListpackEntries)),
		Value:   int(cfg.Int(config.SetMaxListpackValue)),
	}
}

// SortedSetLimit reads those of sorted sets.
func SortedSetLimit(cfg *config.Config) value.SortedSetLimit {
	return value.SortedSetLimit{
		Entries: int(cfg.Int(config.ZSetMaxListpackEntries)),
		Value:   int(cfg.Int(config.ZSetMaxListpackValue)),
	}
}

// HashLimit reads those of hashes.
func HashLimit(cfg *config.Config) value.HashLimit {
	return value.HashLimit{
		Entries: int(cfg.Int(config.HashMaxListpackEntries)),
		Value:   int(cfg.Int(config.HashMaxListpackValue)),
	}
}
