#!/usr/bin/env bash
# source.sh NAME FOLDER - fetch the Debian source package NAME and unpack it as FOLDER/NAME.
#
# It takes the system's package sources, asks them for sources as well as binaries, and keeps the lists that come of it
# under FOLDER: the system's own configuration stays as it is.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
name=$1 folder=$2
[ ! -d "$folder/$name" ] || exit 0
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/apt/parts"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -f "$file" ] || continue
    case $file in
        *.sources) sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$folder/apt/parts/${file##*/}" ;;
        *.list) sed -E 's/^deb /deb-src /' "$file" >"$folder/apt/parts/${file##*/}" ;;
    esac
done
options=(-q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$folder/apt/parts"
    -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
cd "$folder"
apt-get "${options[@]}" update >apt/update.log 2>&1 || true    # other people's repositories may have no sources
apt-get "${options[@]}" source --only-source --download-only "$name" >apt/source.log 2>&1 ||
    { tail -n 3 apt/source.log >&2; exit 1; }
dpkg-source --no-check -x "$name"_*.dsc "$name" >apt/unpack.log
