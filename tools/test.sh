#!/usr/bin/env bash
# Runs every test of the repository.
#   TEST_DEPS=install        installs what the tests use of Debian's packages first (as root)
#   LEASEWATCH_FORBID_SKIPS=1  a test that would skip fails instead
# Without TEST_DEPS nothing is installed system-wide: what is not there is skipped, with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

if [[ "${TEST_DEPS:-}" == install ]]; then
	step "install what the tests use"
	tools/testdeps.sh
fi

step "format and vet"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
if [[ -n "$unformatted" ]]; then
	echo "not gofmt'ed (run gofmt -w):"
	echo "$unformatted"
	exit 1
fi
export CGO_CFLAGS="-O2 -Wno-deprecated-declarations"
go vet -race ./... # with -race, so that what it compiles is what the tests link

step "development tools"
tools/build.sh

step "plugin: types, lint, unit tests, bundles"
tools/plugin.sh test

step "programs"
make -s bin/leasewatch bin/leasewatch-exporter

step "generated files are current"
tools/generated.sh

# The command line's scripts start a server each. What that does is raced in internal/e2e and
# internal/server, from which the scripts would take the time.
scripts=./cmd/leasewatch
step "go test -race"
go list ./... | grep -v '/cmd/leasewatch$' | xargs go test -race -timeout 20m

step "go test $scripts"
go test -timeout 20m "$scripts"

step "done"
