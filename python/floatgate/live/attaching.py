"""The commands that make exports of a live drive block devices of a Linux machine."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote


def lines(socket: Path, exports: Sequence[str]) -> list[str]:
    """Return what to type as root, for each export.

    nbdfuse makes a file of an export, and a loop device a block device of the file. It needs sectors of 4 KiB: with
    smaller ones small file systems choose blocks of 1 KiB, and each of their writes programs a page in part.

    Args:
        socket: of the drive.
        exports: names.

    Returns:
        Lines for a shell, with comments.
    """
    absolute = socket.absolute()
    made = ["# as root; needs nbdfuse (package libnbd-bin) and util-linux"]
    for name in exports:
        folder = shlex.quote(str(absolute.parent / f"mnt-{name}"))
        uri = shlex.quote(f"nbd+unix:///{quote(name)}?socket={quote(str(absolute))}")
        loop = f"losetup --sector-size 4096 --direct-io=on -f --show {folder}/nbd"
        made += [f"mkdir -p {folder}", f"nbdfuse {folder} {uri} &", f"sleep 1; {loop}"]
    kernel = f"nbd-client -unix {shlex.quote(str(absolute))} /dev/nbd0 -N {exports[0]} -b 4096" if exports else ""
    return [*made, f"# or, where the kernel has the nbd module: {kernel}"]
