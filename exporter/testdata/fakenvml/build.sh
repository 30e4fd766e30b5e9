#!/bin/sh
# Builds the fake driver library: build.sh DIR [SYMBOL-TO-LEAVE-OUT...]
# Needs gcc and go (which tells where go-nvml's nvml.h lies).
set -eu
if [ $# -lt 1 ]; then
	echo "usage: $0 DIR [SYMBOL-TO-LEAVE-OUT...]" >&2
	exit 2
fi
out=$1
shift
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
header=$(cd "$here" && go list -m -f '{{.Dir}}' github.com/NVIDIA/go-nvml)/pkg/nvml
mkdir -p "$out"
{
	echo '{ global: nvml*; local:'
	for symbol in "$@"; do echo "  $symbol;"; done
	echo '  *; };'
} >"$out/exports.map"
# All under a temporary name first, so that nobody loads half a library.
${CC:-gcc} -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-deprecated-declarations -fPIC -shared -pthread \
	-I"$header" -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script="$out/exports.map" -Wl,-z,defs \
	-o "$out/libnvidia-ml.so.1.new" "$here"/*.c
mv "$out/libnvidia-ml.so.1.new" "$out/libnvidia-ml.so.1"
