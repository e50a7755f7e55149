#!/usr/bin/env bash
# three-at-once.sh - the program of the trace `three-at-once`: the build of Redis, cscope over Linux and the renderings at
# the same time.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
ROUNDS=1 "$here/gcc-build.sh" &
build=$!
"$here/rendering.sh" &
rendering=$!
ROUNDS=12 PAUSE=8 "$here/cscope.sh"
wait "$build"
wait "$rendering"
