#!/usr/bin/env bash
# Installs what the tests use beyond Go, gcc, make, Node and npm: servers that they start
# on loopback by themselves, a browser, and a font with Chinese glyphs for its screenshots.
set -euo pipefail

packages=(chromium fonts-noto-cjk postgresql prometheus prometheus-alertmanager victoria-metrics binutils util-linux iproute2)
missing=()
for package in "${packages[@]}"; do
	dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
	echo "all there: ${packages[*]}"
	exit 0
fi
# The packages' own services must not start: the tests start their own on loopback.
policy=/usr/sbin/policy-rc.d
if [[ ! -e "$policy" ]]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
	trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
