#!/usr/bin/env bash
# cscope-rounds.sh - the program of the trace `cscope-rounds`: the rounds of cscope.sh over fewer folders, which rewrite
# the same few pages.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
export FOLDERS=${FOLDERS:-ipc kernel/sched} GROUPS_EDITED=${GROUPS_EDITED:-3} ROUNDS=${ROUNDS:-24} PAUSE=${PAUSE:-1}
exec "$(dirname "$0")/cscope.sh"
