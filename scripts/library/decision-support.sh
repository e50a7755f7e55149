#!/usr/bin/env bash
# decision-support.sh - the program of the trace `decision-support`: PostgreSQL loaded with the tables of
# decision-support.py, then the queries of decision-support.sql ROUNDS times, with a refresh (new orders in, old ones
# out, prices changed) after each round.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(cd "$(dirname "$0")" && pwd)
export PG_BUFFERS=8MB
# shellcheck disable=SC1091,SC2154
# shellcheck source=postgres.sh
. "$here/postgres.sh"
orders=${ORDERS:-20000} refresh=${REFRESH:-1000} pause=${PAUSE:-1.5}
# Without PYTHONUNBUFFERED and its like: a write to the pipe for every row would bury perf.
rows() { python3 -E "$here/decision-support.py" "$@"; }
pg_start
sql <<'SQL'
CREATE TABLE part (part int PRIMARY KEY, name text, brand text, size int, price int);
CREATE TABLE customer (customer int PRIMARY KEY, name text, segment text, nation int, balance int);
CREATE TABLE orders (orders int PRIMARY KEY, customer int, status text, total bigint, day date, clerk text, note text);
CREATE TABLE lineitem (orders int, line int, part int, quantity int, price int, discount int, returned text,
                       shipped date, received date, note text, PRIMARY KEY (orders, line));
SQL
for table in part customer orders lineitem; do
    rows "$table" 0 "$orders" "$orders" | sql -c "COPY $table FROM STDIN"
    sleep "$pause"
done
sql -o /dev/null <<'SQL'
CREATE INDEX ON lineitem (part);
SELECT pg_sleep(2);
CREATE INDEX ON lineitem (shipped);
SELECT pg_sleep(2);
CREATE INDEX ON orders (customer);
CREATE INDEX ON orders (day);
ANALYZE;
SQL
for ((round = 0; round < ${ROUNDS:-5}; round++)); do
    sql -v pause="$pause" -o /dev/null <"$here/decision-support.sql"
    first=$((orders + round * refresh)) oldest=$((round * refresh))
    for table in orders lineitem; do
        rows "$table" "$first" "$((first + refresh))" "$orders" | sql -c "COPY $table FROM STDIN"
    done
    sql -v first="$oldest" -v end="$((oldest + refresh))" -v round="$round" <<'SQL'
DELETE FROM lineitem WHERE orders >= :first AND orders < :end;
DELETE FROM orders WHERE orders >= :first AND orders < :end;
UPDATE part SET price = price + 1 WHERE part % 10 = :round;
UPDATE customer SET balance = balance + o.total
  FROM (SELECT customer, sum(total) AS total FROM orders WHERE orders % 20 = :round GROUP BY customer) AS o
  WHERE customer.customer = o.customer;
UPDATE orders SET status = 'F' WHERE status = 'O' AND day < date '1999-01-01' + 60 * :round;
VACUUM;
SQL
done
pg_stop
