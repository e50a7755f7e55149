"""Which placement handle each program context should write with, found by PDS or IDS in a recorded trace.

The separator runs on a drive of its own for as long as the trace goes on; where its groups stand at the end is the
table. A second run gives the table to a drive that only knows handles (``host-given``): what an NVMe drive with
flexible data placement, or with streams, would have. That run is of the trace from which the table was made; another
recording of the program tells what the table is worth on writes from which it was not.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tempfile
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from floatgate import _core
from floatgate.errors import FloatgateError, input_error, one_line, quote, quoted, reading
from floatgate.experiment import Experiment, Overrides
from floatgate.parallel import at_once
from floatgate.recorded import DESCRIBED, PAGE_BYTES, dense
from floatgate.run import execute

SCHEMA = "floatgate.placement/1"
POLICIES = ("pds", "ids")
_SEPARATOR = "ftl.separate."
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
precondition = "none"
spare_factor = 0.15
[workload]
warmup_passes = 1
repeat = 2
"""
"""The drive where none is given: what the trace writes fills 85 % of it, or less where it is little."""
_EXPECTED = "expected a trace as floatgate trace record writes it"
SPARE_BLOCKS = 6
"""Blocks that such a drive has to spare beside one for each handle."""
FREE_SHARE = 0.002
"""Share of its blocks, beyond those, that is not to count on: collection keeps more free on a large drive."""


@dataclass(frozen=True)
class Applied:
    """What the table does on a trace from which it was not made.

    Attributes:
        trace: the other one.
        contexts: of its writes.
        matched_contexts: that wrote in the first trace, too.
        page_writes: of the other trace.
        matched_page_writes: by matched contexts.
        placed_page_writes: of those, with a handle other than 0.
        results: of the runs on the other trace, by separator; ``host-given`` follows the first trace's table.
    """

    trace: str
    contexts: int
    matched_contexts: int
    page_writes: int
    matched_page_writes: int
    placed_page_writes: int
    results: Mapping[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it, within ``floatgate.placement/1``."""
        told = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "results"}
        return {**told, "waf": _waf(self.results), "config": self.results["host-given"]["config"]}


@dataclass(frozen=True)
class Placement:
    """The table, and what it does.

    Attributes:
        trace: from which it was made.
        policy: that found it.
        handles: that the drive has.
        contexts: ``context``, ``name``, ``frames``, ``handle``, ``page_writes``, ``updates``, the most written first.
        groups: by handle: ``handle``, ``contexts``, ``page_writes``, ``mean_lifespan_writes``, ``hint``. Data live
            until they are replaced or trimmed; what is alive at the end of the trace counts as dying there.
        results: of the runs, by separator: ``none``, the policy, ``host-given``.
        applied: what the table does on another trace, if there is one.
    """

    trace: str
    policy: str
    handles: int
    contexts: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    results: Mapping[str, dict[str, Any]]
    applied: Applied | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it (schema ``floatgate.placement/1``)."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "trace": self.trace,
            "policy": self.policy,
            "handles": self.handles,
            "waf": _waf(self.results),
            "applied": None if self.applied is None else self.applied.to_dict(),
            "groups": self.groups,
            "contexts": self.contexts,
            "config": self.results["host-given"]["config"],
        }

    def table(self) -> str:
        """The table as CSV: one line for each context that does not use handle 0.

        Names come from the recorded programs. A spreadsheet takes some for formulas and would run them: those get an
        apostrophe in front, which it does not show.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["handle", "hint", "context", "page_writes", "updates", "name", "frames"])
        hints = {group["handle"]: group["hint"] for group in self.groups}
        for one in self.contexts:
            if one["handle"] != NO_HANDLE:
                frames = " < ".join(one["frames"])
                told = [one["handle"], hints[one["handle"]], one["context"], one["page_writes"], one["updates"]]
                writer.writerow([*told, _no_formula(one["name"]), _no_formula(frames)])
        return out.getvalue()

    def text(self) -> str:
        """The answer in words."""
        placed = [one for one in self.contexts if one["handle"] != NO_HANDLE]
        written = sum(one["page_writes"] for one in self.contexts)
        share = _percent(sum(one["page_writes"] for one in placed), written)
        of_all = f"{len(placed)} of {len(self.contexts)} contexts"
        lines = [
            f"placement  {of_all} get a handle other than {NO_HANDLE}; they write {share} of the pages",
            f"WAF        {self._judged(self.results)}; on {one_line(self.trace)}, the source of the table",
        ]
        if (other := self.applied) is not None:
            matched = _percent(other.matched_page_writes, other.page_writes)
            with_handle = _percent(other.placed_page_writes, other.page_writes)
            there = one_line(other.trace)
            known = f"({matched}) come from contexts of the table's trace"
            lines += [
                f"applied    {self._judged(other.results)}; on {there}, another recording",
                f"matched    {other.matched_page_writes:,} of its {other.page_writes:,} page writes {known}",
                f"placed     {other.placed_page_writes:,} ({with_handle}) get a handle other than {NO_HANDLE}",
            ]
        lines += [
            f"handle {group['handle']:<3} {len(group['contexts'])} contexts, {group['page_writes']:,} page writes, "
            f"data live {group['mean_lifespan_writes']:,.0f} page writes on average, hint {group['hint']}"
            for group in self.groups
        ]
        return "\n".join(lines)

    def _judged(self, results: Mapping[str, dict[str, Any]]) -> str:
        waf = _waf(results)
        beside = f"{waf['none']:.3f} without; {waf[self.policy]:.3f} if the drive itself runs {self.policy}"
        return f"{waf['host-given']:.3f} with {self.handles} handles, {beside}"


def _no_formula(text: str) -> str:
    text = text.replace("\r", "\n")  # which the writer of the standard library leaves without quotes
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text


def _waf(results: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: result["waf"] for name, result in results.items()}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.1f} %"


def place(
    trace: str | Path,
    *,
    policy: str = "pds",
    handles: int = 8,
    overrides: Overrides | None = None,
    apply: str | Path | None = None,
) -> Placement:
    """Find the table of a trace that ``floatgate trace record`` wrote, and try it.

    Args:
        trace: Parquet, with contexts.
        policy: ``pds`` or ``ids``.
        handles: of the drive, handle 0 included; from 2 to 1024.
        overrides: settings of the drive in place of :data:`DRIVE`'s, and parameters of ``policy``.
        apply: another such trace, on which the table is tried, too.

    Raises:
        InputError: no such policy, a number of handles out of range, a trace without contexts, unusable settings, a
            trace to apply the table to that shares no context with the first.
        RunError: a run ended early.
    """
    if policy not in POLICIES:
        raise input_error(f"unknown policy {quote(policy)}; expected one of {quoted(list(POLICIES))}")
    if not 2 <= handles <= 1024:
        raise input_error(
            f"{handles} handles; expected from 2 to 1024: one for contexts without a group, one for a group"
        )
    for key, _ in overrides or []:
        if key in {_SEPARATOR + "policy", _SEPARATOR + "groups"}:
            raise input_error(
                f"{key}: the table is made by the separator that --policy names, with a group for each handle but one; "
                "expected --policy and --handles"
            )
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        drive = handles, overrides or []
        first = _Tried(Path(trace), Path(folder) / "first", *drive)
        other = None if apply is None else _Tried(Path(apply), Path(folder) / "other", *drive)
        if other is not None and not first.writers() & other.writers():
            raise input_error(
                f"{apply}: no context that writes there writes in {trace}, so its table says nothing about this trace; "
                "expected a recording of the same program, and of the same build of it: contexts are made of addresses "
                "in its files"
            )
        results = first.separate(policy)
        by_context = {one["context"]: one["stream"] for one in results[policy]["separate"]["contexts"]}
        by_context = {context: stream for context, stream in by_context.items() if 0 < stream < handles}
        contexts, groups, results["host-given"] = first.follow(by_context)
        applied = None
        if other is not None:
            results_there = other.separate(policy)
            there, _, results_there["host-given"] = other.follow(by_context)
            applied = _applied(str(apply), {one["context"] for one in contexts}, there, results_there)
    return Placement(str(trace), policy, handles, contexts, groups, results, applied)


def _applied(trace: str, known: set[int], there: list[dict[str, Any]], results: dict[str, dict[str, Any]]) -> Applied:
    # 0 stands for writes without a context, which are nobody's.
    matched = [one for one in there if one["context"] != 0 and one["context"] in known]
    return Applied(
        trace=trace,
        contexts=sum(one["context"] != 0 for one in there),
        matched_contexts=len(matched),
        page_writes=sum(one["page_writes"] for one in there),
        matched_page_writes=sum(one["page_writes"] for one in matched),
        placed_page_writes=sum(one["page_writes"] for one in there if one["handle"] != NO_HANDLE),
        results=results,
    )


class _Tried:
    """A recorded trace, and runs of it on a drive of its size."""

    def __init__(self, trace: Path, folder: Path, handles: int, overrides: Overrides) -> None:
        folder.mkdir()
        self.trace, self.handles = trace, handles
        # What is said of separators is meant for the one that makes the table.
        self.parameters = [one for one in overrides if one[0].startswith(_SEPARATOR)]
        self.plain, self.given = folder / "contexts.parquet", folder / "handles.parquet"
        with reading(trace, _EXPECTED):
            size = dense(trace, self.plain, trims=True)
        try:
            drive = [one for one in overrides if one not in self.parameters]
            self.base = _base(self.plain, size.distinct_pages, handles, drive)
        except FloatgateError as error:
            raise self._named(error) from None

    def writers(self) -> set[int]:
        """The contexts of its writes."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.plain, columns=["op", "context"])
        context = table["context"].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
        written = np.asarray(table["op"].combine_chunks().cast("string")) == "write"
        return {int(one) for one in np.unique(context[written])} - {0}

    def separate(self, policy: str) -> dict[str, dict[str, Any]]:
        """Run it without separation, and with the policy in the drive."""
        groups: Overrides = [("ftl.separate.groups", str(self.handles - 1))]
        runs: list[tuple[str, Overrides]] = [("none", []), (policy, [*self.parameters, *groups])]
        found = at_once(lambda k: self._run(self.plain, *runs[k]), len(runs), threading.Event())
        return {name: result for (name, _), result in zip(runs, found, strict=True)}

    def follow(
        self, by_context: Mapping[int, int]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
        """Run it with the handles of a table; also what is told of contexts and of handles."""
        with reading(self.trace, _EXPECTED):
            contexts, groups = _give(self.plain, self.given, by_context)
        return contexts, groups, self._run(self.given, "host-given", [("ftl.separate.handles", str(self.handles))])

    def _run(self, file: Path, separator: str, more: Overrides) -> dict[str, Any]:
        chosen = [*_workload(file), ("ftl.separate.policy", separator), *more]
        try:
            return execute(self.base.with_overrides(chosen)).result.to_dict()
        except FloatgateError as error:
            raise self._named(error) from None

    def _named(self, error: FloatgateError) -> FloatgateError:
        # The user knows the trace, not our copies of it, whose rows are others.
        ours = "|".join(re.escape(str(file)) for file in (self.plain, self.given))
        return type(error)(re.sub(rf"({ours})(:\d+)?", lambda _: str(self.trace), str(error)))


def _workload(file: Path) -> Overrides:
    return [("workload.file", str(file)), ("workload.format", "parquet")]


def _base(plain: Path, distinct_pages: int, handles: int, overrides: Overrides) -> Experiment:
    """The drive: sized to the pages that are written and to the handles, unless the settings say its size."""
    base = Experiment(DRIVE, "placement").with_overrides(overrides)
    if {key for key, _ in overrides} & {"drive.preset", "drive.capacity", "drive.geometry.blocks_per_plane"}:
        return base
    config = tomllib.loads(_core.check(base.toml, base.path, [*base.overrides, *_workload(plain)]))
    geometry, spare = config["drive"]["geometry"], config["ftl"]["spare_factor"]
    levels = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    planes = math.prod(geometry[level] for level in levels)
    filled = max(1, int(geometry["pages_per_block"] * (1 - spare)))
    blocks = -(-distinct_pages // (filled * planes))
    if spare > FREE_SHARE:
        # In each plane an open block for each handle and the archive, and some free ones.
        blocks = max(blocks, math.ceil((handles + SPARE_BLOCKS) / (spare - FREE_SHARE)))
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

    row, replaced, lifespan = _lives(table)
    writer = place[row]
    contexts = []
    page_writes = np.bincount(writer, minlength=len(known))
    updates = np.bincount(writer[replaced], minlength=len(known))
    for number, one in enumerate(known):
        about = described.get(str(int(one)), {})
        contexts.append(
            {
                "context": int(one),
                "name": about.get("name", "(no stack)"),
                "frames": about.get("frames", []),
                "handle": int(handle_of[number]),
                "page_writes": int(page_writes[number]),
                "updates": int(updates[number]),
            }
        )
    contexts = [one for one in contexts if one["page_writes"]]
    contexts.sort(key=lambda one: (-one["page_writes"], one["context"]))
    return contexts, _groups(contexts, handle_of[writer], lifespan)


def _lives(table: Any) -> tuple[Any, Any, Any]:
    """Of each page write: its row, whether another one replaces it, and for how many page writes its data live.

    Data die where the page is written again or trimmed. What is alive at the end counts as dying there, or data that
    hardly ever die would pass for those few of them that do.
    """
    op = np.asarray(table["op"].combine_chunks().cast("string"))
    offset, length = (np.asarray(table[name], dtype=np.int64) for name in ("offset", "bytes"))
    first = offset // PAGE_BYTES
    count = -(-(offset + length) // PAGE_BYTES) - first
    row = np.repeat(np.arange(len(first)), count)
    page = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    writes = op[row] == "write"
    clock = np.cumsum(writes) - writes
    total = int(writes.sum())

    def next_of(events: Any) -> Any:
        """When the next of these events at the same page is; the end if there is none."""
        order = events[np.lexsort((events, page[events]))]
        follows = page[order][1:] == page[order][:-1]
        after = np.full(len(row), total, dtype=np.int64)
        after[order[:-1][follows]] = clock[order[1:][follows]]
        return after[writes]

    dies, rewritten = next_of(np.arange(len(row))), next_of(np.flatnonzero(writes))
    return row[writes], rewritten < total, dies - clock[writes]


def _groups(contexts: list[dict[str, Any]], handle: Any, lifespan: Any) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for number in sorted({one["handle"] for one in contexts}):
        lives = lifespan[handle == number]
        mine = [one for one in contexts if one["handle"] == number]
        groups.append(
            {
                "handle": number,
                "contexts": [one["context"] for one in mine],
                "page_writes": sum(one["page_writes"] for one in mine),
                "mean_lifespan_writes": float(lives.mean()),
                "hint": None,
            }
        )
    ranked = sorted(groups, key=lambda one: one["mean_lifespan_writes"])
    for place, group in enumerate(ranked):
        group["hint"] = HINTS[place * len(HINTS) // len(ranked)]
    return groups
