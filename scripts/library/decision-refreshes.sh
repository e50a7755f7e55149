#!/usr/bin/env bash
# decision-refreshes.sh [prepare] - the program of the trace `decision-refreshes`: PostgreSQL with the sales tables of
# decision-support.py, a small pool of buffers and little memory for sorts: large questions that spill, in turn with
# refreshes (new orders in, the oldest out, prices and balances changed), ROUNDS times. `prepare` makes and loads the
# database, which is not recorded.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(cd "$(dirname "$0")" && pwd)
export PG_BUFFERS=${PG_BUFFERS:-1MB} PG_WORK_MEM=${PG_WORK_MEM:-128kB}
export PG_WAL_SEGMENT_MB=1 PG_WAL_MIN=2MB PG_WAL_MAX=2MB PG_FULL_PAGES=off
# shellcheck disable=SC1091,SC2154
# shellcheck source=postgres.sh
. "$here/postgres.sh"
orders=${ORDERS:-2400} refresh=${REFRESH:-150} pause=${PAUSE:-0.1}
# Without PYTHONUNBUFFERED and its like: a write to the pipe for every row would bury perf.
rows() { python3 -E "$here/decision-support.py" "$@"; }
copy() { rows "$1" "$2" "$3" "$orders" | sql -c "COPY $1 FROM STDIN"; }
if [ "${1:-}" = prepare ]; then
    pg_init
    pg_run
    sql <<'SQL'
CREATE TABLE part (part int PRIMARY KEY, name text, brand text, size int, price int);
CREATE TABLE customer (customer int PRIMARY KEY, name text, segment text, nation int, balance int);
CREATE TABLE orders (orders int PRIMARY KEY, customer int, status text, total bigint, day date, clerk text, note text);
CREATE TABLE lineitem (orders int, line int, part int, quantity int, price int, discount int, returned text,
                       shipped date, received date, note text, PRIMARY KEY (orders, line));
SQL
    for table in part customer orders lineitem; do copy "$table" 0 "$orders"; done
    sql -c "CREATE INDEX ON lineitem (part)" -c "CREATE INDEX ON orders (customer)" -c "VACUUM ANALYZE"
    pg_stop
    exit
fi
pg_run
for ((round = 0; round < ${ROUNDS:-27}; round++)); do
    sql -v pause="$pause" -o /dev/null <"$here/decision-support.sql"
    first=$((orders + round * refresh)) oldest=$((round * refresh))
    for table in orders lineitem; do copy "$table" "$first" "$((first + refresh))"; done
    sql -v first="$oldest" -v end="$((oldest + refresh))" -v round="$round" <<'SQL'
DELETE FROM lineitem WHERE orders >= :first AND orders < :end;
DELETE FROM orders WHERE orders >= :first AND orders < :end;
UPDATE part SET price = price + 1 WHERE part % 10 = :round % 10;
UPDATE customer SET balance = balance + o.total
  FROM (SELECT customer, sum(total) AS total FROM orders WHERE orders % 20 = :round GROUP BY customer) AS o
  WHERE customer.customer = o.customer;
VACUUM;
CHECKPOINT;
SQL
done
pg_stop
