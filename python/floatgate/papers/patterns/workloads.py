"""Twins on the smaller drive, and loads of ours on which read-balance acts: static data that are read unevenly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from floatgate.papers.read_twins import smaller
from floatgate.run.experiment import Overrides, trace_overrides

TWINS = {"proj_0": 4224524, "pc-server-1": 5076765, "pc-server-2": 6658794, "pc-server-3": 11404881}
"""Requests of the twins (Table II)."""
SMALLER, SPACE = 8, 16
"""The drive has an eighth of Table I's blocks and gets an eighth of the requests, in a sixteenth of the twin's space.
What is left of the drive, more than half of it, holds static data."""
WHOLE = ("empty", "requests", "dispatch")
"""Batches with the whole twin, on Table I's drive or without one."""
IN_TIME = ("timed", "timed-parts", "timed-free", *(f"timed-seed-{seed}" for seed in range(2, 6)))
"""Batches in time: the twin in the same space, as busy as the whole one."""


@dataclass(frozen=True)
class Load:
    """A load of ours. Its first half is written, evenly; the other half is static.

    Attributes:
        pages: of the load, as many as its drive shows.
        stripe, read: of every ``stripe`` static pages the first ``read`` are read, evenly. Planes are written in turn,
            the channel first, then the chip, die and plane: 2 of 32 lie on one chip of each channel, 4 of 8 on two.
        timed_read_share: share of the requests in time that reads.
        rate_per_s: of them; the dies with the read data are half busy with reads of 42 us (``every-second``: a
            quarter).
    """

    pages: int
    stripe: int
    read: int
    timed_read_share: float
    rate_per_s: float


LOADS = {
    "static": Load(480_000, 32, 2, 0.9, 26_700.0),
    "static-28": Load(352_000, 32, 2, 0.9, 26_700.0),
    "half-read": Load(416_000, 8, 4, 0.97, 98_000.0),
    "every-second": Load(413_696, 4096, 2048, 0.97, 98_000.0),
}
"""The first two with 7 and 28 % to spare, the others with 20 %. Of ``half-read`` all static blocks of two chips in four
are read, of ``every-second`` each second block of each plane: 32 planes of 64 pages are 2,048 pages."""
PAGE_BYTES = 4096
WORN_IN = 10_000_000, 0.3
"""Requests that wear the drive in, and the share of them that reads."""
TIMED = 300_000
"""Requests of the timed runs."""
PART = 1_000_000
"""Requests made at a time."""


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Write twins and loads; traces of the user's are left as they are."""
    made: dict[str, Overrides] = {}
    for name, requests in TWINS.items():
        if name in workloads and name not in traces:
            made |= _twin(name, requests, folder)
    for name, load in LOADS.items():
        if name in workloads and name not in traces:
            worn_in = write(folder / f"{name}.parquet", load, *WORN_IN, seed=1)
            timed = write(folder / f"{name}-timed.parquet", load, TIMED, load.timed_read_share, seed=2)
            made |= {name: trace_overrides(worn_in), f"static-timed.{name}": trace_overrides(timed)}
    return made


def _twin(name: str, requests: int, folder: Path) -> dict[str, Overrides]:
    """Return what some batches have in place of the smaller twin of ``paper.toml``."""
    whole = [("workload.thin", "1"), ("workload.requests", str(requests))]
    busy = smaller(name, SPACE, folder, as_busy=True)
    in_time = [("workload.thin", "1"), ("workload.twin", str(busy.file))]
    made: dict[str, Overrides] = {f"{batch}.{name}": whole for batch in WHOLE}
    return made | {f"full.{name}": [("workload.thin", str(SMALLER))]} | {f"{one}.{name}": in_time for one in IN_TIME}


def write(file: Path, load: Load, requests: int, read_share: float, seed: int) -> Path:
    """Write one-page requests with exponential gaps as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(seed)
    writer, begin_ns = None, 0.0
    for first in range(0, requests, PART):
        count = min(PART, requests - first)
        time_ns = begin_ns + np.cumsum(draw.exponential(1e9 / load.rate_per_s, count))
        begin_ns = time_ns[-1]
        reads = draw.random(count) < read_share
        page = np.where(reads, _read(draw, load, count), draw.integers(0, load.pages // 2, count))
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


def _read(draw: np.random.Generator, load: Load, count: int) -> np.ndarray:
    """Return the pages to read."""
    half = load.pages // 2
    stripes = draw.integers(0, half // load.stripe, count)
    return half + stripes * load.stripe + draw.integers(0, load.read, count)
