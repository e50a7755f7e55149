#!/usr/bin/env bash
# sqlite-queries.sh - what the trace `sqlite-queries` records: questions about sales, asked of a database that is there.
# It was made beforehand (record_library.sh), so that hardly anything is written.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf goes first, so that it loses nothing
here=$(dirname "$0")
python3 -E "$here/sqlite-queries.py" ask 250000 60 1 1 | sqlite3 -batch "$WORK/sqlite-queries.db" >/dev/null
