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
# The objects are the same whatever is left out: OBJECTS names a folder to keep them in.
objects=${OBJECTS:-$out}
if [ ! -e "$objects/fake.o" ]; then
	mkdir -p "$objects"
	new=$(mktemp "$objects/fake.XXXXXX")
	${CC:-gcc} -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wno-deprecated-declarations -fPIC -pthread \
		-I"$header" -r -o "$new" "$here"/*.c
	mv "$new" "$objects/fake.o"
fi
# Under a temporary name first, so that nobody loads half a library.
${CC:-gcc} -shared -pthread -Wl,-soname,libnvidia-ml.so.1 -Wl,--version-script="$out/exports.map" -Wl,-z,defs \
	-o "$out/libnvidia-ml.so.1.new" "$objects/fake.o"
mv "$out/libnvidia-ml.so.1.new" "$out/libnvidia-ml.so.1"
