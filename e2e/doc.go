// Package e2e runs the built binary as its users do: as processes, with other
// people's clients, over loopback. It holds only tests and is a module of its
// own, so that the clients are no dependency of Bowline.
//
// Start with dev_test.go. The tests need redis-cli, redis-benchmark and Debian's
// python3-redis; where one is missing its tests are skipped, unless
// BOWLINE_REQUIRE_REDIS is set, as `make test` does.
package e2e
