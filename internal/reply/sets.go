package reply

// Errors of sets.
const (
	NumKeysTooMany = "ERR Number of keys can't be greater than number of args"
	LimitNegative  = "ERR LIMIT can't be negative"
)
