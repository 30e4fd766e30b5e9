#!/usr/bin/env bash
# Builds the Grafana plugin into plugin/dist: bundles, backend for linux amd64 and arm64.
#   tools/plugin.sh         build
#   tools/plugin.sh test    types, lint, unit tests and the browser test's page too
#   tools/plugin.sh zip     build, and make bin/leasewatch-gpu-app-VERSION.zip
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../plugin"

lock_hash=$(sha256sum package-lock.json | cut -d' ' -f1)
if [[ "$(cat node_modules/.leasewatch-lock 2>/dev/null)" != "$lock_hash" ]]; then
	npm ci --no-audit --no-fund --loglevel=error
	echo "$lock_hash" >node_modules/.leasewatch-lock
fi

if [[ "${1:-}" == test ]]; then
	npm run --silent typecheck
	npm run --silent lint
	npm run --silent test
fi

rm -rf dist
npm run --silent build
if [[ "${1:-}" == test ]]; then
	npm run --silent harness >/dev/null # the page that plugin/harness opens in Chromium
fi
for arch in amd64 arm64; do
	if [[ "${1:-}" == test && "$arch" != "$(go env GOARCH)" ]]; then
		continue # the tests run on this machine only
	fi
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags "-s -w" -o "dist/datasource/gpx_leasewatch_linux_$arch" ./pkg
done

if [[ "${1:-}" == zip ]]; then
	name=leasewatch-gpu-app
	plugin_version=$(node -p 'require("./package.json").version')
	mkdir -p ../bin
	staging=$(mktemp -d)
	trap 'rm -rf "$staging"' EXIT
	cp -r dist "$staging/$name"
	python3 - "$staging" "../bin/$name-$plugin_version.zip" <<'PY'
import os, sys, zipfile
root, target = sys.argv[1:]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
    for folder, _, files in sorted(os.walk(root)):
        for f in sorted(files):
            path = os.path.join(folder, f)
            info = zipfile.ZipInfo.from_file(path, os.path.relpath(path, root))
            with open(path, "rb") as body:
                z.writestr(info, body.read(), zipfile.ZIP_DEFLATED)
PY
	echo "bin/$name-$plugin_version.zip"
fi
