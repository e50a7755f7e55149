#!/usr/bin/env bash
# sqlite-updates.sh - the program of the trace `sqlite-updates`: the sqlite3 shell under an update load of
# 60 transactions a second, first with a rollback journal, then with a write-ahead log.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
for mode in rollback wal; do
    python3 -E "$here/sqlite-updates.py" "$mode" 4000 60 1 | sqlite3 -batch "$WORK/$mode.db" | tail -n 1 >&2
done
