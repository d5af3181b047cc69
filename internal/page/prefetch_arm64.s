//go:build arm64

#include "textflag.h"

// func prefetch(a uintptr)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVD a+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET
