"""Exports of a live drive, one for each handle with the files that belong on it.

A block device has no handles. Its ranges have, where ``floatgate live`` makes exports of them: each gets a file system
of its own, and the folders of its files are mounted or linked there.
"""

from __future__ import annotations

from collections.abc import Mapping

from floatgate.base.errors import one_line
from floatgate.placement.answer import Placement
from floatgate.placement.grouping import NO_HANDLE
from floatgate.trace.dense_traces import PAGE_BYTES

NAME = "exports.txt"
ROOM = 2.0
"""Size of an export relative to the data that lie there: a file system needs room, and the next run may write more."""
_STEP_BYTES = 16 << 20
_KEYS_MAX = 20


def usage(folder: str) -> str:
    """Return what to do with the file."""
    return f"{folder}/{NAME} has the exports for floatgate live, and the files that belong on each"


def files(placement: Placement) -> Mapping[str, str]:
    """Return the options of ``floatgate live`` with the files of each export."""
    apart = [group for group in placement.groups if group["handle"] != NO_HANDLE]
    sizes = {group["handle"]: _room(group["resident_pages"] * PAGE_BYTES) for group in apart}
    exports = [f"data=rest:{NO_HANDLE}", *(f"h{handle}={size >> 20}MiB:{handle}" for handle, size in sizes.items())]
    most = max(sizes, default=NO_HANDLE)
    separate = f"--set ftl.separate.policy=host-given --set ftl.separate.handles={most + 1}"
    lines = [
        f"# Exports from {one_line(placement.trace)}, by {placement.by} ({placement.policy}).",
        "# Put a file system on each, and mount or link the folders of these files there. Other files go to data.",
        f"floatgate live DIR --exports {','.join(exports)} {separate}",
    ]
    for group in apart:
        handle = group["handle"]
        keys = sorted(str(one["key"]) for one in placement.keys if one["handle"] == handle and one["key"] is not None)
        lines += ["", f"# h{handle}: {group['page_writes']} page writes, {group['resident_pages']} pages at most"]
        lines += [one_line(key) for key in keys[:_KEYS_MAX]]
        lines += [f"# and {len(keys) - _KEYS_MAX} more in placement.csv"] if len(keys) > _KEYS_MAX else []
    return {NAME: "\n".join(lines) + "\n"}


def _room(resident_bytes: int) -> int:
    """Return the size of an export, in steps of 16 MiB."""
    return max(1, -(-int(resident_bytes * ROOM) // _STEP_BYTES)) * _STEP_BYTES
