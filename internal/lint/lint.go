// Package lint holds the architecture in place: which package may import which,
// what pure packages may not touch, and which calls are kept out of internal/.
// It has only tests; run them with `go test ./internal/lint`.
package lint
