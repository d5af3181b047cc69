# `make run` and `make test` are all that a newcomer needs.
GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS   := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: newer bench-ci run build test unit clients lint vet staticcheck cross bench bench-client faults deps

run: ## a whole cluster in one process, ready for any Redis client
	$(GO) run ./cmd/bowline dev

build: ## the binary, in bin/
	$(GO) build -trimpath -o bin/bowline ./cmd/bowline

test: deps lint unit clients bench-ci ## everything that must pass before a change lands

unit: ## all tests of this module
	BOWLINE_REQUIRE_REDIS=1 $(GO) test -race -shuffle=on -timeout 15m ./...

clients: ## other people's clients against the built binary
	cd e2e && $(GO) vet ./... && BOWLINE_REQUIRE_REDIS=1 $(GO) test -shuffle=on -timeout 10m ./...
	cd bench/client && $(GO) vet ./... && $(GO) test -shuffle=on -timeout 5m ./...

newer: deps ## compares with Redis 8.0 and Valkey 8.1; fetches them once, 26 MB
	scripts/newer-servers $(GO) test -race -shuffle=on -timeout 15m -run Newer ./internal/...

lint: vet staticcheck cross ## what needs no running

vet:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...

staticcheck:
	$(GO) run $(STATICCHECK) ./...

cross: ## compiles everywhere
	@for p in $(PLATFORMS); do \
		echo "build $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/bowline || exit 1; \
	done

bench: ## one report beside redis-server; ARGS=--short for the quick form that fails on targets, ARGS=-h for all flags
	$(GO) run ./bench $(ARGS)

bench-client: ## the Go client beside other Go clients; ARGS=--short for a quick form, ARGS=-h for all flags
	cd bench/client && $(GO) run . $(ARGS)

FUZZTIME ?= 60s

faults: deps ## the long forms, about two hours: a million random steps, eviction at full scale, kills and power cuts, FUZZTIME=60s of every fuzz target
	BOWLINE_REQUIRE_REDIS=1 $(GO) test ./internal/player -run 'Random|Transactions|Notifications|Sorts|Waiting|Famil' -steps 1000000 -timeout 60m
	BOWLINE_REQUIRE_REDIS=1 $(GO) test ./internal/player -run EvictionKeeps -v -evict.keys 1000000 -evict.accesses 10000000 -timeout 90m
	cd e2e && $(GO) test -run Killed -kill.rounds 150 -timeout 60m .
	$(GO) test ./internal/node -run EachCrash -crash.seeds 3000 -timeout 60m
	$(GO) test ./internal/wal -run Crash -wal.seeds 3000 -timeout 60m
	GO="$(GO)" scripts/fuzz-all $(FUZZTIME)

bench-ci: ## a short form of the bench; a shared machine proves little, so it fails only for gross regressions
	$(GO) run ./bench --short --tolerance 4

deps: ## what the tests need from Debian, when it is missing
	scripts/test-deps
