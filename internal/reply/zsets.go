package reply

// Errors of sorted sets.
const (
	ScoreNaN        = "ERR resulting score is not a number (NaN)"
	ScoreRange      = "ERR min or max is not a float"
	LexRange        = "ERR min or max not valid string range item"
	RangeLimit      = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	RangeLexScores  = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
	AddNXConflict   = "ERR XX and NX options at the same time are not compatible"
	AddGTConflict   = "ERR GT, LT, and/or NX options at the same time are not compatible"
	AddIncrementOne = "ERR INCR option supports a single increment-element pair"
	WeightNotFloat  = "ERR weight value is not a float"
)

// InputKeyNeeded is the reply to a command (lower-case name) on several keys that
// names none.
func InputKeyNeeded(name string) string {
	return "ERR at least 1 input key is needed for '" + name + "' command"
}
