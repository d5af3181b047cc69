package strings

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
)

// options are what SET and GETEX take after their fixed arguments.
type options struct {
	expiry  []byte // nil: none given
	unit    engine.Unit
	nx, xx  bool
	ifEqual []byte // the value that the key must have; nil: not asked for
	get     bool
	keepTTL bool
	persist bool
}

// optionSet says which command's options are allowed.
type optionSet uint8

const (
	setOptions optionSet = iota
	getExOptions
)

// parseOptions reads the options and refuses contradicting ones; when ok is
// false the error was already written.
func parseOptions(c *engine.Ctx, args engine.Args, allowed optionSet) (o options, ok bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		hasTTL := o.expiry != nil || o.keepTTL || o.persist
		unit, isUnit := engine.UnitOption(arg)
		switch {
		case isUnit && !hasTTL && i+1 < len(args):
			i++
			o.expiry, o.unit = args[i], unit
		case allowed == getExOptions && command.IsToken(arg, "PERSIST") && o.expiry == nil:
			o.persist = true
		case allowed == setOptions && command.IsToken(arg, "NX") && !o.xx && o.ifEqual == nil:
			o.nx = true
		case allowed == setOptions && command.IsToken(arg, "XX") && !o.nx && o.ifEqual == nil:
			o.xx = true
		case allowed == setOptions && command.IsToken(arg, "IFEQ") && !o.nx && !o.xx && o.ifEqual == nil && i+1 < len(args):
			i++
			o.ifEqual = args[i]
		case allowed == setOptions && command.IsToken(arg, "GET"):
			o.get = true
		case allowed == setOptions && command.IsToken(arg, "KEEPTTL") && o.expiry == nil:
			o.keepTTL = true
		default:
			c.Error(reply.Syntax)
			return o, false
		}
	}
	return o, true
}
