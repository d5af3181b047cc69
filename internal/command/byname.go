package command

// ByName finds a working command or subcommand by its full lower-case name
// ("get", "config|get"), as the keys of handler tables have it; nil when there
// is none.
func ByName(name string) *Spec { return findName([]byte(name)) }
