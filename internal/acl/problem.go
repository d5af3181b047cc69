package acl

// problem is what is wrong with a rule, in Redis's words.
type problem string

// Error implements error.
func (p problem) Error() string { return string(p) }

const (
	unknownCommand  problem = "Unknown command or category name in ACL"
	syntax          problem = "Syntax error"
	afterAllKeys    problem = "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
	afterAllChannel problem = "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels"
	noSuchPassword  problem = "The password you are trying to remove from the user does not exist"
	badDigest       problem = "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
	subcommandArg   problem = "Allowing first-arg of a subcommand is not supported"
)

// quotedMax bounds what an error quotes of a rule.
const quotedMax = 128

func clip(text string, n int) string { return text[:min(len(text), n)] }

// ruleError is a rule that ACL SETUSER refuses.
type ruleError struct {
	rule string
	err  error
}

// Error implements error.
func (e ruleError) Error() string {
	return "Error in ACL SETUSER modifier '" + clip(e.rule, quotedMax) + "': " + e.err.Error()
}

// Unwrap gives what is wrong with the rule.
func (e ruleError) Unwrap() error { return e.err }

// unmatchedError is the word at which a selector begins that does not end.
type unmatchedError string

// Error implements error.
func (e unmatchedError) Error() string {
	return "Unmatched parenthesis in acl selector starting at '" + clip(string(e), quotedMax) + "'."
}
