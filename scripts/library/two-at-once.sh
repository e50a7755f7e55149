#!/usr/bin/env bash
# two-at-once.sh - what the trace `two-at-once` records: the build of Redis and cscope over Linux at the same time.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf goes first, so that it loses nothing
here=$(dirname "$0")
ROUNDS=1 "$here/gcc-build.sh" &
build=$!
ROUNDS=12 PAUSE=8 "$here/cscope.sh"
wait "$build"
