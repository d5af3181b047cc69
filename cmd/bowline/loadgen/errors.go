package loadgen

import (
	"context"
	"errors"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/resp"
)

// kindOf names an error in a report: by the code that the server gave, or by what
// package client says of the command.
func kindOf(err error) string {
	var answered *resp.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "unfinished" // the run had ended
	case errors.Is(err, client.ErrMaybeExecuted):
		return "no reply"
	case errors.Is(err, client.ErrMaxRedirects):
		return "too many redirections"
	case errors.Is(err, client.ErrNoNode):
		return "no node"
	case errors.Is(err, client.ErrCrossSlot):
		return "CROSSSLOT"
	case errors.As(err, &answered):
		return answered.Code()
	}
	return "other"
}
