package reply

// Errors of hashes.
const (
	HashNotInteger    = "ERR hash value is not an integer"
	HashNotFloat      = "ERR hash value is not a float"
	FloatNaN          = "ERR value is NaN or Infinity"
	FieldExpireSign   = "ERR invalid expire time, must be >= 0"
	FieldsMissing     = "ERR Mandatory argument FIELDS is missing or not at the right position"
	NumFieldsPositive = "ERR Parameter `numFields` should be greater than 0"
	FieldsPositive    = "ERR Number of fields must be a positive integer"
	FieldsMismatch    = "ERR The `numfields` parameter must match the number of arguments"
	FieldsNumber      = "ERR invalid number of fields"
	FieldTimeMissing  = "ERR missing expire time"
	FieldConditions   = "ERR Only one of FXX or FNX arguments can be specified"
	FieldTimes        = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"
	NoValues          = "ERR NOVALUES option can only be used in HSCAN"
)

// UnknownArgument is the reply to a word that HSETEX does not know.
func UnknownArgument(arg []byte) string { return "ERR unknown argument: " + clip(arg) }
