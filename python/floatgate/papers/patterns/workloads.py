"""A load of ours on which read-balance acts: half of the data are static, and reads go to few of them, on one chip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from floatgate.run.experiment import Overrides, trace_overrides

PAGES = {"static": 480_000, "static-28": 352_000}
"""Of the load on its two drives, with 7 and 28 % to spare; the first half is written, evenly."""
PAGE_BYTES = 4096
STRIPE, READ = 32, 2
"""Of every STRIPE pages of the second half, the first READ are read, evenly. Planes are written in turn, so these pages
lie on one chip of each channel."""
WORN_IN = 10_000_000, 0.3
"""Requests that wear the drive in, and the share of them that reads."""
TIMED = 300_000, 0.9
"""The same for the timed runs."""
RATE_PER_S = 26_700.0
"""Of the timed runs: the two dies with the read data are half busy with reads of 42 us."""
PART = 1_000_000
"""Requests made at a time."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Write the traces of the load; the twins need nothing, and traces of the user's are left as they are."""
    made: dict[str, Overrides] = {}
    for name, pages in PAGES.items():
        if name in workloads and name not in traces:
            worn_in = write(folder / f"{name}.parquet", pages, *WORN_IN, seed=1)
            timed = write(folder / f"{name}-timed.parquet", pages, *TIMED, seed=2)
            made |= {name: trace_overrides(worn_in), f"static-timed.{name}": trace_overrides(timed)}
    return made


def write(file: Path, pages: int, requests: int, read_share: float, seed: int) -> Path:
    """Write one-page requests with exponential gaps as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(seed)
    writer, begin_ns = None, 0.0
    for first in range(0, requests, PART):
        count = min(PART, requests - first)
        time_ns = begin_ns + np.cumsum(draw.exponential(1e9 / RATE_PER_S, count))
        begin_ns = time_ns[-1]
        reads = draw.random(count) < read_share
        page = np.where(reads, _read(draw, pages, count), draw.integers(0, pages // 2, count))
        table = pa.table(
            {
                "time_ns": pa.array(time_ns.astype(np.int64)),
                "op": pa.DictionaryArray.from_arrays(pa.array(reads.astype(np.int8)), ["write", "read"]),
                "offset": pa.array(page.astype(np.uint64) * PAGE_BYTES),
                "bytes": pa.array(np.full(count, PAGE_BYTES, np.uint64)),
            }
        )
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return file


def _read(draw: np.random.Generator, pages: int, count: int) -> np.ndarray:
    """Return the pages to read."""
    stripes = draw.integers(0, pages // 2 // STRIPE, count)
    return pages // 2 + stripes * STRIPE + draw.integers(0, READ, count)
