package main

import (
	"math"
	"testing"
)

func TestJudgeAllowsAQuarter(t *testing.T) {
	atMost, atLeast := &target{limit: 0.8}, &target{limit: 2, atLeast: true}
	for _, c := range []struct {
		target *target
		value  float64
		want   verdict
	}{
		{nil, 99, verdictNone},
		{atMost, 0.8, verdictMet},
		{atMost, 0.81, verdictOff},
		{atMost, 1, verdictOff},
		{atMost, 1.01, verdictFail},
		{atMost, math.NaN(), verdictFail},
		{atLeast, 2, verdictMet},
		{atLeast, 1.5, verdictOff},
		{atLeast, 1.49, verdictFail},
		{atLeast, math.NaN(), verdictFail},
	} {
		if got := c.target.judge(c.value); got != c.want {
			t.Errorf("judge(%v) against %+v = %q, want %q", c.value, c.target, got, c.want)
		}
	}
}

func TestEveryTrafficRowHasATargetForCPU(t *testing.T) {
	p := defaultPlan()
	for _, row := range p.trafficRows() {
		if findTarget(measureCPU, row.workload.name, row.pipeline, row.valueBytes) == nil {
			t.Errorf("%s has no target", row.name())
		}
	}
}

func TestTargetsAreFoundByTheirRow(t *testing.T) {
	for _, c := range []struct {
		measure              measure
		command              string
		pipeline, valueBytes int
		want                 float64 // 0: none
	}{
		{measureCPU, "GET", 1, 16, 0.95},
		{measureCPU, "INCR", 64, 0, 0.5},
		{measureCPU, "MSET10", 16, 100, 0.8},
		{measureCPU, "GETDEL", 16, 16, 0},
		{measureThroughput, "SADD", 1, 0, 0},
		{measureThroughput, "SADD", 64, 0, 2},
		{measureKeyBytes, "", 0, 16, 60},
		{measureKeyBytes, "", 0, 100, 140},
		{measureKeyBytes, "", 0, 50, 0},
		{measureConnBytes, "", 0, 0, 1024},
		{"", "", 0, 0, 0},
	} {
		got := findTarget(c.measure, c.command, c.pipeline, c.valueBytes)
		if got == nil && c.want != 0 || got != nil && got.limit != c.want {
			t.Errorf("target of %+v is %+v", c, got)
		}
	}
}
