#!/usr/bin/env bash
# text-search.sh - what the trace `text-search` records: searches in a full-text index that is there. It was made
# beforehand (record_library.sh), so that hardly anything is written.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf goes first, so that it loses nothing
here=$(dirname "$0")
python3 -E "$here/text-search.py" ask 40000 3000 30 1 | sqlite3 -batch "$WORK/text-search.db" >/dev/null
