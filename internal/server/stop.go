package server

import (
	"errors"
	"time"
)

// LastSave says what a stop does with the data, in the words of SHUTDOWN. Without any of
// them the settings decide.
type LastSave struct {
	Save, NoSave bool
	// Force stops the node though its data can't be saved.
	Force bool
}

// PrepareStop saves while clients are still served, and can be so further: an error says
// that the node is not to stop. What changes until it has stopped is saved by [Server.FinalSave].
// A node that is loading has nothing to save.
func (srv *Server) PrepareStop(o LastSave) error {
	s := &srv.saving
	s.mu.Lock()
	kept := s.stopped || s.partial && !o.Save // the file that is there
	s.mu.Unlock()
	save := o.Save || !o.NoSave && srv.SavesOnStop()
	if kept || s.state.Load()&stateLoading != 0 {
		save = false
	}
	next := never
	if save {
		err := srv.saveLast()
		if err != nil && !o.Force {
			return err
		}
		if err == nil {
			next = always
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onStop = next
	return nil
}

// lastSaveTries is how often saveLast tries while others begin snapshots, with a rest of
// lastSaveRest between.
const (
	lastSaveTries = 100
	lastSaveRest  = 10 * time.Millisecond
)

// saveLast saves in place of a snapshot in progress.
func (srv *Server) saveLast() (err error) {
	for range lastSaveTries {
		srv.endSave()
		if err = srv.saveNow(); !errors.Is(err, errBusy) {
			return err
		}
		srv.process.Sleep(lastSaveRest)
	}
	return err
}

// FinalSave is called once no client is served any more: it writes a last snapshot
// if that is wanted and anything has changed since the one before.
func (srv *Server) FinalSave() error {
	srv.endSave()
	changes := srv.changes()
	s := &srv.saving
	s.mu.Lock()
	wanted := s.onStop == always || s.onStop == bySettings && srv.SavesOnStop()
	saved := s.saves > 0 && !s.failed && s.changes == changes
	loading := s.state.Load()&stateLoading != 0
	kept := s.stopped || s.partial // the file that is there
	s.mu.Unlock()
	var err error
	if wanted && !saved && !loading && !kept && srv.process.Snapshots != nil {
		err = srv.saveNow()
	}
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	return err
}
