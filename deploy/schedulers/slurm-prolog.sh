#!/bin/sh
# Slurm prolog: tells Leasewatch which GPUs a job was given. Put it beside other prologs
# (Prolog=/etc/slurm/prolog.d/*) on each node; it runs as root before the job does.
#
# LEASEWATCH_URL         address of the server, https://leasewatch.example
# LEASEWATCH_TOKEN_FILE  a token of role scheduler, readable by root alone
# LEASEWATCH_LEASE       the lease; the job's account where it is not set
#
# Telling it again changes nothing. A job that cannot be told is not held up: the line goes to the
# system log, and the same command can be run again.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0 # a job without GPUs
. "$(dirname "$0")/leasewatch.sh"
uuids=$(nvidia-smi --query-gpu=uuid --format=csv,noheader --id="$SLURM_JOB_GPUS") || exit 0
for uuid in $uuids; do
	tell "\"session\":\"$session\",\"lease\":\"$lease\",\"uuid\":\"$uuid\",\"start\":\"$now\""
done
exit 0
