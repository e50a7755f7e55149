#!/usr/bin/env bash
#
# record_pgbench.sh - record the block requests of a write-heavy PostgreSQL
# database on ext4 as a log of nbdkit's log filter, compressed with zstd.
#
# How the requests are caught
#
#   pgbench -> PostgreSQL -> ext4 (-o discard) -> loop device (direct I/O)
#           -> a file served by nbdfuse -> nbdkit --filter=log -> memory plugin
#
# The device lives in memory, so the time stamps are those of the host's
# requests, nearly undisturbed by a slow medium. Written data are not kept,
# only kind, offset, length and time of each request.
#
# What is run
#
#   1. mkfs.ext4 (which discards the whole device first), mount -o discard
#   2. initdb, pgbench -i
#   3. ROUNDS times: stop, umount, mount, start, which empties the page cache:
#      pages are read back; a TPC-B-like load (pgbench's built-in script, at
#      a fixed average rate); then a batch job that builds a table and its
#      index, a checkpoint, DROP of that table, VACUUM
#   4. TRUNCATE of the history table, VACUUM FULL of one table, stop,
#      fstrim, umount
#
# shared_buffers is small and checkpoints come often: data pages are written
# back all the time, not only the write-ahead log.
#
# What is dropped from the log
#
#   The filter writes two lines for each request: one when it comes in, ending
#   in " ...", and one when it is done, beginning with "...". Completion lines
#   that report success ("...Write id=7 return=0") are dropped, to save space
#   (--keep-completions keeps them). Completion lines that report an error are
#   kept. All other lines are kept, byte for byte, in their order.
#
# The script installs nothing. It must run as root (loop device, mount, and
# PostgreSQL run as its own user), and it needs Linux with loop and FUSE. It
# leaves any PostgreSQL cluster of the system alone: its own one listens on a
# socket in its own directory only, and on no TCP port.
#
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail

SIZE=1G
SCALE=25
SECONDS_LOAD=480
ROUNDS=4
CLIENTS=8
RATE=250
LEVEL=19
OUT=pgbench-ext4.nbdkit-log.zst
PGUSER_OS=postgres
PGBIN=
TMPBASE=${TMPDIR:-/var/tmp}
KEEP_COMPLETIONS=0

usage() {
    cat <<USAGE
Usage: ${0##*/} [options]

Record the block requests of a PostgreSQL database under pgbench load on ext4,
as lines of nbdkit's log filter, compressed with zstd. Must run as root.

  --size SIZE         size of the device, as nbdkit takes it   [$SIZE]
  --scale N           pgbench scale factor (about 15 MB each)  [$SCALE]
  --seconds N         seconds of load, over all rounds         [$SECONDS_LOAD]
  --rounds N          rounds of load, batch job, drop, vacuum  [$ROUNDS]
  --clients N         pgbench clients                          [$CLIENTS]
  --rate N            transactions a second on average;
                      0 for as fast as it goes                 [$RATE]
  --out FILE          the compressed log
                      [$OUT]
  --level N           zstd level                               [$LEVEL]
  --keep-completions  keep the lines of requests done without error too
  --pg-bindir DIR     where initdb, pg_ctl and pgbench are
                      [the newest /usr/lib/postgresql/*/bin]
  --pg-user USER      system user to run PostgreSQL as         [$PGUSER_OS]
  --tmp DIR           directory for temporary files            [$TMPBASE]
  --help              this text
USAGE
}

say() { printf '%s  %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
    case $1 in
        --help|-h) usage; exit 0 ;;
        --keep-completions) KEEP_COMPLETIONS=1; shift; continue ;;
        --*=*) opt=${1%%=*}; val=${1#*=}; shift ;;
        --*) opt=$1
             [ $# -ge 2 ] || die "$opt needs a value (see --help)"
             val=$2; shift 2 ;;
        *) die "unexpected argument: $1 (see --help)" ;;
    esac
    case $opt in
        --scale|--seconds|--rounds|--clients|--rate|--level)
            case $val in ''|*[!0-9]*) die "$opt takes a whole number, not '$val'" ;; esac ;;
    esac
    case $opt in
        --size) SIZE=$val ;;
        --scale) SCALE=$val ;;
        --seconds) SECONDS_LOAD=$val ;;
        --rounds) ROUNDS=$val ;;
        --clients) CLIENTS=$val ;;
        --rate) RATE=$val ;;
        --level) LEVEL=$val ;;
        --out) OUT=$val ;;
        --pg-bindir) PGBIN=$val ;;
        --pg-user) PGUSER_OS=$val ;;
        --tmp) TMPBASE=$val ;;
        *) die "unknown option: $opt (see --help)" ;;
    esac
done

[ "$ROUNDS" -ge 1 ] || die "--rounds must be at least 1"
[ "$SCALE" -ge 1 ] || die "--scale must be at least 1"
[ "$CLIENTS" -ge 1 ] || die "--clients must be at least 1"
[ "$SECONDS_LOAD" -ge "$ROUNDS" ] || die "--seconds must be at least 1 for each round"
if [ "$LEVEL" -lt 1 ] || [ "$LEVEL" -gt 19 ]; then die "--level must be 1 to 19"; fi

# ---- what is needed --------------------------------------------------------

PATH=$PATH:/usr/sbin:/sbin
missing=
need() { # COMMAND PACKAGE
    if ! command -v "$1" >/dev/null 2>&1; then
        case " $missing " in *" $2 "*) ;; *) missing="$missing $2" ;; esac
    fi
}
need nbdkit nbdkit
need nbdfuse libnbd-bin
need fusermount3 fuse3
need mkfs.ext4 e2fsprogs
need zstd zstd
need losetup mount
need findmnt util-linux
need setsid util-linux
need fstrim util-linux
need runuser util-linux
need awk mawk
if [ -z "$PGBIN" ]; then
    for d in /usr/lib/postgresql/*/bin; do
        if [ -x "$d/initdb" ] && [ -x "$d/pgbench" ]; then
            v=${d%/bin}; v=${v##*/}
            if [ -z "$PGBIN" ] || [ "${v%%.*}" -gt "${best%%.*}" ]; then
                PGBIN=$d; best=$v
            fi
        fi
    done
fi
if [ -z "$PGBIN" ]; then
    missing="$missing postgresql postgresql-contrib"
else
    for c in initdb pg_ctl pgbench psql; do
        [ -x "$PGBIN/$c" ] || die "no $c in $PGBIN"
    done
fi
if [ -n "$missing" ]; then
    die "missing Debian packages; run: apt-get install$missing"
fi
[ "$(id -u)" = 0 ] || die "must run as root"
id "$PGUSER_OS" >/dev/null 2>&1 || die "no system user '$PGUSER_OS' (see --pg-user)"
nbdkit --filter=log memory --dump-plugin >/dev/null 2>&1 ||
    die "this nbdkit lacks its log filter or its memory plugin"
[ -e /dev/fuse ] || die "no /dev/fuse (modprobe fuse)"
[ -e /dev/loop-control ] || die "no /dev/loop-control (modprobe loop)"
[ -d "$TMPBASE" ] || die "no such directory: $TMPBASE"
case $OUT in
    */*) outdir=${OUT%/*}; [ -d "${outdir:-/}" ] || die "no such directory: $outdir" ;;
esac

# ---- cleaning up -----------------------------------------------------------

WORK=
LOOP=
NBDFUSE_PID=
PGUP=0

stop_postgres() {
    if [ "$PGUP" = 1 ]; then
        as_pg "$PGBIN/pg_ctl" -D "$PGDATA" -s -w -m "$1" stop
        PGUP=0
    fi
}

start_postgres() {
    PGUP=1
    as_pg "$PGBIN/pg_ctl" -D "$PGDATA" -s -w -l "$WORK/run/postgres.log" start
}

# Also true of a FUSE mount whose server is gone, unlike mountpoint -q.
is_mounted() { findmnt -n -M "$1" >/dev/null 2>&1; }

mount_disk() { mount -t ext4 -o discard,noatime "$LOOP" "$WORK/mnt"; }

# umount, trying for some seconds while something still holds it.
umount_disk() {
    local i
    for ((i = 0; i < 10; i++)); do
        if umount "$WORK/mnt" 2>/dev/null; then return 0; fi
        sleep 0.5
    done
    umount "$WORK/mnt"
}

# Takes the stack down from the top. Safe to call twice.
take_down() {
    local i rc=0
    if is_mounted "$WORK/mnt"; then umount_disk || rc=1; fi
    if [ -n "$LOOP" ]; then
        if losetup -d "$LOOP"; then LOOP=; else rc=1; fi
    fi
    if is_mounted "$WORK/fuse"; then
        for ((i = 0; i < 10; i++)); do
            if fusermount3 -u "$WORK/fuse" 2>/dev/null; then break; fi
            sleep 0.5
        done
        if is_mounted "$WORK/fuse"; then fusermount3 -u -z "$WORK/fuse" || rc=1; fi
    fi
    if [ -n "$NBDFUSE_PID" ]; then
        for ((i = 0; i < 50; i++)); do
            kill -0 "$NBDFUSE_PID" 2>/dev/null || break
            sleep 0.1
        done
        kill "$NBDFUSE_PID" 2>/dev/null || true
        wait "$NBDFUSE_PID" 2>/dev/null || true
        NBDFUSE_PID=
    fi
    return "$rc"
}

cleanup() {
    local rc=$? f
    trap - EXIT
    trap '' INT TERM HUP
    set +e
    if [ -n "$WORK" ]; then
        if [ "$rc" -ne 0 ] && [ "$rc" -lt 128 ]; then
            for f in run.out run/postgres.log; do
                [ -s "$WORK/$f" ] || continue
                echo "--- end of $f:" >&2
                tail -n 15 "$WORK/$f" >&2
            done
        fi
        stop_postgres immediate >&2
        take_down
        if is_mounted "$WORK/mnt" || is_mounted "$WORK/fuse"; then
            say "still mounted under $WORK: left for you to take down"
        else
            rm -rf --one-file-system "$WORK"
        fi
    fi
    exit "$rc"
}

export TZ=UTC LC_ALL=C
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ---- the device ------------------------------------------------------------

WORK=$(mktemp -d "$TMPBASE/record_pgbench.XXXXXX")
chmod 711 "$WORK"
mkdir "$WORK/fuse" "$WORK/mnt" "$WORK/run"
chown "$PGUSER_OS" "$WORK/run"
chmod 700 "$WORK/run"
PGDATA=$WORK/mnt/pg
LOG=$WORK/nbdkit.log

as_pg() { ( cd / && exec runuser -u "$PGUSER_OS" -- "$@" ); }
# For what takes long: bash runs its traps while it waits, not while a command
# in the foreground runs. Its output goes to $WORK/run.out.
as_pg_long() { as_pg "$@" >"$WORK/run.out" 2>&1 & wait "$!"; }
sql() { as_pg "$PGBIN/psql" -h "$WORK/run" -d bench -X -q -v ON_ERROR_STOP=1 -c "$1" >&2; }

say "$(nbdkit --version), $("$PGBIN/postgres" --version), kernel $(uname -r | sed 's/-.*//')"
say "device of $SIZE"
# In a session of its own: Ctrl-C must not end it before the file system on top
# of it is unmounted.
setsid nbdfuse "$WORK/fuse/disk" \
    [ nbdkit --exit-with-parent --filter=log memory "$SIZE" logfile="$LOG" ] &
NBDFUSE_PID=$!
for ((i = 0; i < 100; i++)); do
    [ ! -e "$WORK/fuse/disk" ] || break
    kill -0 "$NBDFUSE_PID" 2>/dev/null || die "nbdfuse did not start"
    sleep 0.1
done
[ -e "$WORK/fuse/disk" ] || die "nbdfuse did not mount in 10 seconds"
# Direct I/O, so that no second page cache stands between ext4 and the log.
LOOP=$(losetup --find --show --direct-io=on "$WORK/fuse/disk")

say "mkfs.ext4, mount -o discard"
mkfs.ext4 -q -F "$LOOP"
mount_disk
sync -f "$WORK/mnt"
grep -q ' Trim id=' "$LOG" ||
    die "no Trim line in the log: the loop device does not pass discards on"

# ---- the database ----------------------------------------------------------

say "initdb"
install -d -o "$PGUSER_OS" -m 700 "$PGDATA"
as_pg "$PGBIN/initdb" -D "$PGDATA" -A trust -U bench -E UTF8 --locale=C >/dev/null
cat >>"$PGDATA/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$WORK/run'
shared_buffers = 16MB
max_wal_size = 96MB
min_wal_size = 64MB
checkpoint_timeout = 30s
checkpoint_completion_target = 0.8
log_checkpoints = on
autovacuum_naptime = 20s
CONF
export PGUSER=bench PGPORT=5432
start_postgres
as_pg "$PGBIN/psql" -h "$WORK/run" -d postgres -X -q -c 'CREATE DATABASE bench'

say "pgbench -i, scale $SCALE"
as_pg_long "$PGBIN/pgbench" -h "$WORK/run" -i -q -s "$SCALE" bench
sync -f "$WORK/mnt"
say "file system: $(df --output=pcent "$WORK/mnt" | tail -n 1 | tr -d ' ') full"

ratearg=()
if [ "$RATE" -gt 0 ]; then ratearg=(--rate "$RATE"); fi
for ((round = 1; round <= ROUNDS; round++)); do
    secs=$((SECONDS_LOAD / ROUNDS))
    stop_postgres fast
    umount_disk
    mount_disk
    start_postgres
    say "round $round of $ROUNDS: load for $secs s"
    as_pg_long "$PGBIN/pgbench" -h "$WORK/run" -n -b tpcb-like -M prepared \
        -c "$CLIENTS" -j 2 -T "$secs" "${ratearg[@]}" bench
    grep -E '^(number of transactions actually|tps)' "$WORK/run.out" >&2
    sync -f "$WORK/mnt"
    say "round $round of $ROUNDS: batch job, drop, vacuum"
    sql "CREATE TABLE report AS SELECT aid, bid, abalance, md5(aid::text) AS tag
         FROM pgbench_accounts WHERE aid % 4 = $((round % 4))"
    sql 'CREATE INDEX ON report (abalance, aid)'
    sql 'CHECKPOINT'
    sync -f "$WORK/mnt"
    say "file system: $(df --output=pcent "$WORK/mnt" | tail -n 1 | tr -d ' ') full"
    sql 'DROP TABLE report'
    sql 'VACUUM'
    sql 'CHECKPOINT'
    sync -f "$WORK/mnt"
done

say "truncate, vacuum full, stop"
sql 'TRUNCATE pgbench_history'
sql 'VACUUM FULL pgbench_tellers'
sql 'CHECKPOINT'
stop_postgres fast
sync -f "$WORK/mnt"
say "fstrim"
fstrim "$WORK/mnt"
sync -f "$WORK/mnt"
say "umount"
take_down
sync

# ---- the log ---------------------------------------------------------------

for ((i = 0; i < 50; i++)); do    # nbdkit may outlive nbdfuse for a moment
    if tail -n 1 "$LOG" | grep -q ' Disconnect '; then break; fi
    sleep 0.1
done
say "requests in the log, by kind:"
awk '$3 ~ /^connection=/ && $4 !~ /^\.\.\./ { n[$4]++ }
     END { for (k in n) printf "%22s%-12s%9d\n", "", k, n[k] }' "$LOG" | sort >&2
say "compressing"
if [ "$KEEP_COMPLETIONS" = 1 ]; then
    cat "$LOG"
else
    awk '!($4 ~ /^\.\.\./ && $NF == "return=0") && !($3 ~ /^\.\.\./ && $NF == "return=0")' "$LOG"
fi | zstd -q -f -"$LEVEL" -T0 -o "$WORK/out.zst"
mv "$WORK/out.zst" "$OUT"
say "$OUT: $(stat -c %s "$OUT") bytes"
