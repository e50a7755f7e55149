"""A job file for fio that writes to an FDP namespace as the recorded program would with the table.

It has one job per handle, with its own range of the device. The range is as large as the handle's data and is written
as often as in the trace, in requests of the trace's sizes, at its mean rate. Writes go in order if most of the trace's
page writes follow the one before, else at random, evenly. Which pages of a handle are hot is not carried over.

Keys are those of fio's documentation (HOWTO, ``fdp``, ``fdp_pli`` for the engines ``io_uring_cmd`` and ``xnvme``):
``fdp_pli`` counts the placement identifiers of ``nvme fdp status``, from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base.errors import one_line
from floatgate.placement.answer import Placement
from floatgate.trace.dense_traces import PAGE_BYTES

NAME = "placement.fio"
SEQUENTIAL = 0.5
"""Share of page writes that follow the one before from which on a handle is written in order."""
_SIZES_MAX = 10


def usage(folder: str) -> str:
    """Return what to do with the file."""
    return f"NG_DEVICE=/dev/ng0n1 fio {folder}/{NAME} (overwrites the namespace)"


def files(placement: Placement) -> Mapping[str, str]:
    """Return the job file."""
    most = max(group["handle"] for group in placement.groups)
    lines = [
        f"# Placement of {one_line(placement.trace)} by {placement.by} ({placement.policy})",
        "# NG_DEVICE names the generic character device of a namespace whose data may be lost, such as /dev/ng0n1.",
        f"# It needs at least {most + 1} placement identifiers (nvme fdp status). With xNVMe, ioengine=xnvme and",
        "# xnvme_async=io_uring_cmd replace ioengine and cmd_type. nvme fdp stats before and after tells the WAF.",
        "[global]",
        "filename=${NG_DEVICE}",
        "ioengine=io_uring_cmd",
        "cmd_type=nvme",
        "iodepth=1",
        "fdp=1",
        "norandommap=1",
        "group_reporting=1",
    ]
    offset = 0
    for group in placement.groups:
        job, size = _job(group, placement, offset)
        lines += ["", *job]
        offset += size
    return {NAME: "\n".join(lines) + "\n"}


def _job(group: Mapping[str, Any], placement: Placement, offset: int) -> tuple[list[str], int]:
    """Return the lines of a handle's job, and the size of its range."""
    requests = {int(pages): count for pages, count in group["requests_by_pages"].items()}
    size = max(group["resident_pages"], *requests) * PAGE_BYTES
    written = group["page_writes"] * PAGE_BYTES
    rate = [f"rate={max(1, round(written / placement.span_s))}"] if placement.span_s > 0 else []
    in_order = group["sequential_share"] >= SEQUENTIAL
    lives = f"data live {group['mean_lifespan_writes']:.0f} page writes on average"
    return [
        f"[handle-{group['handle']}]",
        f"# hint {group['hint']}: {group['page_writes']} page writes, {lives}",
        f"rw={'write' if in_order else 'randwrite'}",
        f"bssplit={split(requests)}",
        f"offset={offset}",
        f"size={size}",
        f"io_size={written}",
        *rate,
        f"fdp_pli={group['handle']}",
    ], size


def split(requests: Mapping[int, int]) -> str:
    """Return sizes of requests as ``bssplit`` takes them, in whole per cent that add up to 100.

    The most frequent sizes are kept, ten at most; what is left over by rounding down goes to the largest remainders.

    Args:
        requests: how many there are, by pages of 4 KiB.
    """
    kept = sorted(sorted(requests, key=lambda pages: (-requests[pages], pages))[:_SIZES_MAX])
    total = sum(requests[pages] for pages in kept)
    shares = {pages: 100 * requests[pages] // total for pages in kept}
    missing = 100 - sum(shares.values())
    for pages in sorted(kept, key=lambda pages: (-(100 * requests[pages] % total), pages))[:missing]:
        shares[pages] += 1
    return ":".join(f"{pages * PAGE_BYTES >> 10}k/{share}" for pages, share in shares.items() if share)
