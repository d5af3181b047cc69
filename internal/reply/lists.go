package reply

// Errors of collections.
const (
	IndexOutOfRange = "ERR index out of range"
	NumKeysPositive = "ERR numkeys should be greater than 0"
	CountPositive   = "ERR count should be greater than 0"
	PosRankZero     = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"
	PosRankRange    = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	PosCount        = "ERR COUNT can't be negative"
	PosMaxLen       = "ERR MAXLEN can't be negative"

	DebugNoTable   = "ERR The value stored at the specified key is not represented using an hash table"
	DebugNotPacked = "ERR Not a listpack encoded object."

	BusyKey         = "BUSYKEY Target key name already exists."
	InvalidTTL      = "ERR Invalid TTL value, must be >= 0"
	InvalidIdleTime = "ERR Invalid IDLETIME value, must be >= 0"
	InvalidFreq     = "ERR Invalid FREQ value, must be >= 0 and <= 255"
	BadDump         = "ERR DUMP payload version or checksum are wrong"
	BadDumpFormat   = "ERR Bad data format"
	UnsupportedDump = "ERR Bad data format: values of this type are not supported"

	SortNotNumbers = "ERR One or more scores can't be converted into double"
	SortByCluster  = "ERR BY option of SORT denied in cluster mode when keys formed by the pattern may be in different slots."
	SortGetCluster = "ERR GET option of SORT denied in cluster mode when keys formed by the pattern may be in different slots."
	SortByACL      = "ERR BY option of SORT denied due to insufficient ACL permissions"
	SortGetACL     = "ERR GET option of SORT denied due to insufficient ACL permissions"
)
