package server

import (
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
)

func (srv *Server) aboutClients() map[string]source {
	t := srv.tracking
	largest := func(of func(s *session.Session) int64) source {
		return numberSource(func() int64 {
			most := int64(0)
			for _, s := range srv.registry.All() {
				most = max(most, of(s))
			}
			return most
		})
	}
	listening := func(k kind) source {
		return numberSource(func() int {
			srv.broker.mu.RLock()
			defer srv.broker.mu.RUnlock()
			return len(srv.broker.by[k])
		})
	}
	return map[string]source{
		"connected_clients":               numberSource(srv.registry.Len),
		"cluster_connections":             fixed("0"),
		"maxclients":                      numberSource(func() int64 { return srv.cfg.Int(config.MaxClients) }),
		"client_recent_max_input_buffer":  largest((*session.Session).Pending),
		"client_recent_max_output_buffer": largest((*session.Session).Output),
		"blocked_clients":                 numberSource(func() int64 { return int64(srv.registry.Waiting()) + srv.waiting.count.Load() }),
		"evicted_clients":                 numberSource(srv.evictedClients),
		"tracking_clients":                numberSource(t.clients.Load),
		"pubsub_clients": numberSource(func() int {
			srv.broker.mu.RLock()
			defer srv.broker.mu.RUnlock()
			return len(srv.broker.of)
		}),
		"watching_clients":             numberSource(srv.hooks.watches.clients),
		"clients_in_timeout_table":     numberSource(srv.waiting.withTimeout),
		"total_watched_keys":           numberSource(srv.hooks.watches.distinct),
		"total_blocking_keys":          numberSource(srv.waiting.keysWaitedFor),
		"total_blocking_keys_on_nokey": fixed("0"),
		"pubsub_channels":              listening(channel),
		"pubsub_patterns":              listening(pattern),
		"pubsubshard_channels":         listening(shardChannel),
		"tracking_total_keys":          numberSource(t.keys.Load),
		"tracking_total_items":         numberSource(t.items.Load),
		"tracking_total_prefixes":      numberSource(t.prefixes.Load),
	}
}
