"""How the reads of a recorded trace are distributed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.trace.metadata import described

PAGE_BYTES = 4096


@dataclass(frozen=True)
class ReadCounts:
    """The counts of a trace.

    Attributes:
        metadata: the JSON of the file's key ``floatgate``.
        requests: rows.
        reads: rows that read.
        pages: page reads of 4 KiB.
        distinct_pages: pages of the drive that were read.
        busiest_tenth: share in the page reads of the tenth of these pages that is read most.
    """

    metadata: dict[str, Any]
    requests: int
    reads: int
    pages: int
    distinct_pages: int
    busiest_tenth: float


def read(path: Path) -> ReadCounts:
    """Count a recorded trace."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    rows = file.read(columns=["op", "offset", "bytes"]).to_pydict()
    by_page: Counter[int] = Counter()
    reads = 0
    for op, offset, length in zip(rows["op"], rows["offset"], rows["bytes"], strict=True):
        if op == "read":
            reads += 1
            by_page.update(range(offset // PAGE_BYTES, (offset + length - 1) // PAGE_BYTES + 1))
    tenth = -(-len(by_page) // 10)
    most = sum(count for _, count in by_page.most_common(tenth))
    return ReadCounts(
        metadata=described(file.metadata.metadata, path),
        requests=len(rows["op"]),
        reads=reads,
        pages=by_page.total(),
        distinct_pages=len(by_page),
        busiest_tenth=most / max(1, by_page.total()),
    )
