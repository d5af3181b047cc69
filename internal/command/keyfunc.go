package command

// The functions below find the keys of the commands whose specifications are
// marked incomplete, unknown or with variable flags. They follow what COMMAND
// GETKEYSANDFLAGS answers, also for requests that the command will refuse.

const (
	keyRead      = KeyRO | KeyAccess
	keyReadWrite = KeyRW | KeyAccess | KeyUpdate
	keyOverwrite = KeyOW | KeyUpdate
	keyTake      = KeyRW | KeyAccess | KeyDelete
)

func (s *Spec) funcKeys(args [][]byte, dst []KeyRef) ([]KeyRef, bool) {
	if len(args) < 2 {
		return dst, false
	}
	switch s.KeyFunc {
	case KeyFuncSet:
		return append(dst, KeyRef{1, setFlags(args)}), true
	case KeyFuncBitfield:
		return append(dst, KeyRef{1, bitfieldFlags(args)}), true
	case KeyFuncSort:
		return sortKeys(args, dst), true
	case KeyFuncSortRo:
		return append(dst, KeyRef{1, keyRead}), true
	case KeyFuncMigrate:
		return migrateKeys(args, dst)
	}
	return dst, false
}

// setFlags: SET reads the old value only for GET, which may stand anywhere
// after the value.
func setFlags(args [][]byte) KeyFlags {
	for i := 3; i < len(args); i++ {
		if equalFold(args[i], "GET") {
			return keyReadWrite
		}
	}
	return keyOverwrite
}

// bitfieldFlags: a BITFIELD of nothing but GET is a read. Anything that does
// not parse counts as a write, which is the safe side for permissions.
func bitfieldFlags(args [][]byte) KeyFlags {
	for i := 2; i < len(args); {
		rest := len(args) - i - 1
		switch {
		case equalFold(args[i], "GET") && rest >= 2:
			i += 3
		case equalFold(args[i], "OVERFLOW") && rest >= 1:
			i += 2
		default:
			return keyReadWrite
		}
	}
	return keyRead
}

// sortKeys: the last STORE wins. Options with values are skipped whole, so that
// a pattern named "store" is not taken for the option. Keys that BY and GET
// build from patterns cannot be known here: hence [LocksAll] for SORT.
func sortKeys(args [][]byte, dst []KeyRef) []KeyRef {
	dst = append(dst, KeyRef{1, keyRead})
	store := 0
	for i := 2; i < len(args); i++ {
		switch a := args[i]; {
		case equalFold(a, "LIMIT"):
			i += 2
		case equalFold(a, "GET"), equalFold(a, "BY"):
			i++
		case equalFold(a, "STORE") && i+1 < len(args):
			store = i + 1
			i++
		}
	}
	if store > 0 {
		dst = append(dst, KeyRef{store, keyOverwrite})
	}
	return dst
}

// migrateKeys: the key at 3, or the arguments after KEYS when that one is
// empty. The words after AUTH and AUTH2 are secrets, not options.
func migrateKeys(args [][]byte, dst []KeyRef) ([]KeyRef, bool) {
	if len(args) < 4 {
		return dst, false
	}
	for i := 6; i < len(args); i++ {
		switch a := args[i]; {
		case equalFold(a, "AUTH"):
			i++
		case equalFold(a, "AUTH2"):
			i += 2
		case equalFold(a, "KEYS"):
			if len(args[3]) > 0 {
				return dst, false // one key and KEYS together contradict each other
			}
			if i+1 == len(args) {
				return append(dst, KeyRef{3, keyTake}), true
			}
			for j := i + 1; j < len(args); j++ {
				dst = append(dst, KeyRef{j, keyTake})
			}
			return dst, true
		}
	}
	return append(dst, KeyRef{3, keyTake}), true
}
