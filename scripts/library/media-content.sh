#!/usr/bin/env bash
# media-content.sh - the program of the trace `media-content`: photographs and films copied from a camera's card
# ($WORK/card, made beforehand), viewed, changed and saved. All runs under strace, which makes the content of page writes
# known. The library lies among the temporary files, where the recorder looks before it starts: it then knows that it is
# new.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
here=$(dirname "$0")
card=$WORK/card library=$TMPDIR/library
media() { python3 -E "$here/media-content.py" "$@"; }

# Two days of pictures are taken over, each followed by thumbnails.
mkdir -p "$library/thumbnails"
for day in 1 2; do
    mkdir "$library/day$day"
    for file in "$card/day$day"/*; do
        dd "if=$file" "of=$library/day$day/${file##*/}" bs=256k status=none
    done
    media thumbnails "$library/day$day" "$library/thumbnails"
done

# Ratings go into the first page of a picture; a caption makes the head longer, so the file is written anew.
for number in 01 04 07 10 13 16; do media rate "$library/day1/photo$number.jpg" 5; done
for number in 02 05 08 11; do media caption "$library/day2/photo$number.jpg" "summer, day 2, picture $number"; done

# Some are retouched into new files, poor ones go, and a film is cut from its middle.
for number in 03 06 09; do media retouch "$library/day1/photo$number.jpg" "$library/day1/photo$number-edited.jpg"; done
rm "$library"/day1/photo1[78].jpg "$library"/day2/photo1[89].jpg
dd "if=$library/day1/film1.mp4" "of=$library/cut.mp4" bs=256k skip=3 count=6 status=none

# A copy of the one day as it is, an archive of the other one.
mkdir "$TMPDIR/copy"
for file in "$library"/day1/*; do dd "if=$file" "of=$TMPDIR/copy/${file##*/}" bs=256k status=none; done
tar -cf "$TMPDIR/day2.tar" -C "$library" day2
