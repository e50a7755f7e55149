"""Recorded programs that own a part of a full drive: their pages lie first, the rest is static data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floatgate.base.errors import input_error
from floatgate.run.experiment import Overrides
from floatgate.trace import library
from floatgate.trace.dense_traces import dense

RECORDED = ("sqlite-updates", "postgres-updates")
PAGES_MAX = 47_000
"""Pages that the drive shows with 28 % to spare, at least."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Number the pages of the traces anew, without gaps."""
    made: dict[str, Overrides] = {}
    for name in workloads:
        if name not in RECORDED:
            continue
        source = Path(traces[name]) if name in traces else library.path(name)
        trace = dense(source, folder / f"{name}.parquet")
        if trace.distinct_pages > PAGES_MAX:
            raise input_error(
                f"{source}: writes {trace.distinct_pages} pages; expected at most {PAGES_MAX}, which the drive shows"
            )
        made[name] = [("workload.file", str(trace.file)), ("workload.format", "parquet")]
    return made
