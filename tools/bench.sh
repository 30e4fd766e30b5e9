#!/usr/bin/env bash
# Prints the figures of DESIGN: exporter CPU a scrape and RSS, fault to Slack, bill and SLA of
# a large fleet. Figures are ratios or absolutes of one run on this machine; they are no tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_CFLAGS="-O2 -Wno-deprecated-declarations"
echo "== exporter: CPU a scrape, RSS"
go test -run '^$' -bench 'Scrape$|Page$|Wake$' -benchtime 300x ./exporter
go test -run '^$' -bench Hangs -benchtime 1000x ./exporter
go test -run '^$' -bench . -benchtime 300x $(go list ./exporter/... | tail -n +2)
echo "== exporter: ${SOAK:=100000} scrapes"
go test -run '^$' -bench Soak -benchtime "${SOAK}x" -timeout 1h ./exporter
if [ -n "${SOAK_HOUR:-}" ]; then
	echo "== exporter: an hour of a scrape each 15 s"
	go test -run '^$' -bench Hour -benchtime 240x -timeout 2h ./exporter
fi
echo "== metering, bill, SLA"
go test -run '^$' -bench . -benchtime 1x ./internal/metering ./internal/billing ./internal/sla ./internal/ledger
echo "== bill and use of 1,000 leases on 8,000 GPUs for a month, against PromQL over raw samples"
go test -run '^$' -bench BillAndUse -benchtime 1x ./internal/server
echo "== burn series of 10,000 leases, SLA of 1,000 leases for a month, of one for a year"
go test -run '^$' -bench 'BurnSeries|SLAOf' -benchtime 3x -timeout 30m ./internal/server
echo "== fault in the driver to the request at Slack"
go test -run '^$' -bench FaultToSlack -benchtime 5x ./internal/e2e
