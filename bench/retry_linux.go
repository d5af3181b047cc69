package main

// retried is best with a note when it took more than one measurement.
func retried[T outcome](b *bench, row string, measure func() (T, error)) (T, error) {
	kept, misses, err := best(b.plan.again, measure)
	if len(misses) > 1 {
		b.note("%s", retryNote(row, misses))
	}
	return kept, err
}
