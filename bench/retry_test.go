package main

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// attempts gives measurements with these CPU ratios, against a target of 1.
func attempts(ratios ...float64) func() (trafficResult, error) {
	return func() (trafficResult, error) {
		if len(ratios) == 0 {
			return trafficResult{}, errors.New("no server")
		}
		r := trafficResult{CPU: judge(spread{Median: ratios[0]}, &target{limit: 1})}
		ratios = ratios[1:]
		return r, nil
	}
}

func TestARowThatFailsIsMeasuredUpToThreeTimes(t *testing.T) {
	for _, c := range []struct {
		ratios     []float64
		wantKept   float64
		wantMisses []float64
	}{
		{[]float64{1}, 1, []float64{1}},
		{[]float64{1.2}, 1.2, []float64{1.2}}, // off, but within the tolerance
		{[]float64{1.5, 0.9}, 0.9, []float64{1.5, 0.9}},
		{[]float64{1.5, 1.4, 1.1}, 1.1, []float64{1.5, 1.4, 1.1}},
		{[]float64{1.5, 1.3, 1.9}, 1.3, []float64{1.5, 1.3, 1.9}},
	} {
		kept, misses, err := best(2, attempts(c.ratios...))
		if err != nil || kept.CPU.Median != c.wantKept || !slices.Equal(misses, c.wantMisses) {
			t.Errorf("%v: kept %v of %v, %v", c.ratios, kept.CPU.Median, misses, err)
		}
	}
}

func TestRowsAreNotMeasuredAgainUnlessThePlanSaysSo(t *testing.T) {
	kept, misses, err := best(0, attempts(9))
	if err != nil || kept.CPU.Median != 9 || len(misses) != 1 {
		t.Errorf("kept %v of %v, %v", kept.CPU.Median, misses, err)
	}
	if shortPlan().again != 2 || defaultPlan().again != 0 || fullPlan().again != 0 {
		t.Error("the short form alone measures again")
	}
}

func TestARowThatCannotBeMeasuredFailsAtOnce(t *testing.T) {
	if _, misses, err := best(2, attempts()); err == nil || len(misses) != 0 {
		t.Errorf("misses %v, %v", misses, err)
	}
	if _, _, err := best(2, attempts(2)); err == nil {
		t.Error("the second attempt's failure is gone")
	}
}

func TestTheWorstTargetOfARowCounts(t *testing.T) {
	r := trafficResult{
		CPU:        judge(spread{Median: 0.5}, &target{limit: 1}),
		Throughput: judge(spread{Median: 1}, &target{limit: 2, atLeast: true}),
	}
	if got := r.worst(); got != 2 || !r.failing() {
		t.Errorf("worst miss %v, failing %v", got, r.failing())
	}
	small, big := 1.0, 3.0
	limit := &target{limit: 2}
	rs := stateResults{newState("a", "", nil, &small, limit), newState("b", "", nil, &big, limit), newState("c", "", nil, &big, nil)}
	if got := rs.worst(); got != 1.5 || !rs.failing() {
		t.Errorf("worst miss %v, failing %v", got, rs.failing())
	}
}

func TestMissGrowsWithTheDistance(t *testing.T) {
	atMost, atLeast := &target{limit: 2}, &target{limit: 2, atLeast: true}
	for _, c := range []struct {
		target      *target
		value, want float64
	}{
		{nil, 7, 0},
		{atMost, 2, 1},
		{atMost, 3, 1.5},
		{atMost, math.NaN(), math.Inf(1)},
		{atLeast, 2, 1},
		{atLeast, 1, 2},
		{atLeast, 0, math.Inf(1)},
		{atLeast, math.NaN(), math.Inf(1)},
	} {
		if got := c.target.miss(c.value); got != c.want {
			t.Errorf("miss(%v) against %+v = %v, want %v", c.value, c.target, got, c.want)
		}
	}
}
