#!/usr/bin/env bash
# rendering.sh - the program of the trace `rendering`: POV-Ray measured on its own example scenes in $WORK/scenes. Animations
# are rendered frame by frame (PPM, as an encoder likes them), then ffmpeg makes a film and montage a contact sheet of
# them; single pictures are rendered as PNG. The time of each goes into a table, what the programs say into a log.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
renice -n 10 -p $$ >/dev/null    # perf has priority and loses nothing
animations=(ambient camera2 clockd diffuse float1 float4 l_o raddem speclr vect1 vect2)
pictures=(biscuit diffract mist mtmand pawns quilt1 sombrero sunsethf swirlbox wallstucco whiltile woodbox)
results=$WORK/results
mkdir "$results"

# measured NAME WHAT COMMAND...: run it in the present folder, the only one that POV-Ray may write to.
measured() {
    local name=$1 what=$2 start=$EPOCHREALTIME
    shift 2
    "$@" >>"$results/log.txt" 2>&1
    printf '%s\t%s\t%d us\n' "$name" "$what" $((${EPOCHREALTIME/./} - ${start/./})) >>"$results/times.tsv"
}

for name in "${animations[@]}"; do
    cd "$WORK/scenes/animations/$name"
    measured "$name" frames povray "$name.ini" +WT2 -D -V +W320 +H240 +FP "+O$name-.ppm"
    measured "$name" film ffmpeg -nostdin -v error -framerate 10 -pattern_type glob -i "$name-*.ppm" \
        -c:v mpeg4 -q:v 3 "$results/$name.mkv"
    measured "$name" sheet montage "$name-*.ppm" -tile 6x -geometry 160x120+2+2 "$results/$name.png"
done
cd "$WORK/scenes/advanced"
for name in "${pictures[@]}"; do
    for size in 320x240 640x480; do
        measured "$name" "$size" povray "$name.pov" +WT2 -D -V "+W${size%x*}" "+H${size#*x}" "+O$name-$size.png"
    done
done
