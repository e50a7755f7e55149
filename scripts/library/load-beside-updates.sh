#!/usr/bin/env bash
# load-beside-updates.sh [prepare] - the program of the trace `load-beside-updates`: one sqlite3 shell updates rows of a
# shop in place while another one loads rows into a file of its own, which writes each page of it about once.
# `prepare` makes the shop; that is not recorded.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
items=${ITEMS:-48000}
if [ "${1:-}" = prepare ]; then
    python3 -E "$here/load-beside-updates.py" shop "$items" | sqlite3 -batch "$WORK/shop.db" >/dev/null
    exit
fi
python3 -E "$here/load-beside-updates.py" updates "$items" "${TRANSACTIONS:-2400}" "${RATE:-40}" 1 |
    sqlite3 -batch "$WORK/shop.db" >/dev/null &
updates=$!
python3 -E "$here/load-beside-updates.py" load "${ROWS:-45000}" "${ROWS_A_SECOND:-750}" |
    sqlite3 -batch "$WORK/archive.db" >/dev/null
wait "$updates"
