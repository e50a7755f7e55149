"""Which placement handle each program context should write with, found by PDS or IDS in a recorded trace.

The separator runs on a drive of its own for as long as the trace goes on; where its groups stand at the end is the
table. A second run gives the table to a drive that only knows handles (``host-given``): what an NVMe drive with
flexible data placement, or with streams, would have.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from floatgate import _core
from floatgate.errors import input_error, quoted
from floatgate.experiment import Experiment, Overrides
from floatgate.parallel import at_once
from floatgate.recorded import DESCRIBED, PAGE_BYTES, dense
from floatgate.run import execute

SCHEMA = "floatgate.placement/1"
POLICIES = ("pds", "ids")
HINTS = ("short", "medium", "long", "extreme")
"""Write lifetime hints of Linux (``F_SET_RW_HINT``) from the shortest."""
NO_HANDLE = 0
"""The handle of contexts without a group, and of writes without a context."""
DRIVE = """
seed = 1
[drive.geometry]
channels = 1
pages_per_block = 32
[drive.endurance]
pe_cycles = 1000000
[ftl]
spare_factor = 0.15
[workload]
warmup_passes = 1
repeat = 2
"""
"""The drive where none is given: what the trace writes fills 85 % of it, or less where it is little."""
SPARE_BLOCKS = 6
"""Blocks that such a drive has to spare beside one for each handle."""


@dataclass(frozen=True)
class Placement:
    """The table, and what it does.

    Attributes:
        policy: that found it.
        handles: that the drive has.
        contexts: ``context``, ``name``, ``frames``, ``handle``, ``page_writes``, ``updates``, the most written first.
        groups: by handle: ``handle``, ``contexts``, ``page_writes``, ``mean_lifespan_writes``, ``hint``.
        results: of the runs, by separator: ``none``, the policy, ``host-given``.
    """

    policy: str
    handles: int
    contexts: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    results: Mapping[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it (schema ``floatgate.placement/1``)."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "policy": self.policy,
            "handles": self.handles,
            "waf": {name: result["waf"] for name, result in self.results.items()},
            "groups": self.groups,
            "contexts": self.contexts,
            "config": self.results["host-given"]["config"],
        }

    def table(self) -> str:
        """The table as CSV: one line for each context that does not use handle 0."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["handle", "hint", "context", "page_writes", "updates", "name", "frames"])
        hints = {group["handle"]: group["hint"] for group in self.groups}
        for one in self.contexts:
            if one["handle"] != NO_HANDLE:
                frames = " < ".join(one["frames"])
                told = [one["handle"], hints[one["handle"]], one["context"], one["page_writes"], one["updates"]]
                writer.writerow([*told, one["name"], frames])
        return out.getvalue()

    def text(self) -> str:
        """The answer in words."""
        waf = self.to_dict()["waf"]
        placed = [one for one in self.contexts if one["handle"] != NO_HANDLE]
        written = sum(one["page_writes"] for one in self.contexts)
        share = sum(one["page_writes"] for one in placed) / written if written else 0.0
        given, none = waf["host-given"], waf["none"]
        of_all = f"{len(placed)} of {len(self.contexts)} contexts"
        beside = f"{none:.3f} without; {waf[self.policy]:.3f} where the drive itself runs {self.policy}"
        lines = [
            f"placement  {of_all} get a handle of their own, with {100 * share:.0f} % of the page writes",
            f"WAF        {given:.3f} with {self.handles} handles, {beside}",
        ]
        for group in self.groups:
            life = group["mean_lifespan_writes"]
            told = "-" if life is None else f"{life:,.0f} page writes"
            lines.append(
                f"handle {group['handle']:<3} {len(group['contexts'])} contexts, {group['page_writes']:,} page writes, "
                f"data live {told} on average, hint {group['hint']}"
            )
        return "\n".join(lines)


def place(trace: str | Path, *, policy: str = "pds", handles: int = 8, overrides: Overrides | None = None) -> Placement:
    """Find the table of a trace that ``floatgate trace record`` wrote, and try it.

    Args:
        trace: Parquet, with contexts.
        policy: ``pds`` or ``ids``.
        handles: of the drive, handle 0 included; from 2 to 1024.
        overrides: settings of the drive in place of :data:`DRIVE`'s.

    Raises:
        InputError: no such policy, a number of handles out of range, a trace without contexts, unusable settings.
        RunError: a run ended early.
    """
    if policy not in POLICIES:
        raise input_error(f"unknown policy '{policy}'; expected one of {quoted(list(POLICIES))}")
    if not 2 <= handles <= 1024:
        raise input_error(
            f"{handles} handles; expected from 2 to 1024: one for contexts without a group, one for a group"
        )
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        plain, given = Path(folder) / "contexts.parquet", Path(folder) / "handles.parquet"
        size = dense(Path(trace), plain, trims=True)
        base = _base(size.distinct_pages, handles, overrides or [])

        def run(file: Path, separator: str, more: Overrides) -> dict[str, Any]:
            settings: Overrides = [("workload.file", str(file)), ("workload.format", "parquet")]
            chosen = [*settings, ("ftl.separate.policy", separator), *more]
            return execute(base.with_overrides(chosen)).result.to_dict()

        groups: Overrides = [("ftl.separate.groups", str(handles - 1))]
        first = [("none", []), (policy, groups)]
        found = at_once(lambda k: run(plain, *first[k]), len(first), threading.Event())
        results = {name: result for (name, _), result in zip(first, found, strict=True)}
        by_context = {one["context"]: one["stream"] for one in results[policy]["separate"]["contexts"]}
        by_context = {context: stream for context, stream in by_context.items() if 0 < stream < handles}
        contexts, told = _give(plain, given, by_context)
        results["host-given"] = run(given, "host-given", [("ftl.separate.handles", str(handles))])
    return Placement(policy, handles, contexts, told, results)


def _base(distinct_pages: int, handles: int, overrides: Overrides) -> Experiment:
    base = Experiment(DRIVE, "placement").with_overrides(overrides)
    keys = {key for key, _ in overrides}
    sized = {"drive.preset", "drive.capacity", "drive.geometry.blocks_per_plane"}
    if keys & sized:
        return base
    settings = dict(overrides)
    pages = int(settings.get("drive.geometry.pages_per_block", 32))
    spare = float(settings.get("ftl.spare_factor", 0.15))
    blocks = -(-distinct_pages // max(1, int(pages * (1 - spare))))
    # An open block for each handle and the archive, and some free ones.
    blocks = max(blocks, math.ceil((handles + SPARE_BLOCKS) / spare))
    return base.with_overrides([("drive.geometry.blocks_per_plane", str(blocks + 1))])


def _give(plain: Path, given: Path, by_context: Mapping[int, int]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the trace with a column of handles; what is told of contexts and of handles."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(plain)
    described = json.loads((table.schema.metadata or {}).get(DESCRIBED, b"{}")).get("contexts", {})
    context = table["context"].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
    known, place = np.unique(context, return_inverse=True)
    handle_of = np.array([by_context.get(int(one), NO_HANDLE) for one in known], dtype=np.uint32)
    handles = handle_of[place].astype(np.uint32)
    table = table.append_column("stream", pa.array(handles))
    pq.write_table(table, given, compression="zstd")

    writes = np.asarray(table["op"].combine_chunks().cast("string")) == "write"
    first = np.asarray(table["offset"], dtype=np.int64)[writes] // PAGE_BYTES
    ends = np.asarray(table["offset"], dtype=np.int64)[writes] + np.asarray(table["bytes"], dtype=np.int64)[writes]
    count = -(-ends // PAGE_BYTES) - first
    order = np.repeat(np.arange(len(first)), count)
    pages = np.concatenate([np.arange(low, low + n) for low, n in zip(first, count, strict=True)])
    writer = place[writes][order]
    # When each page write is overwritten, by sorting the writes of each page in their order.
    sorted_writes = np.lexsort((np.arange(len(pages)), pages))
    follows = pages[sorted_writes][1:] == pages[sorted_writes][:-1]
    lifespan = np.full(len(pages), -1, dtype=np.int64)
    lifespan[sorted_writes[:-1][follows]] = np.diff(sorted_writes)[follows]
    contexts = []
    for number, one in enumerate(known):
        mine = writer == number
        about = described.get(str(int(one)), {})
        contexts.append(
            {
                "context": int(one),
                "name": about.get("name", "(no stack)"),
                "frames": about.get("frames", []),
                "handle": int(handle_of[number]),
                "page_writes": int(mine.sum()),
                "updates": int((lifespan[mine] >= 0).sum()),
            }
        )
    contexts = [one for one in contexts if one["page_writes"]]
    contexts.sort(key=lambda one: (-one["page_writes"], one["context"]))
    return contexts, _groups(contexts, handle_of[writer], lifespan)


def _groups(contexts: list[dict[str, Any]], handle: Any, lifespan: Any) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for number in sorted({one["handle"] for one in contexts}):
        lives = lifespan[(handle == number) & (lifespan >= 0)]
        mine = [one for one in contexts if one["handle"] == number]
        groups.append(
            {
                "handle": number,
                "contexts": [one["context"] for one in mine],
                "page_writes": sum(one["page_writes"] for one in mine),
                "mean_lifespan_writes": float(lives.mean()) if len(lives) else None,
                "hint": None,
            }
        )
    longest = float("inf")
    ranked = sorted(
        groups, key=lambda one: longest if one["mean_lifespan_writes"] is None else one["mean_lifespan_writes"]
    )
    for place, group in enumerate(ranked):
        group["hint"] = HINTS[place * len(HINTS) // len(ranked)]
    return groups
