#!/usr/bin/env bash
# cscope-rounds.sh - what the trace `cscope-rounds` records: the rounds of cscope.sh over fewer folders, so that the same
# few pages are written again and again.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
export FOLDERS=${FOLDERS:-ipc kernel/sched} GROUPS_EDITED=${GROUPS_EDITED:-3} ROUNDS=${ROUNDS:-24} PAUSE=${PAUSE:-1}
exec "$(dirname "$0")/cscope.sh"
