#!/usr/bin/env bash
# sqlite-queries.sh - the program of the trace `sqlite-queries`: queries of an existing database of sales. It was made
# beforehand (record_library.sh), and hardly anything is written.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
python3 -E "$here/sqlite-queries.py" ask 250000 60 1 1 | sqlite3 -batch "$WORK/sqlite-queries.db" >/dev/null
