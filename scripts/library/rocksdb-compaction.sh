#!/usr/bin/env bash
# rocksdb-compaction.sh - the program of the trace `rocksdb-compaction`: RocksDB's db_bench fills a store in random order and
# overwrites it; memtables are small, so flushes and compactions run all the time beside the log.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
db_bench --benchmarks=fillrandom,overwrite --db="$WORK/store" --num="${KEYS:-30000}" --value_size=400 --seed=1 \
    --compression_type=none --write_buffer_size=$((512 << 10)) --target_file_size_base=$((1 << 20)) \
    --max_bytes_for_level_base=$((4 << 20)) --level0_file_num_compaction_trigger=4 --max_background_jobs=2 \
    --benchmark_write_rate_limit="${BYTES_A_SECOND:-400000}" --wal_bytes_per_sync=0 --histogram=0 >/dev/null 2>&1
