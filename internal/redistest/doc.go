// Package redistest runs Debian's redis-server beside a test and talks to any
// RESP server with a codec of its own.
//
// It is the oracle of the differential tests: [Start] gives a private server
// that ends with the test, [Newer.Start] a newer one, [Dial] a connection to any
// address. The codec here is written as plainly as possible and shares no line
// with package resp, so that a mistake there is not hidden by the same mistake
// here. Only tests import it.
//
// Where the redis-server binary is missing a test is skipped, unless
// BOWLINE_REQUIRE_REDIS is set, as `make test` does: then it fails.
package redistest
