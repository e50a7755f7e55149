#!/usr/bin/env bash
# make-trees.sh - the program of the trace `make-trees`: `make -j` of several source trees at the same time, each edited and
# built again three times (BUILD_PAUSE seconds later), cleaned and built anew, ROUNDS times. TREES are those in $WORK:
# redis, lua, zlib, bzip2.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
flags="-O1 -g"
build() {
    case $1 in
        redis) make -s -C "$WORK/redis/src" "-j${JOBS:-3}" V=1 MALLOC=libc OPTIMIZATION=-O1 redis-server ;;
        lua) make -s -C "$WORK/lua/src" "-j${JOBS:-3}" MYCFLAGS="$flags" a lua luac ;;
        zlib) make -s -C "$WORK/zlib" "-j${JOBS:-3}" CFLAGS="$flags" libz.a minigzip example ;;
        bzip2) make -s -C "$WORK/bzip2" "-j${JOBS:-3}" CFLAGS="$flags" libbz2.a bzip2 bzip2recover ;;
    esac >/dev/null
}
folder() { case $1 in redis | lua) echo "$WORK/$1/src" ;; *) echo "$WORK/$1" ;; esac; }

# Every fifth source, others each time, gets a line at its end.
edit() {
    local place
    place=$(folder "$1")
    find "$place" -maxdepth 1 -name '*.c' | LC_ALL=C sort | awk "NR % 5 == $2" | while read -r file; do
        printf '\n/* edited */\n' >>"$file"
    done
}

work_on() {
    local round
    for ((round = 1; round <= ${ROUNDS:-2}; round++)); do
        build "$1"
        for part in ${PARTS:-1 2 3}; do
            sleep "${BUILD_PAUSE:-0}"
            edit "$1" "$part"
            build "$1"
        done
        [ "$round" = "${ROUNDS:-2}" ] || make -s -C "$(folder "$1")" clean >/dev/null
    done
}
jobs=()
for tree in ${TREES:-redis lua zlib bzip2}; do
    work_on "$tree" &
    jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
