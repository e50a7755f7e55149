# postgres.sh - sourced by the scripts that record PostgreSQL: a server of its own under $WORK/pg, which listens on a
# socket there and on no TCP port. The recorder sees its writes only if it is a child of the recorded command.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
server_user=${PG_USER:-postgres}
bin=${PG_BIN:-}
if [ -z "$bin" ]; then
    for candidate in /usr/lib/postgresql/*/bin; do [ ! -x "$candidate/postgres" ] || bin=$candidate; done
fi
[ -x "$bin/postgres" ] || { echo "error: no postgres; expected Debian package postgresql, or PG_BIN" >&2; exit 2; }

# PostgreSQL refuses to run as root.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd "$WORK/pg" && exec runuser -u "$server_user" -- "$@")
    else
        (cd "$WORK/pg" && exec "$@")
    fi
}

# Few buffers and frequent checkpoints: data pages are written all the time, not the log alone. Small log files are
# reused within minutes. The small work_mem lets sorts and hash tables spill to temporary files.
pg_start() {
    pg_init
    pg_run
}

pg_init() {
    mkdir -p "$WORK/pg"
    if [ "$(id -u)" = 0 ]; then chown "$server_user" "$WORK/pg"; fi
    as_server "$bin/initdb" -D "$WORK/pg/data" -A trust -U library -E UTF8 --locale=C \
        --wal-segsize="${PG_WAL_SEGMENT_MB:-4}" >/dev/null
    as_server tee -a "$WORK/pg/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$WORK/pg'
shared_buffers = ${PG_BUFFERS:-4MB}
min_wal_size = ${PG_WAL_MIN:-16MB}
max_wal_size = ${PG_WAL_MAX:-48MB}
checkpoint_timeout = 30s
checkpoint_completion_target = 0.8
autovacuum_naptime = 15s
work_mem = ${PG_WORK_MEM:-1MB}
maintenance_work_mem = 4MB
max_parallel_workers_per_gather = 0
jit = off
full_page_writes = ${PG_FULL_PAGES:-on}
CONF
}

pg_run() {
    as_server "$bin/pg_ctl" -D "$WORK/pg/data" -s -w -l /dev/null start
    trap pg_stop EXIT    # a server that is left behind would keep the recorder waiting
    export PGHOST=$WORK/pg PGUSER=library PGDATABASE=postgres
}

pg_stop() {
    trap - EXIT
    as_server "$bin/pg_ctl" -D "$WORK/pg/data" -s -w -m fast stop
}
sql() { as_server "$bin/psql" -X -q -v ON_ERROR_STOP=1 "$@"; }
