#!/usr/bin/env bash
# cscope.sh - the program of the trace `cscope`: cscope over folders of the Linux kernel's source in $WORK/linux. The
# database with its inverted index is built, asked, and built again after edits, ROUNDS times, PAUSE seconds apart. FOLDERS
# says which folders.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
rounds=${ROUNDS:-10} GROUPS_EDITED=${GROUPS_EDITED:-0}
cd "$WORK/linux"
database=(-q -k -i "$WORK/cscope.files" -f "$WORK/cscope.out")
# shellcheck disable=SC2086
find ${FOLDERS:-kernel mm ipc block} -name '*.[ch]' | LC_ALL=C sort >"$WORK/cscope.files"
for ((round = 1; round <= rounds; round++)); do
    cscope -b "${database[@]}"
    # 0: where a symbol is used; 1: its definition; 3: who calls it; 4: text; 6: pattern; 8: who includes a file
    for symbol in schedule kmalloc page_cache_get "worker_$round" list_add wake_up_process; do
        for field in 0 1 3; do cscope -d -L "-$field" "$symbol" "${database[@]}"; done
    done >/dev/null
    cscope -d -L -4 "FIXME" "${database[@]}" >/dev/null
    cscope -d -L -6 "spin_lock.*irqsave" "${database[@]}" >/dev/null
    cscope -d -L -8 "linux/slab.h" "${database[@]}" >/dev/null
    sleep "${PAUSE:-2}"    # cscope compares whole seconds
    # Every 97th file gets a new function, other files each round; with GROUPS_EDITED, of so many groups in turn.
    group=$((GROUPS_EDITED > 0 ? round % GROUPS_EDITED + 1 : round))
    awk "NR % 97 == $group" "$WORK/cscope.files" | while read -r file; do
        printf '\nint worker_%d(void) { return schedule_%d(); }\n' "$round" "$round" >>"$file"
    done
done
