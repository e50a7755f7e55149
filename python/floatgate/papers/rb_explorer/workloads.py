"""Workloads that must be made: micro-benchmarks with two positions, and a data base with and without discards."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from floatgate.papers.rb_explorer.micros import micros
from floatgate.run.experiment import Overrides
from floatgate.trace import library
from floatgate.trace.conversion import convert

RECORDED, WITHOUT = "pgbench", "pgbench-no-discard"
APART = "apart-"
"""Begins the name of a micro-benchmark whose reads and writes have a position each."""
PAGE = 4096
BYTES = {"512b": 512, "4k": 4096, "8k": 8192, "16k": 16384, "32k": 32768}
WRITTEN = {"512b": 256 << 20}
"""Bytes that a micro-benchmark writes, by size of requests; :data:`WRITTEN_OTHERWISE` for the others."""
WRITTEN_OTHERWISE = 2 << 30


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Return the recording itself, its reads and writes alone, and micro-benchmarks with two positions."""
    return _recorded(workloads, traces, folder) | {
        name: _apart(name, folder) for name in apart() if name in workloads and name not in traces
    }


def apart() -> list[str]:
    """Return the names of all micro-benchmarks with two positions: sequential ones of which half read."""
    return [f"{APART}{micro}" for micro in micros(orders=["sq"], writes=["50w"])]


def requests(micro: str) -> Iterator[tuple[str, int, int]]:
    """Yield operation, offset and bytes of a sequential micro-benchmark of which half reads, with two positions.

    Reads and writes go on where the last of their own kind ended. Sizes, alignment and the bytes that are written are
    those of the micro-benchmark; a generator with a fixed seed draws which of both comes next.
    """
    size, _, _, alignment = micro.split("-", 3)
    request_bytes = BYTES[size]
    aligned = alignment == "align"
    step = max(request_bytes, PAGE) if aligned else request_bytes
    next_at = dict.fromkeys(("write", "read"), 0 if aligned else 512)
    left = WRITTEN.get(size, WRITTEN_OTHERWISE) // request_bytes
    draw = random.Random(1)  # noqa: S311 - a workload, no secret
    while left:
        op = "write" if draw.random() < 0.5 else "read"
        left -= op == "write"
        yield op, next_at[op], request_bytes
        next_at[op] += step


def _apart(name: str, folder: Path) -> Overrides:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    ops, offsets, sizes = zip(*requests(name.removeprefix(APART)), strict=True)
    columns = {
        "time_ns": pa.array([0] * len(ops), pa.int64()),
        "op": pa.array(ops).dictionary_encode(),
        "offset": pa.array(offsets, pa.uint64()),
        "bytes": pa.array(sizes, pa.uint64()),
    }
    pq.write_table(pa.table(columns), path)
    return [("workload.file", str(path)), ("workload.format", "parquet")]


def _recorded(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    if RECORDED not in workloads:
        return {}
    source = Path(traces[RECORDED]) if RECORDED in traces else library.path("pgbench-ext4")
    bare = folder / f"{WITHOUT}.parquet"
    convert(str(source), str(bare), "parquet", {"op": "read,write"})
    return {
        RECORDED: [("workload.file", str(source))],
        WITHOUT: [("workload.file", str(bare)), ("workload.format", "parquet")],
    }
