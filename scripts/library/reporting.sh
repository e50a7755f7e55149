#!/usr/bin/env bash
# reporting.sh [prepare] - the program of the trace `reporting`: PostgreSQL with the sales tables of decision-support.py and
# the aggregates of reporting.sql, which reports read; new orders come in, and the aggregates are refreshed, some in place,
# some anew, ROUNDS times. `prepare` makes and loads the database, which is not recorded.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(cd "$(dirname "$0")" && pwd)
export PG_BUFFERS=${PG_BUFFERS:-1MB} PG_WORK_MEM=${PG_WORK_MEM:-256kB}
export PG_WAL_SEGMENT_MB=1 PG_WAL_MIN=2MB PG_WAL_MAX=2MB PG_FULL_PAGES=off
# shellcheck disable=SC1091,SC2154
# shellcheck source=postgres.sh
. "$here/postgres.sh"
orders=${ORDERS:-4000} fresh=${FRESH:-60} pause=${PAUSE:-0.2}
# Without PYTHONUNBUFFERED and its like: a write to the pipe for every row would bury perf.
rows() { python3 -E "$here/decision-support.py" "$@"; }
copy() { rows "$1" "$2" "$3" "$orders" | sql -c "COPY $1 FROM STDIN"; }
if [ "${1:-}" = prepare ]; then
    pg_init
    pg_run
    sql <<'SQL'
CREATE TABLE orders (orders int PRIMARY KEY, customer int, status text, total bigint, day date, clerk text, note text);
CREATE TABLE lineitem (orders int, line int, part int, quantity int, price int, discount int, returned text,
                       shipped date, received date, note text, PRIMARY KEY (orders, line));
SQL
    for table in orders lineitem; do copy "$table" 0 "$orders"; done
    sql -o /dev/null -v step=make -f - <"$here/reporting.sql"
    pg_stop
    exit
fi
pg_run
for ((round = 0; round < ${ROUNDS:-20}; round++)); do
    first=$((orders + round * fresh))
    for table in orders lineitem; do copy "$table" "$first" "$((first + fresh))"; done
    sql -o /dev/null -v step=refresh -v first="$first" -v pause="$pause" -v round="$round" -f - <"$here/reporting.sql"
done
pg_stop
