#!/usr/bin/env bash
# three-interleaved.sh - the program of the trace `three-interleaved`: build-and-cscope.sh and frames that POV-Ray renders
# at the same time, each frame a file of its own, as the dissertation's multi2.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
here=$(dirname "$0")
mkdir -p "$WORK/frames"
"$here/build-and-cscope.sh" &
others=$!
cd "$WORK/scenes/animations/reflection"
frames=${FRAMES:-36}
for ((frame = 1; frame <= frames; frame++)); do
    povray reflection.pov +W320 +H240 +FP -D -GA +WT1 "+KFF$frames" "+SF$frame" "+EF$frame" +KC \
        "+O$WORK/frames/frame.ppm" >/dev/null 2>&1
    sleep "${FRAME_PAUSE:-0.7}"
done
wait "$others"
