package command

import "bytes"

// ByName finds a working command or subcommand by its full lower-case name
// ("get", "config|get"), as the keys of handler tables have it; nil when there
// is none.
func ByName(name string) *Spec { return findName([]byte(name)) }

// ByNameAny finds a command or subcommand by its full name, in any case, planned
// and refused ones included, as the rules of users have it; nil when there is none.
func ByNameAny(name []byte) *Spec {
	container, sub, ok := bytes.Cut(name, []byte("|"))
	spec := LookupAny(container)
	if !ok || spec == nil {
		return spec
	}
	return spec.SubcommandAny(sub)
}
