#!/usr/bin/env bash
# gcc-build.sh - the program of the trace `gcc-build`: Redis built by make and gcc from $WORK/redis, edited and built again
# in between, then cleaned and built anew.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
build() { make -s -C "$WORK/redis/src" "-j${JOBS:-2}" MALLOC=libc OPTIMIZATION=-O1 redis-server redis-cli \
    >/dev/null; }

# A line at the end of some files, as a programmer's afternoon would leave them; then make.
edit_and_build() {
    local file
    for file; do printf '\n/* edited */\n' >>"$WORK/redis/src/$file"; done
    build
}

for ((round = 1; round <= ${ROUNDS:-2}; round++)); do
    build
    edit_and_build t_string.c t_zset.c dict.c
    edit_and_build cluster.h
    edit_and_build networking.c db.c
    edit_and_build sds.c rax.c ae.c util.c
    edit_and_build listpack.h
    edit_and_build t_string.c networking.c
    make -s -C "$WORK/redis/src" clean
done
build
