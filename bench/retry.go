package main

import (
	"fmt"
	"strings"
)

// outcome is what one measurement of a row gave.
type outcome interface {
	// failing says that a target is missed by more than the tolerance.
	failing() bool
	// worst is the largest miss of a target, see [target.miss].
	worst() float64
}

// stateResults are the rows of one [stateJob].
type stateResults []stateResult

func (r trafficResult) failing() bool {
	return r.CPU.Verdict == verdictFail || r.Throughput.Verdict == verdictFail
}

func (r trafficResult) worst() float64 { return max(r.CPU.miss, r.Throughput.miss) }

func (rs stateResults) failing() bool {
	for i := range rs {
		if rs[i].Verdict == verdictFail {
			return true
		}
	}
	return false
}

func (rs stateResults) worst() float64 {
	worst := 0.0
	for i := range rs {
		worst = max(worst, rs[i].miss)
	}
	return worst
}

// best measures until a result does not fail, but at most again more times, and
// gives the one that misses its targets least, with the misses of all. A row that
// can't be measured at all is not tried again: that is a mistake of a server, not
// of the machine.
func best[T outcome](again int, measure func() (T, error)) (kept T, misses []float64, err error) {
	kept, err = measure()
	if err != nil {
		return kept, nil, err
	}
	misses = append(misses, kept.worst())
	last := kept
	for ; again > 0 && last.failing(); again-- {
		if last, err = measure(); err != nil {
			return kept, misses, err
		}
		misses = append(misses, last.worst())
		if last.worst() < kept.worst() {
			kept = last
		}
	}
	return kept, misses, nil
}

// retryNote tells of the measurements of a row, by their misses.
func retryNote(row string, misses []float64) string {
	texts := make([]string, len(misses))
	for i, m := range misses {
		texts[i] = ratio(m)
	}
	return fmt.Sprintf("%s was off by more than a quarter and was measured again; %s times its target, the best counts",
		row, strings.Join(texts, ", "))
}
