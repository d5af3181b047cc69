package server

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// aclFileMax bounds an ACL file, in bytes.
const aclFileMax = 64 << 20

// LoadUsers makes the users that the configuration defines, or those of the ACL
// file that it names. The node calls it before it serves.
func (srv *Server) LoadUsers() error {
	defined, path := srv.cfg.Users(), srv.aclPath()
	switch {
	case len(defined) > 0 && path != "":
		return fmt.Errorf("%s: users are defined here and in the ACL file %s: keep them in one place", defined[0].Origin, path)
	case path != "":
		return srv.loadUserFile(nil, path)
	case len(defined) == 0:
		return nil
	}
	var users []*acl.User
	d := srv.aclDefaults()
	for _, u := range defined {
		if !acl.ValidName(u.Name) {
			return fmt.Errorf("%s: a user's name can't be %q", u.Origin, u.Name)
		}
		user, err := acl.New(u.Name, d).With(u.Rules, d)
		if err != nil {
			return fmt.Errorf("%s: user %s: %w", u.Origin, u.Name, err)
		}
		users = append(users, user)
	}
	srv.warnOfDisabled(users)
	srv.replaceUsers(nil, users)
	return nil
}

// warnOfDisabled names the users that can't log in, which may be a mistake.
func (srv *Server) warnOfDisabled(users []*acl.User) {
	if srv.process.Log == nil {
		return
	}
	for _, u := range users {
		if !u.Enabled() {
			srv.process.Log("a user is defined without 'on', so it can't log in: " + u.Name())
		}
	}
}

// aclPath is the path of the ACL file; "": there is none.
func (srv *Server) aclPath() string {
	path := srv.cfg.String(config.ACLFile)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(srv.cfg.String(config.Dir), path)
}

// loadUserFile makes the users of a file those of the node; when it has a mistake
// nothing changes. s is who asked for it; nil: no client.
func (srv *Server) loadUserFile(s *session.Session, path string) error {
	if srv.process.ReadFile == nil {
		return errors.New("this node reads no files")
	}
	text, err := srv.process.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", reply.ACLFileUnread(path), err)
	}
	if len(text) > aclFileMax {
		return fmt.Errorf("%s: longer than %d bytes", reply.ACLFileUnread(path), aclFileMax)
	}
	users, err := acl.ParseFile(path, string(text), srv.aclDefaults())
	if err != nil {
		return err
	}
	srv.replaceUsers(s, users)
	return nil
}

func aclLoad(w *Worker, s *session.Session, _ [][]byte) {
	path := w.srv.aclPath()
	if path == "" {
		s.W.Error(reply.NoACLFile)
		return
	}
	if err := w.srv.loadUserFile(s, path); err != nil {
		s.W.Error("ERR " + err.Error())
		return
	}
	s.W.OK()
}

func aclSave(w *Worker, s *session.Session, _ [][]byte) {
	path := w.srv.aclPath()
	if path == "" {
		s.W.Error(reply.NoACLFile)
		return
	}
	p := &w.srv.process
	err := errors.New("this node writes no files")
	if p.ReplaceFile != nil {
		err = p.ReplaceFile(path, acl.AppendFile(nil, w.srv.users()))
	}
	if err != nil {
		if p.Log != nil {
			p.Log("save the users to " + path + ": " + err.Error())
		}
		s.W.Error(reply.ACLSave)
		return
	}
	s.W.OK()
}

// usersToRewrite are the users that the configuration file has to define: none when
// an ACL file does, or when there is only the default user, as it would be anyway.
func (srv *Server) usersToRewrite() []string {
	if srv.aclPath() != "" {
		return nil
	}
	usual := acl.NewDefault(srv.cfg.String(config.RequirePass)).String()
	var texts []string
	for _, u := range srv.users() {
		if text := u.String(); text != usual {
			texts = append(texts, strings.TrimPrefix(text, "user "))
		}
	}
	return texts
}
