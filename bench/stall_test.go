package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bowline-kv/bowline/internal/histogram"
	"github.com/bowline-kv/bowline/slot"
)

func TestTheNearMeterSharesAStripeAndTheFarOneDoesNot(t *testing.T) {
	big, near, far := slot.OfString(bigKey), slot.OfString(nearKey), slot.OfString(farKey)
	if big != near {
		t.Errorf("slots %d and %d, want one slot", big, near)
	}
	if far%stripes == big%stripes {
		t.Errorf("slots %d and %d are of one stripe", far, big)
	}
}

func TestTheCalmestRoundIsKept(t *testing.T) {
	rounds := []stallRound{
		{Idle: 300, P50: 30, P999: 900, Max: 5000},
		{Idle: 2000, P50: 25, P999: 400, Max: 700},
		{Idle: 200, P50: 20, P999: 800, Max: 9000},
	}
	want := stallSide{Idle: 200, P50: 25, P999: 400, Max: 700, Worst: 9000, All: rounds}
	if d := cmp.Diff(want, newStallSide(rounds)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(stallSide{}, newStallSide(nil)); d != "" {
		t.Error(d)
	}
}

func TestANoisyMachineProvesNothing(t *testing.T) {
	limit := &target{limit: 1000}
	for _, c := range []struct {
		idle, max float64
		want      verdict
	}{
		{100, 1000, verdictMet},
		{3000, 900, verdictMet}, // nothing was seen, in spite of the noise
		{100, 1200, verdictOff},
		{100, 5000, verdictFail},
		{1001, 5000, verdictNoise},
		{1001, 1200, verdictNoise},
	} {
		if got := judgeStall(limit, c.max, c.idle); got != c.want {
			t.Errorf("idle %v, max %v: %q, want %q", c.idle, c.max, got, c.want)
		}
	}
	r := report{Stalls: []stallResult{
		newStall("calm", []stallRound{{Idle: 500}}, []stallRound{{Idle: 500}}),
		newStall("noise beside one", []stallRound{{Idle: 1500}}, []stallRound{{Idle: 500}}),
		{Row: "none", Failure: "no server"},
	}}
	if got := r.noisyStalls(); got != 1 {
		t.Errorf("%d rows are noisy, want 1", got)
	}
}

func TestARoundIsInMicroseconds(t *testing.T) {
	var h histogram.Histogram
	for range 999 {
		h.Add(20 * time.Microsecond)
	}
	h.Add(3 * time.Millisecond)
	got := newStallRound(meterResult{MaxNanos: 150_000}, meterResult{Latency: h, MaxNanos: 3_000_000, MaxAtNanos: 7_000_000})
	want := stallRound{Idle: 150, P50: 20.095, P999: 20.095, Max: 3000, MaxAt: 7000, GETs: 1000}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestStallAndHitRowsFillTheirHeaders(t *testing.T) {
	round := []stallRound{{Idle: 100, P50: 20, P999: 50, Max: 400}}
	stalls := stallCells([]stallResult{newStall("stall/x/near", round, round), {Row: "y", Failure: "no server"}})
	hits := hitCells([]hitResult{newHits("evict/1M/allkeys-lru", 80, 78.5), newHits("evict/1M/allkeys-lfu", 80, 79.5), {Row: "y", Failure: "no server"}})
	want := [][]string{
		stallHeader,
		{"stall/x/near", "100", "100", "20", "20", "50", "50", "400", "400", "400", "400", "<=1000", "ok"},
		{"y", "failed: no server"},
	}
	if d := cmp.Diff(want, stalls); d != "" {
		t.Error(d)
	}
	want = [][]string{
		hitHeader,
		{"evict/1M/allkeys-lru", "80.00", "78.50", "-1.50", ">=-1", "FAIL"},
		{"evict/1M/allkeys-lfu", "80.00", "79.50", "-0.50", ">=-1", "ok"},
		{"y", "failed: no server"},
	}
	if d := cmp.Diff(want, hits); d != "" {
		t.Error(d)
	}
}

func TestTheShortFormLeavesOutWhatTakesLong(t *testing.T) {
	p := shortPlan()
	if p.stallKeys != 0 || p.expiryKeys != 0 || p.evictKeys != 0 {
		t.Errorf("the short plan is %+v", p)
	}
	if short, full := defaultPlan(), fullPlan(); short.evictKeys*10 != full.evictKeys || short.evictAccesses*10 != full.evictAccesses {
		t.Error("the usual scale of eviction is not a tenth of the full one")
	}
}
