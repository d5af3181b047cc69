package session

// Deliver adds bytes that the client gets besides its replies: a message of a
// channel, whole. Any goroutine may call it, also under locks of the key space:
// it waits for nothing.
func (s *Session) Deliver(message []byte) {
	s.inMu.Lock()
	s.inbox = append(s.inbox, message...)
	notify := !s.notified
	s.notified = true
	s.inMu.Unlock()
	if notify {
		s.wake()
	}
}

// TakeInbox moves what was delivered behind the replies in W; false when there
// was nothing. The driver calls it after each flush and when it was woken.
func (s *Session) TakeInbox() bool {
	s.inMu.Lock()
	defer s.inMu.Unlock()
	s.notified = false
	if len(s.inbox) == 0 {
		return false
	}
	s.W.B = append(s.W.B, s.inbox...)
	s.inbox = nil
	return true
}

// SetSubscriptions tells to how many channels, patterns and shard channels the
// client listens. Executors call it.
func (s *Session) SetSubscriptions(channels, patterns, shards int) {
	s.subscriptions.Store(int64(channels + patterns + shards))
	s.update(func(v *view) { v.channels, v.patterns, v.shards = channels, patterns, shards })
}

// Subscribed says whether the client listens to anything. Any goroutine may call
// it.
func (s *Session) Subscribed() bool { return s.subscriptions.Load() > 0 }
