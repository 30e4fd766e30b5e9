# Leasewatch. `make demo` shows the main job; `make test` passes the tests.
SHELL := bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
# The driver library is opened at run time and lacks some symbols on old drivers: binding must stay lazy.
CGO_LDFLAGS_LAZY := -Wl,-z,lazy

.PHONY: all build demo test bench plugin generate lint clean

all: build

build: bin/leasewatch bin/leasewatch-exporter plugin ## static server, exporter, plugin

.PHONY: bin/leasewatch bin/leasewatch-exporter
bin/leasewatch:
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o $@ ./cmd/leasewatch

bin/leasewatch-exporter:
	CGO_ENABLED=1 CGO_LDFLAGS="$(CGO_LDFLAGS_LAZY)" CGO_CFLAGS="-O2 -Wno-deprecated-declarations" \
		go build -trimpath -ldflags "$(LDFLAGS)" -o $@ ./cmd/leasewatch-exporter

demo: bin/leasewatch ## two providers, five leases, faults on a script; Ctrl-C ends it
	bin/leasewatch demo $(DEMO_FLAGS)

test: ## all tests; TEST_DEPS=install installs Debian's servers and browser first
	tools/test.sh

bench: ## figures, as ratios in one run
	tools/bench.sh

plugin: ## the Grafana plugin's dist/
	tools/plugin.sh

generate: ## METRICS.md, dashboards/json, API reference
	go generate ./...

lint:
	tools/lint.sh

clean:
	rm -rf bin dist plugin/dist
