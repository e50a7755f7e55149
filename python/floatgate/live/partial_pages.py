"""Whether the host writes pages in part, which a file system with small blocks does by mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHARE_MIN = 0.2
"""Share of all programmed bytes from which on it is worth a word."""
BLOCK_MAX_BYTES = 4096
"""Larger blocks than a page of the machine's memory few kernels take."""
WRITTEN_MIN_BYTES = 4 << 20
"""With less written a few requests of a label or a superblock would decide."""


def share(before: Mapping[str, Any], after: Mapping[str, Any]) -> float | None:
    """Return the share of programmed bytes that only complete pages which the host has written in part.

    Args:
        before: an earlier look at the drive; ``{}`` for the whole time.
        after: a later one.

    Returns:
        The share between the two looks; None if too little was written.
    """
    written = _written(after) - _written(before)
    programmed: int = after["flash_bytes"] - before.get("flash_bytes", 0)
    if written < WRITTEN_MIN_BYTES or programmed <= 0:
        return None
    return float(max(0, _host_programs(after) - _host_programs(before) - written) / programmed)


def advice(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """Say what to do about pages that are written in part.

    Args:
        before: an earlier look at the drive; ``{}`` for the whole time.
        after: a later one.

    Returns:
        A sentence; None where few pages are.
    """
    part = share(before, after)
    if part is None or part < SHARE_MIN:
        return None
    page = after["page_bytes"]
    block = min(page, BLOCK_MAX_BYTES)
    return (
        f"{100 * part:.0f} % of what the flash programs completes pages of {page} bytes that are written in part. "
        f"Attach it with sectors of {block} bytes (losetup --sector-size, nbd-client -b), and make file systems with "
        "blocks of that size"
    )


def _written(shown: Mapping[str, Any]) -> int:
    host = shown.get("host", {})
    return int(host.get("write_bytes", 0))


def _host_programs(shown: Mapping[str, Any]) -> int:
    """Return the bytes of pages that the host's writes have programmed, the rest of partial ones included."""
    if not shown:
        return 0
    programs = shown["programs"]
    return int((programs["host"] + programs["partial"]) * shown["page_bytes"])
