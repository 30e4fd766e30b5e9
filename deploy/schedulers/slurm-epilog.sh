#!/bin/sh
# Slurm epilog: tells Leasewatch that a job gave all its GPUs back. See slurm-prolog.sh.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
. "$(dirname "$0")/leasewatch.sh"
tell "\"session\":\"$session\",\"lease\":\"$lease\",\"end\":\"$now\""
exit 0
