#!/bin/sh
# Builds the pinned development tools into bin/tools (or $LEASEWATCH_TOOLS_DIR), where the
# tests and the Makefile find them. With names, builds those only: tools/build.sh promtool amtool
set -eu
cd "$(dirname "$0")"
out=${LEASEWATCH_TOOLS_DIR:-$(pwd)/../bin/tools}
mkdir -p "$out"

# build NAME PACKAGE: one tool. The flags are those of the server's own build, so that the
# packages both use are compiled once; go's cache makes a second build of the same pin cheap.
build() {
    CGO_ENABLED=0 go build -trimpath -o "$out/$1" "$2"
    echo "$out/$1"
}

[ $# -gt 0 ] || set -- promtool amtool vmalert vmalert-tool
for tool in "$@"; do
    case $tool in
    promtool) build promtool github.com/prometheus/prometheus/cmd/promtool ;;
    amtool) build amtool github.com/prometheus/alertmanager/cmd/amtool ;;
    vmalert) build vmalert github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert ;;
    vmalert-tool) build vmalert-tool github.com/VictoriaMetrics/VictoriaMetrics/app/vmalert-tool ;;
    golangci-lint) build golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
    *)
        echo "tools/build.sh: unknown tool $tool, expected promtool, amtool, vmalert, vmalert-tool or golangci-lint" >&2
        exit 2
        ;;
    esac
done
