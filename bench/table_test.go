package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlignMovesNumbersToTheRight(t *testing.T) {
	got := string(align([][]string{
		{"row", "cpu", "note"},
		{"GET/p1", "0.5", ""},
		{"a", "failed: a long text that moves no column"},
		{"x", "10.25", "µs"},
	}))
	want := "" +
		"row       cpu  note\n" +
		"GET/p1    0.5\n" +
		"a       failed: a long text that moves no column\n" +
		"x       10.25    µs\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestEveryTrafficRowFillsTheHeader(t *testing.T) {
	cells := trafficCells([]trafficResult{{
		Row: "GET/p1/16B", CPU: judge(spread{0.9, 0.8, 1}, &target{limit: 0.95}), JudgedBy: yardstickRaw,
		RelativeCPU: spread{Median: 1.1}, RawCPU: spread{Median: 0.9}, LoadCPU: spread{Median: 0.8},
	}})
	if len(cells[1]) != len(trafficHeader) {
		t.Errorf("%d cells under %d titles", len(cells[1]), len(trafficHeader))
	}
	if got := strings.Join(cells[1][:9], " "); got != "GET/p1/16B 1.10 0.90 0.80 raw 0.90 0.80-1.00 <=0.95 ok" {
		t.Errorf("the row begins with %q", got)
	}
}

func TestStateRowsShowWhatIsKnown(t *testing.T) {
	two, three := 2.0, 3.0
	cells := stateCells([]stateResult{
		newState("keys", "bytes/key", &two, &three, &target{limit: 2}),
		newState("gc", "us", nil, &two, nil),
		newState("used", "bytes/key", &two, nil, &target{limit: 2}),
		{Row: "idle", Failure: "no server"},
	})
	want := [][]string{
		stateHeader,
		{"keys", "bytes/key", "2.0", "3.0", "1.50", "<=2", "FAIL"},
		{"gc", "us", "-", "2.0", "-", "-", ""},
		{"used", "bytes/key", "2.0", "-", "-", "-", ""},
		{"idle", "failed: no server"},
	}
	if d := cmp.Diff(want, cells); d != "" {
		t.Error(d)
	}
}

func TestShortMeasuresSixRows(t *testing.T) {
	p := shortPlan()
	var names []string
	for _, r := range p.trafficRows() {
		names = append(names, r.name())
	}
	want := []string{"GET/p1/16B", "GET/p16/16B", "GET/p64/16B", "SET/p1/16B", "SET/p16/16B", "SET/p64/16B"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}

func TestRowsHaveNamesOfTheirOwn(t *testing.T) {
	p := fullPlan()
	seen := map[string]bool{}
	for _, r := range p.trafficRows() {
		if seen[r.name()] {
			t.Errorf("%s comes twice", r.name())
		}
		seen[r.name()] = true
	}
	if !seen["INCR/p64"] || !seen["MSET10/p16/100B"] || seen["INCR/p64/100B"] {
		t.Errorf("the rows are %v", seen)
	}
}

func TestOnlyTheShortFormFailsOnTargets(t *testing.T) {
	off := report{Traffic: []trafficResult{{Row: "GET/p1", CPU: judged{Verdict: verdictFail}}}}
	broken := report{State: []stateResult{{Row: "idle", Failure: "no server"}}}
	for _, c := range []struct {
		name  string
		short bool
		r     report
		fails bool
	}{
		{"short, far off", true, off, true},
		{"long, far off", false, off, false},
		{"short, nearly there", true, report{State: []stateResult{{Verdict: verdictOff}}}, false},
		{"long, not measured", false, broken, true},
	} {
		if got := outcomeOf(c.short, &c.r) != nil; got != c.fails {
			t.Errorf("%s: failing is %v", c.name, got)
		}
	}
}

func TestCountsHaveShortNames(t *testing.T) {
	for n, want := range map[int64]string{999: "999", 200_000: "200k", 1_000_000: "1M", 1_500_000: "1500k", 1_000_001: "1000001"} {
		if got := countName(n); got != want {
			t.Errorf("countName(%d) = %q, want %q", n, got, want)
		}
	}
}
