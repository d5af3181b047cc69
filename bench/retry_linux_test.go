package main

import "testing"

func TestRetriesAreInTheNotes(t *testing.T) {
	b := &bench{plan: plan{again: 2}}
	if _, err := retried(b, "GET/p1", attempts(1)); err != nil || len(b.report.Notes) != 0 {
		t.Errorf("notes %q, %v", b.report.Notes, err)
	}
	if _, err := retried(b, "GET/p1", attempts(1.5, 1)); err != nil {
		t.Fatal(err)
	}
	want := "GET/p1 was off by more than a quarter and was measured again; 1.50, 1.00 times its target, the best counts"
	if len(b.report.Notes) != 1 || b.report.Notes[0] != want {
		t.Errorf("notes %q, want %q", b.report.Notes, want)
	}
}
