package client

import (
	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

// redirection is a parsed MOVED or ASK.
type redirection struct {
	ask  bool
	slot int
	addr string
}

// parseRedirect reads a reply of the node asked; ok is false when it is no redirection.
func parseRedirect(v *resp.Value, asked string) (r redirection, ok bool) {
	if !v.IsError() {
		return r, false
	}
	to, ok := announce.ParseRedirect(string(v.Str), asked)
	return redirection{to.Ask, int(to.Slot), to.Addr}, ok
}

// textOf gives a reply's string, "" for nil.
func textOf(v *resp.Value) string { return announce.Text(v) }
