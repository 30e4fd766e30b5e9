# What the prolog and the epilog share. A job that is queued again is another session.
session="$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}"
lease="${LEASEWATCH_LEASE:-$SLURM_JOB_ACCOUNT}"
cluster="${SLURM_CLUSTER_NAME:-slurm}"
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)

tell() {
	curl --silent --show-error --fail-with-body --max-time 10 --retry 5 --retry-connrefused \
		--header "Authorization: Bearer $(cat "$LEASEWATCH_TOKEN_FILE")" --header "Content-Type: application/json" \
		--data "{\"sessions\":[{\"scheduler\":\"slurm\",\"cluster\":\"$cluster\",$1}]}" \
		"$LEASEWATCH_URL/api/v1/assignments" >/dev/null || logger -t leasewatch "not told: {$1}"
}
