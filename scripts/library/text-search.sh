#!/usr/bin/env bash
# text-search.sh - the program of the trace `text-search`: searches in an existing full-text index. It was made
# beforehand (record_library.sh), and hardly anything is written.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
python3 -E "$here/text-search.py" ask 40000 3000 30 1 | sqlite3 -batch "$WORK/text-search.db" >/dev/null
