#!/usr/bin/env bash
# build-content.sh - the program of the trace `build-content`: a source tree (Lua) unpacked from $WORK/lua.tar.gz, built by
# make and gcc, edited and built again; then a second tree of the same source, patched and built, as a branch would be.
# All runs under strace, which makes the content of page writes known. The trees lie among the temporary files, where the
# recorder looks before it starts: it then knows that they are new.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

# unpack TREE
unpack() {
    mkdir "$TMPDIR/$1"
    tar -xzf "$WORK/lua.tar.gz" -C "$TMPDIR/$1" --strip-components 1
}

# build TREE
build() { make -s -C "$TMPDIR/$1/src" generic MYCFLAGS='-O1 -g' >/dev/null; }

# A line at the end of some files, as a programmer's afternoon would leave them; then make.
edit_and_build() {
    local tree=$1 file
    shift
    for file; do printf '\n/* edited */\n' >>"$TMPDIR/$tree/src/$file"; done
    build "$tree"
}

unpack main
build main
edit_and_build main lstrlib.c ltable.c
edit_and_build main lobject.h
edit_and_build main lvm.c lgc.c lparser.c
unpack branch
sed -i 's/LUA_IDSIZE[ \t]*60/LUA_IDSIZE 80/' "$TMPDIR/branch/src/luaconf.h"
build branch
edit_and_build branch ldo.c lcode.c
make -s -C "$TMPDIR/main/src" clean
build main
