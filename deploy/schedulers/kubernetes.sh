#!/bin/sh
# Tells Leasewatch which GPUs the pods of a lease have. Runs anywhere that kubectl does, one for a
# cluster. A pod belongs to the lease that its label leasewatch.dev/lease names.
#
# LEASEWATCH_URL         address of the server, https://leasewatch.example
# LEASEWATCH_TOKEN_FILE  a token of role scheduler
# LEASEWATCH_CLUSTER     the cluster's name
#
# Started again it tells everything that runs again, which changes nothing. The end of a pod that
# was deleted while it was away is not told: end it with leasewatch lease unassign. A pod that ends
# and stays (Succeeded, Failed) is told at the next start.
set -u

tell() {
	curl --silent --show-error --fail-with-body --max-time 10 --retry 5 --retry-connrefused \
		--header "Authorization: Bearer $(cat "$LEASEWATCH_TOKEN_FILE")" --header "Content-Type: application/json" \
		--data "{\"sessions\":[{\"scheduler\":\"kubernetes\",\"cluster\":\"$LEASEWATCH_CLUSTER\",$1}]}" \
		"$LEASEWATCH_URL/api/v1/assignments" >/dev/null || echo "not told: {$1}" >&2
}

kubectl get pods --all-namespaces --selector=leasewatch.dev/lease --watch --output-watch-events \
	--output=jsonpath='{.type}{" "}{.object.status.phase}{" "}{.object.metadata.uid}{" "}{.object.metadata.labels.leasewatch\.dev/lease}{" "}{.object.metadata.namespace}{" "}{.object.metadata.name}{" "}{.object.status.startTime}{"\n"}' |
	while read -r event phase uid lease namespace name started; do
		case "$event $phase" in
		DELETED* | *Succeeded | *Failed)
			tell "\"session\":\"$uid\",\"lease\":\"$lease\",\"end\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
			;;
		*Running)
			for uuid in $(kubectl exec --namespace="$namespace" "$name" -- nvidia-smi --query-gpu=uuid --format=csv,noheader </dev/null); do
				tell "\"session\":\"$uid\",\"lease\":\"$lease\",\"uuid\":\"$uuid\",\"start\":\"$started\""
			done
			;;
		esac
	done
