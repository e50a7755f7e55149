"""A data base on a file system, as recorded and without the file system's discards (section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floatgate.run.experiment import Overrides
from floatgate.trace import library
from floatgate.trace.conversion import convert

RECORDED, WITHOUT = "pgbench", "pgbench-no-discard"


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Return the recording itself, and its reads and writes alone."""
    if RECORDED not in workloads:
        return {}
    source = Path(traces[RECORDED]) if RECORDED in traces else library.path("pgbench-ext4")
    bare = folder / f"{WITHOUT}.parquet"
    convert(str(source), str(bare), "parquet", {"op": "read,write"})
    return {
        RECORDED: [("workload.file", str(source))],
        WITHOUT: [("workload.file", str(bare)), ("workload.format", "parquet")],
    }
