//go:build amd64

#include "textflag.h"

// func prefetch(a uintptr)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), AX
	PREFETCHT0 (AX)
	RET
