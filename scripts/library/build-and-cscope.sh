#!/usr/bin/env bash
# build-and-cscope.sh - the program of the trace `build-and-cscope`: rounds of cscope and builds of Lua and zlib at the same
# time through one small cache, as the dissertation's multi1.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
TREES="lua zlib" ROUNDS=1 BUILD_PAUSE=${BUILD_PAUSE:-5} JOBS=1 "$here/make-trees.sh" &
build=$!
ROUNDS=${ROUNDS:-17} "$here/cscope-rounds.sh"
wait "$build"
