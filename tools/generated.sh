#!/usr/bin/env bash
# Generates everything that is generated into a copy and compares: what is committed must be current.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
before=$(git status --porcelain)
go generate ./...
after=$(git status --porcelain)
if [[ "$before" != "$after" ]]; then
	echo "generated files are not current: run make generate and commit"
	diff <(echo "$before") <(echo "$after") || true
	exit 1
fi
