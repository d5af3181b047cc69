package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/shard"
)

// notifyBits maps the classes of the key space to those of the setting
// notify-keyspace-events.
var notifyBits = map[shard.NotifyClass]int64{
	shard.NotifyGeneric: config.EventGeneric,
	shard.NotifyString:  config.EventString,
	shard.NotifyList:    config.EventList,
	shard.NotifySet:     config.EventSet,
	shard.NotifyHash:    config.EventHash,
	shard.NotifyZSet:    config.EventZSet,
	shard.NotifyExpired: config.EventExpired,
	shard.NotifyEvicted: config.EventEvicted,
	shard.NotifyNew:     config.EventNew,
	shard.NotifyKeyMiss: config.EventMiss,
}

// Notify implements [shard.Hooks]: it publishes keyspace notifications as far as
// they are asked for.
func (h *hooks) Notify(db int, class shard.NotifyClass, event string, key []byte) {
	asked := h.srv.cfg.Int(config.NotifyKeyspaceEvents)
	if asked == 0 || asked&notifyBits[class] == 0 {
		return
	}
	number := strconv.Itoa(db)
	if asked&config.EventKeyspace != 0 {
		name := append([]byte("__keyspace@"+number+"__:"), key...)
		h.srv.broker.publish(channel, name, []byte(event), nil)
	}
	if asked&config.EventKeyevent != 0 {
		name := []byte("__keyevent@" + number + "__:" + event)
		h.srv.broker.publish(channel, name, key, nil)
	}
}
