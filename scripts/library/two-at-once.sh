#!/usr/bin/env bash
# two-at-once.sh - the program of the trace `two-at-once`: the build of Redis and cscope over Linux at the same time.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
ROUNDS=1 "$here/gcc-build.sh" &
build=$!
ROUNDS=12 PAUSE=8 "$here/cscope.sh"
wait "$build"
