#!/usr/bin/env bash
# sqlite-content.sh - the program of the trace `sqlite-content`: the load of `sqlite-updates` on a tenth of the rows, with
# 300 transactions in each mode, as fast as they go under strace. The databases lie among the temporary files, where the
# recorder looks before it starts: so it knows that they are new.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(dirname "$0")
for mode in rollback wal; do
    python3 -E "$here/sqlite-updates.py" "$mode" 300 1000 1 10 | sqlite3 -batch "$TMPDIR/$mode.db" | tail -n 1 >&2
done
