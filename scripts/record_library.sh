#!/usr/bin/env bash
#
# record_library.sh - record the library of traces: real programs, run under `floatgate trace record`, each write with
# its program context.
#
#   gcc-build         Redis built by make and gcc, edited and built again, cleaned and built anew
#   cscope            cscope over folders of the Linux kernel's source: databases built, queried, built again after edits
#   sqlite-updates    SQLite under an update load, with a rollback journal, then with a write-ahead log
#   sqlite-content    the same on few rows, under strace: the content of page writes is known
#   build-content     Lua unpacked, built, edited and built again, likewise
#   media-content     pictures and films taken over from a card, changed and copied, likewise
#   postgres-updates  PostgreSQL under pgbench and a skewed load
#   decision-support  PostgreSQL with a sales schema: large queries in turn with refreshes
#   two-at-once       cscope and gcc-build at the same time
#   rendering         POV-Ray measured on its example scenes; films and contact sheets of the frames
#   three-at-once     cscope, gcc-build and rendering at the same time
#   sqlite-queries    SQLite with a sales schema: queries; nearly all requests read
#   text-search       SQLite's full-text index: searches, likewise
#
# Through small caches that write by evictions alone (`--writeback lru`; rocksdb-compaction through Linux's):
#
#   load-beside-updates  SQLite updates a table in place while a loader fills another file
#   decision-refreshes   PostgreSQL: large queries that spill, in turn with refreshes, with few buffers
#   reporting            PostgreSQL: aggregates that are refreshed beside the reports that read them
#   make-trees           Redis, Lua, zlib and bzip2 built by `make -j` at the same time, edited and built again
#   rocksdb-compaction   RocksDB filled and overwritten in random order: log, flushes and compactions
#   cscope-rounds        cscope over two folders of the Linux kernel's source, 24 times
#   build-and-cscope     cscope-rounds and builds of Lua and zlib at the same time
#   three-interleaved    the same, and frames rendered by POV-Ray
#
# The programs are in scripts/library/NAME.sh; their inputs are fetched and unpacked here beforehand and are not part of
# the trace. The script installs nothing. It wants, on Debian 12 (the package names of others differ):
#
#   apt-get install linux-perf strace make gcc dpkg-dev cscope sqlite3 postgresql python3 povray imagemagick ffmpeg
#   apt-get install rocksdb-tools
#
# The sources of Redis, Lua, zlib, bzip2 and Linux and POV-Ray's scenes come from Debian too, by `apt-get source` with lists of its
# own, `apt-get download linux-source-6.1` and `apt-get download povray-examples`: run `apt-get update` first. Recording
# takes root, or perf and ptrace allowed (docs/recording.md), and some 20 GB of space for temporary files. Where other work
# keeps the processors busy, `nice -n -15` before it lets perf have its turn; the programs go to a priority of their own.
#
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail
cd "$(dirname "$0")/.."

NAMES=(
    gcc-build cscope sqlite-updates sqlite-content postgres-updates decision-support two-at-once rendering three-at-once
    sqlite-queries text-search build-content media-content
    load-beside-updates decision-refreshes reporting make-trees rocksdb-compaction
    cscope-rounds build-and-cscope three-interleaved
)
FLOATGATE=${FLOATGATE:-.venv/bin/floatgate}
OUT=${OUT:-traces}
TMPBASE=${TMPDIR:-/var/tmp}

usage() {
    cat <<USAGE
Usage: ${0##*/} [NAME...]

Record the traces NAME (default: all: ${NAMES[*]})
as $OUT/NAME.parquet. The environment may say:

  FLOATGATE   the program             [$FLOATGATE]
  OUT         where traces go         [$OUT]
  TMPDIR      for temporary files     [$TMPBASE]
  PG_BIN      PostgreSQL's programs   [the newest /usr/lib/postgresql/*/bin]
  PG_USER     whom the server runs as where this is run by root [postgres]
USAGE
}

say() { printf '%s  %s\n' "$(date -u '+%H:%M:%S')" "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }
need() {
    local program=$1 package=$2
    command -v "$program" >/dev/null || die "no $program; expected Debian package $package"
}

for word; do
    case $word in
        -h | --help) usage; exit 0 ;;
        *) [[ " ${NAMES[*]} " == *" $word "* ]] || die "no trace '$word'; expected one of: ${NAMES[*]}" ;;
    esac
done
[ $# -gt 0 ] || set -- "${NAMES[@]}"

need strace strace
command -v "$FLOATGATE" >/dev/null || die "no $FLOATGATE; expected make build to have been run, or FLOATGATE"
PROGRAM=$(realpath "$(command -v "$FLOATGATE")")
case " $* " in
*" gcc-build "* | *" build-content "* | *"-at-once "* | *" make-trees "* | *" build-and-cscope "* | *" three-interleaved "*)
    need gcc gcc; need make make; need dpkg-source dpkg-dev ;;
esac
case " $* " in *" cscope "* | *"-at-once "* | *" cscope-rounds "* | *" build-and-cscope "* | *" three-interleaved "*)
    need cscope cscope ;;
esac
case " $* " in *" three-interleaved "*) need povray povray ;; esac
case " $* " in *" rocksdb-compaction "*) need db_bench rocksdb-tools ;; esac
case " $* " in *" rendering "* | *" three-at-once "*)
    need povray povray; need montage imagemagick; need ffmpeg ffmpeg ;;
esac
case " $* " in *" sqlite-"* | *" text-search "* | *" load-beside-updates "*) need sqlite3 sqlite3 ;; esac

# Always the same folder: the recordings name the files in it.
ALL=$TMPBASE/floatgate-library
mkdir "$ALL" 2>/dev/null || die "$ALL cannot be made; expected a writable $TMPBASE, and no other recording under way"
# PostgreSQL's own user must be able to pass.
chmod 755 "$ALL"
trap 'rm -rf --one-file-system "$ALL"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
SOURCES=$ALL/sources
mkdir "$SOURCES"

# Each trace has sources of its own, since it edits them.
with_redis() {
    scripts/library/source.sh redis "$SOURCES"
    cp -r "$SOURCES/redis" "$WORK/redis"
}

with_lua() {
    scripts/library/source.sh lua5.4 "$SOURCES"
    cp "$SOURCES"/lua5.4_*.orig.tar.gz "$WORK/lua.tar.gz"
}

with_trees() {
    local source
    for source in redis lua5.4 zlib bzip2; do scripts/library/source.sh "$source" "$SOURCES"; done
    mkdir "$WORK/lua"
    tar -xzf "$SOURCES"/lua5.4_*.orig.tar.gz -C "$WORK/lua" --strip-components 1
    cp -r "$SOURCES"/{redis,zlib,bzip2} "$WORK/"
    (cd "$WORK/zlib" && ./configure --static >configure.told)
}

with_card() {
    python3 -E scripts/library/media-content.py card "$WORK/card" 1
}

with_linux() {
    if [ ! -d "$SOURCES/linux" ]; then
        (cd "$SOURCES" && apt-get download -q linux-source-6.1 >apt.log 2>&1) ||
            die "no source of Linux; expected apt-get update to have been run, and a package linux-source-6.1"
        dpkg-deb -x "$SOURCES"/linux-source-6.1_*.deb "$SOURCES/deb"
        mkdir "$SOURCES/linux"
        tar -xf "$SOURCES/deb/usr/src/linux-source-6.1.tar.xz" -C "$SOURCES/linux" --strip-components 1 \
            --wildcards 'linux-source-6.1/'{kernel,mm,ipc,block}'/*'
    fi
    cp -r "$SOURCES/linux" "$WORK/linux"
}

with_scenes() {
    if [ ! -d "$SOURCES/examples" ]; then
        (cd "$SOURCES" && apt-get download -q povray-examples >apt.log 2>&1) ||
            die "no scenes of POV-Ray; expected apt-get update to have been run, and a package povray-examples"
        dpkg-deb -x "$SOURCES"/povray-examples_*.deb "$SOURCES/examples"
    fi
    cp -r "$SOURCES/examples/usr/share/doc/povray/examples" "$WORK/scenes"
}

# with_database NAME ROWS: makes the database before the recording begins.
with_database() {
    python3 -E "scripts/library/$1.py" load "$2" | sqlite3 -batch "$WORK/$1.db" >/dev/null
}

# record_reads NAME [option...]: with the reads that miss the page cache. Contents are those of writes, of which there are
# few.
record_reads() {
    local name=$1
    shift
    run "$name" --reads "$@"
}

# record NAME [option...]: the page cache is small, and pages stay dirty for 5 s only. A run of some minutes then makes as
# many rewrites on the drive as an afternoon with the defaults (1 GiB, 30 s).
record() {
    local name=$1
    shift
    run "$name" --content "$@"
}

# record_evicting NAME MIB: no flusher, no fsync: pages leave as the least recently used of a small cache, as in the
# dissertation's simulator.
record_evicting() { FLUSHING='' run "$1" --writeback lru --cache-mb "$2" --stack-bytes 16384; }

# prepared NAME: what the script makes before the recording begins.
prepared() { env TMPDIR="$WORK/tmp" WORK="$WORK" LC_ALL=C TZ=UTC "scripts/library/$1.sh" prepare >&2; }

run() {
    local name=$1 flushing=(--flush-interval-s 5)
    [ -n "${FLUSHING-5}" ] || flushing=()
    shift
    say "$name: recording"
    # From $WORK, so that files are named from there; through a pipe, so that what programs say is no file's data.
    ln -s "$PWD/scripts" "$WORK/scripts"
    (cd "$WORK" && env TMPDIR="$WORK/tmp" WORK="$WORK" LC_ALL=C TZ=UTC \
        "$PROGRAM" trace record --force "${flushing[@]}" "$@" -o "$ALL/$name.parquet" \
        -- "scripts/library/$name.sh" 2>&1 </dev/null | cat >&2)
    mkdir -p "$OUT"
    mv "$ALL/$name.parquet" "$OUT/$name.parquet"
    say "$name: $(stat -c %s "$OUT/$name.parquet") bytes"
}

for name; do
    WORK=$ALL/$name
    mkdir -p "$WORK/tmp"
    chmod 1777 "$WORK/tmp"
    case $name in
        gcc-build) with_redis; record "$name" --cache-mb 32 --stack-bytes 16384 ;;
        cscope) with_linux; record "$name" --cache-mb 32 --stack-bytes 16384 ;;
        sqlite-updates) record "$name" --cache-mb 8 --stack-bytes 16384 ;;
        sqlite-content) record "$name" --cache-mb 1 --backend strace ;;
        build-content) with_lua; record "$name" --cache-mb 4 --backend strace ;;
        media-content) with_card; record "$name" --cache-mb 4 --backend strace ;;
        postgres-updates) record "$name" --cache-mb 16 --stack-bytes 16384 ;;
        decision-support) record "$name" --cache-mb 16 --stack-bytes 16384 ;;
        two-at-once) with_redis; with_linux; record "$name" --cache-mb 32 --stack-bytes 16384 ;;
        rendering) with_scenes; record "$name" --cache-mb 32 --stack-bytes 16384 ;;
        three-at-once) with_redis; with_linux; with_scenes; record "$name" --cache-mb 32 --stack-bytes 16384 ;;
        sqlite-queries) with_database "$name" 250000; record_reads "$name" --cache-mb 8 ;;
        text-search) with_database "$name" 40000; record_reads "$name" --cache-mb 8 ;;
        load-beside-updates) prepared "$name"; record_evicting "$name" 2 ;;
        decision-refreshes | reporting) prepared "$name"; record_evicting "$name" 1 ;;
        make-trees) with_trees; record_evicting "$name" 8 ;;
        rocksdb-compaction) run "$name" --cache-mb 8 --stack-bytes 16384 ;;
        cscope-rounds) with_linux; record_evicting "$name" 1 ;;
        build-and-cscope) with_trees; with_linux; record_evicting "$name" 1 ;;
        three-interleaved) with_trees; with_linux; with_scenes; record_evicting "$name" 1 ;;
    esac
    rm -rf --one-file-system "$WORK"
done
