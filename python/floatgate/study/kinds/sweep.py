"""Folders of sweeps."""

from __future__ import annotations

from pathlib import Path

from floatgate.base.errors import reading
from floatgate.report.sections.amplification import IN_BYTES
from floatgate.study.kinds.kind import Document, Kind, Overview, span
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE
from floatgate.study.sweeps.loaded import load_sweep


def overview(path: Path, plan: Document) -> Overview:
    """Describe as ``40 of 60 runs over ftl.spare_factor``."""
    points = plan.get("points", plan)
    keys = [axis["key"] for axis in points["axes"]]
    keys += [key for key in (points.get("listed") or [{}])[0] if key not in keys]
    journal = path / JOURNAL
    ended = 0
    if journal.is_file():
        with journal.open("rb") as file:
            ended = sum(1 for line in file if line.endswith(b"\n"))
    runs = plan["runs"] if "runs" in plan else plan["trials"] * plan["repeat"]
    what = f"{f'{ended} of {runs}' if ended < runs else runs} runs over {', '.join(keys)}"
    return Overview(what, span([f"{waf:.2f}" for waf in _wafs(path / TABLE)]))


def _wafs(table: Path) -> list[float]:
    """Format the least and the greatest write amplification of a sweep; empty if no run knows it."""
    if not table.is_file():
        return []
    import pyarrow.parquet as pq

    with reading(table, "expected the table of a sweep"):
        known = sorted(value for value in pq.read_table(table, columns=[IN_BYTES])[0].to_pylist() if value is not None)
    return [known[0], known[-1]] if known else []


def _report(path: Path, _plan: Document) -> str:
    return load_sweep(path).report()


KIND = Kind("sweep", overview, _report)
