package resp

// AppendCommand appends a request of these arguments, the command's name first, to dst
// and returns the extended slice. The arguments are copied and may hold any bytes.
func AppendCommand(dst []byte, args ...[]byte) []byte {
	dst = appendHeader(dst, '*', len(args))
	for _, a := range args {
		dst = appendHeader(dst, '$', len(a))
		dst = append(dst, a...)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

// AppendCommandStrings is [AppendCommand] for arguments that are strings.
func AppendCommandStrings(dst []byte, args ...string) []byte {
	dst = appendHeader(dst, '*', len(args))
	for _, a := range args {
		dst = appendHeader(dst, '$', len(a))
		dst = append(dst, a...)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

// appendHeader appends a type byte, a count and a line end.
func appendHeader(dst []byte, kind byte, n int) []byte {
	if uint(n) < 10 {
		return append(dst, kind, byte('0'+n), '\r', '\n')
	}
	dst = AppendInt(append(dst, kind), int64(n))
	return append(dst, '\r', '\n')
}
