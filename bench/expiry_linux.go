package main

import (
	"context"
	"time"
)

const (
	// expiryNear is the share of what the keys added that may be left, in memory and
	// in number, when a server is said to be back where it was.
	expiryNear   = 0.1
	expiryPeriod = 10 * time.Millisecond
)

// expiryTimes are in seconds from the moment of expiry; nil: not within expiryMost.
type expiryTimes struct{ memory, size *float64 }

// expiry measures how long keys that expire in one moment stay in memory.
func (b *bench) expiry(ctx context.Context, name string) (stateResults, error) {
	var times [2]expiryTimes
	for i, p := range []program{b.redis, b.bowline} {
		s, err := p.start(ctx)
		if err != nil {
			return nil, err
		}
		times[i], err = expiryOf(ctx, s, b.plan.expiryKeys)
		s.stop()
		if err != nil {
			return nil, err
		}
		if times[i].memory == nil || times[i].size == nil {
			b.note("%s: %s had not removed all after %v", name, p.name, expiryMost)
		}
	}
	t := findTarget(measureExpiry, "", 0, 0)
	return stateResults{
		newState(name+" used_memory back", "s", times[0].memory, times[1].memory, t),
		newState(name+" DBSIZE back", "s", times[0].size, times[1].size, t),
	}, nil
}

func expiryOf(ctx context.Context, s *server, keys int64) (expiryTimes, error) {
	c, err := dial(s.address)
	if err != nil {
		return expiryTimes{}, err
	}
	defer c.close()
	before, err := c.usedMemory()
	if err != nil {
		return expiryTimes{}, err
	}
	at, err := fillExpiring(ctx, s, keys, 0, 500*time.Millisecond)
	if err != nil {
		return expiryTimes{}, err
	}
	full, err := c.usedMemory()
	if err != nil {
		return expiryTimes{}, err
	}
	if err := pause(ctx, time.Until(at)); err != nil {
		return expiryTimes{}, err
	}
	enough := before + (full-before)*expiryNear
	return awaitExpired(ctx, c, at, enough, int64(float64(keys)*expiryNear))
}

// awaitExpired watches memory and number of keys until both are low enough.
func awaitExpired(ctx context.Context, c *client, at time.Time, enough float64, few int64) (expiryTimes, error) {
	var t expiryTimes
	for time.Since(at) < expiryMost {
		if t.memory == nil {
			used, err := c.usedMemory()
			if err != nil {
				return t, err
			}
			t.memory = sinceIf(used <= enough, at)
		}
		if t.size == nil {
			n, err := c.size()
			if err != nil {
				return t, err
			}
			t.size = sinceIf(n <= few, at)
		}
		if t.memory != nil && t.size != nil {
			return t, nil
		}
		if err := pause(ctx, expiryPeriod); err != nil {
			return t, err
		}
	}
	return t, nil
}

// sinceIf gives the seconds since at when something has come true, else nil.
func sinceIf(done bool, at time.Time) *float64 {
	if !done {
		return nil
	}
	seconds := time.Since(at).Seconds()
	return &seconds
}
