#!/usr/bin/env bash
# postgres-updates.sh - the program of the trace `postgres-updates`: PostgreSQL under pgbench, half TPC-B-like
# transactions, half skewed sales (postgres-updates.sql), at RATE transactions a second; then a clean-up; ROUNDS times.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC1091,SC2154
# shellcheck source=postgres.sh
. "$here/postgres.sh"
pg_start
cat "$here/postgres-updates.sql" >"$WORK/pg/sale.sql"
as_server "$bin/pgbench" -i -q -s "${SCALE:-3}" >/dev/null 2>&1
sql <<'SQL'
CREATE TABLE stock AS SELECT id, 1000 AS amount, md5(id::text) AS name FROM generate_series(1, 60000) AS id;
ALTER TABLE stock ADD PRIMARY KEY (id);
CREATE INDEX ON stock (amount);
CREATE TABLE sale (id bigserial PRIMARY KEY, item int, amount int, state text, note text);
CREATE INDEX ON sale (item);
CREATE INDEX ON sale (state, id);
SQL
for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
    as_server "$bin/pgbench" -n -M prepared -c 4 -j 1 -T "${SECONDS_EACH:-40}" -R "${RATE:-150}" \
        --random-seed="$round" -b tpcb-like@1 -f "$WORK/pg/sale.sql@1" >/dev/null
    sql <<'SQL'
UPDATE sale SET state = 'sent' WHERE state = 'open' AND item % 2 = 0;
DELETE FROM sale WHERE state = 'sent' AND id % 3 = 0;
VACUUM sale;
CHECKPOINT;
SQL
done
pg_stop
