package server

import (
	"cmp"
	"slices"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// slotStat is what CLUSTER SLOT-STATS tells of a slot: the only number that is kept.
type slotStat struct {
	id   slot.ID
	keys int
}

// clusterSlotStats is CLUSTER SLOT-STATS SLOTSRANGE start end, or ORDERBY key-count
// [LIMIT n] [ASC|DESC], of the slots that are served here.
func clusterSlotStats(w *Worker, s *session.Session, v *clusterView, args [][]byte) {
	switch {
	case v.down:
		s.W.Error(reply.ClusterDown)
	case command.IsToken(args[2], "SLOTSRANGE") && len(args) == 5:
		w.statsInRange(s, v, args)
	case command.IsToken(args[2], "ORDERBY"):
		w.statsInOrder(s, v, args)
	default:
		s.W.Error(reply.UnknownSubcommandOrArgs("CLUSTER", args[1]))
	}
}

func (w *Worker) statsInRange(s *session.Session, v *clusterView, args [][]byte) {
	first, okFirst := resp.ParseInt(args[3])
	last, okLast := resp.ParseInt(args[4])
	switch {
	case !okFirst || !okLast || min(first, last) < 0 || max(first, last) >= slot.Count:
		s.W.Error(reply.SlotOutOfRange)
	case first > last:
		s.W.Error(reply.SlotsReversed(first, last))
	default:
		writeSlotStats(s, w.slotStats(s, v, slot.ID(first), slot.ID(last)))
	}
}

func (w *Worker) statsInOrder(s *session.Session, v *clusterView, args [][]byte) {
	if !command.IsToken(args[3], "KEY-COUNT") {
		s.W.Error(reply.SlotMetric)
		return
	}
	limit, ascending, limited, ordered := int64(slot.Count), false, false, false
	for i := 4; i < len(args); i++ {
		isLimit := command.IsToken(args[i], "LIMIT") && i+1 < len(args)
		asc, desc := command.IsToken(args[i], "ASC"), command.IsToken(args[i], "DESC")
		switch {
		case isLimit && limited, (asc || desc) && ordered:
			s.W.Error(reply.SlotFilters)
			return
		case isLimit:
			i++
			var ok bool
			if limit, ok = resp.ParseInt(args[i]); !ok || limit < 1 || limit > slot.Count {
				s.W.Error(reply.SlotLimit)
				return
			}
			limited = true
		case asc || desc:
			ordered, ascending = true, asc
		default:
			s.W.Error(reply.Syntax)
			return
		}
	}
	stats := w.slotStats(s, v, 0, slot.Count-1)
	slices.SortStableFunc(stats, func(a, b slotStat) int {
		if ascending {
			return cmp.Compare(a.keys, b.keys)
		}
		return cmp.Compare(b.keys, a.keys)
	})
	writeSlotStats(s, stats[:min(int(limit), len(stats))])
}

// slotStats gathers the slots first to last, as far as they are served here.
func (w *Worker) slotStats(s *session.Session, v *clusterView, first, last slot.ID) (stats []slotStat) {
	for id := range v.group.SlotSet().All() {
		if id >= first && id <= last {
			stats = append(stats, slotStat{id, w.slotKeys(s, id)})
		}
	}
	return stats
}

func writeSlotStats(s *session.Session, stats []slotStat) {
	s.W.Array(len(stats))
	for _, stat := range stats {
		s.W.Array(2)
		s.W.Int(int64(stat.id))
		s.W.Map(1)
		s.W.BulkString("key-count")
		s.W.Int(int64(stat.keys))
	}
}
