package command

// IsToken compares an argument of a request with a literal word of the grammar
// ("EX", "MATCH"), letter case aside.
func IsToken(arg []byte, token string) bool { return equalFold(arg, token) }
