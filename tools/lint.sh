#!/usr/bin/env bash
# Runs golangci-lint, pinned in tools/go.mod, over the product.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p bin/tools
(cd tools && go build -o ../bin/tools/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
CGO_CFLAGS="-O2 -Wno-deprecated-declarations" bin/tools/golangci-lint run "$@" ./...
