#!/bin/sh
# Builds the pinned development tools into bin/tools (or $LEASEWATCH_TOOLS_DIR), where the
# tests and the Makefile find them. With names, builds those only: tools/build.sh promtool amtool
set -eu
cd "$(dirname "$0")"
out=${LEASEWATCH_TOOLS_DIR:-$(pwd)/../bin/tools}
mkdir -p "$out"

# build NAME PACKAGE [MODULE-DIR]: one tool; go's cache makes a second build of the same pin cheap.
build() {
    (cd "${3:-.}" && CGO_ENABLED=0 go build -trimpath -o "$out/$1" "$2")
    echo "$out/$1"
}

[ $# -gt 0 ] || set -- promtool amtool
for tool in "$@"; do
    case $tool in
    promtool) build promtool github.com/prometheus/prometheus/cmd/promtool ;;
    amtool) build amtool github.com/prometheus/alertmanager/cmd/amtool ;;
    *)
        echo "tools/build.sh: unknown tool $tool, expected promtool or amtool" >&2
        exit 2
        ;;
    esac
done
