"""Recorded traces as the papers on data separation use them: dense addresses, and no deletions.

The dissertation's traces come from ``strace`` and an LRU page cache (section 6.3): a drive of twice the working set
sees page writes with their contexts, and receives no deletions of files. The recorder's drive is sparse (each file has
extents of 1 MiB) and receives them. So pages are numbered anew in the order of their addresses, with no gaps, and TRIMs
are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error

PAGE_BYTES = 4096
DESCRIBED = b"floatgate"
"""The file's key under which contexts are described."""


CLUSTER_PAGES = 16
"""Pages that :func:`scattered` leaves together: those of a page cache's usual write-back (64 KiB)."""


@dataclass(frozen=True)
class Dense:
    """A trace whose pages are numbered without gaps.

    Attributes:
        file: Parquet, of the layout of ``floatgate trace record``.
        page_writes: of 4 KiB.
        distinct_pages: written.
        rows: the rows of the source that the file has, in order; None if the caller does not need them.
    """

    file: Path
    page_writes: int
    distinct_pages: int
    rows: Any = None

    def must_have(self, pages: int, source: Path, drive: str) -> None:
        """Refuse a trace that is too small for its drive.

        Args:
            pages: that it has to write at least.
            source: what messages call it.
            drive: the reason for this minimum.

        Raises:
            InputError: it writes fewer.
        """
        if self.distinct_pages < pages:
            raise input_error(
                f"{source}: writes {self.distinct_pages:,} different pages of 4 KiB; expected at least {pages:,}, "
                f"that is a longer trace or one of a larger program: {drive}"
            )


def dense(source: Path, target: Path, *, trims: bool = False, contexts: bool = True) -> Dense:
    """Write the writes of a recorded trace to ``target``, with dense pages; optionally its TRIMs of them, too.

    Args:
        source: the trace.
        target: the new one.
        trims: whether TRIMs are kept, too.
        contexts: whether the trace must have some.

    Raises:
        InputError: the trace is no Parquet file with contexts, or writes nothing.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = "expected a trace that 'floatgate trace record' wrote"
    if not source.is_file():
        raise input_error(f"{source}: {'is not a file' if source.exists() else 'no such file'}; {expected}")
    try:
        table = pq.read_table(source)
        described = (pq.read_metadata(source).metadata or {}).get(DESCRIBED)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise input_error(f"{source}: {reason}; {expected}") from None
    if contexts and "context" not in table.schema.names:
        raise input_error(f"{source}: no column 'context'; {expected}")
    if contexts and not np.any(table["context"].combine_chunks().fill_null(0)):
        raise input_error(f"{source}: no write has a context; {expected}")
    written = np.asarray(table["op"].combine_chunks().cast("string")) == "write"
    if not written.any():
        raise input_error(f"{source}: no writes; expected a trace that writes")
    offsets, lengths = (np.asarray(table[name], dtype=np.int64) for name in ("offset", "bytes"))
    first, end = offsets // PAGE_BYTES, -(-(offsets + lengths) // PAGE_BYTES)
    pages = np.unique(pages_of(first[written], end[written])[1])
    moved = np.searchsorted(pages, first) * PAGE_BYTES + offsets % PAGE_BYTES
    # A TRIM is of the written pages in its range, which lie together now.
    whole = np.searchsorted(pages, -(-offsets // PAGE_BYTES)), np.searchsorted(pages, (offsets + lengths) // PAGE_BYTES)
    trimmed = (np.asarray(table["op"].combine_chunks().cast("string")) == "trim") & (whole[1] > whole[0])
    moved = np.where(trimmed, whole[0] * PAGE_BYTES, moved)
    new_lengths = np.where(trimmed, (whole[1] - whole[0]) * PAGE_BYTES, lengths)
    for name, values in (("offset", moved), ("bytes", new_lengths)):
        place = table.schema.get_field_index(name)
        table = table.set_column(
            place, table.schema.field(place), pa.array(values, type=table.schema.field(place).type)
        )
    kept = written | trimmed if trims else written
    table = table.filter(pa.array(kept))
    if described is not None:
        table = table.replace_schema_metadata({DESCRIBED: described})
    pq.write_table(table, target, compression="zstd")
    return Dense(target, int((end - first)[written].sum()), len(pages), np.flatnonzero(kept))


def pages_of(first: Any, end: Any) -> tuple[Any, Any]:
    """List the pages of requests in their order, as the number of the request and the page.

    Args:
        first: first page of each request.
        end: the page behind its last one.
    """
    import numpy as np

    count = end - first
    request = np.repeat(np.arange(len(first)), count)
    return request, np.arange(len(request)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)


def scattered(trace: Dense, target: Path, drive_pages: int, seed: int, cluster_pages: int = CLUSTER_PAGES) -> Path:
    """Write a dense trace to ``target`` with its pages all over a drive, as files lie on a drive that has been used.

    Pages stay together in clusters; where each cluster lies, chance decides. So the trace replaces pages of a drive
    that was filled before, some in many of its blocks. A request goes as one for each cluster that it touches.

    Args:
        trace: from :func:`dense`.
        target: Parquet, of the same columns.
        drive_pages: of 4 KiB, that the host sees.
        seed: of the places.
        cluster_pages: that stay together.

    Raises:
        InputError: the trace has more clusters than the drive.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed, places = -(-trace.distinct_pages // cluster_pages), drive_pages // cluster_pages
    if needed > places:
        raise input_error(
            f"{trace.file}: has {needed:,} clusters of {cluster_pages} pages, and the drive room for {places:,}; "
            "expected a larger drive"
        )
    table = pq.read_table(trace.file)
    offsets, sizes = (np.asarray(table[name], dtype=np.int64) for name in ("offset", "bytes"))
    request, page = pages_of(offsets // PAGE_BYTES, -(-(offsets + sizes) // PAGE_BYTES))
    place = np.random.default_rng(seed).permutation(places)[:needed]
    page = place[page // cluster_pages] * cluster_pages + page % cluster_pages
    begins = np.ones(len(page), dtype=bool)
    begins[1:] = (request[1:] != request[:-1]) | (page[1:] != page[:-1] + 1)
    begin = np.flatnonzero(begins)
    lengths = np.diff(np.append(begin, len(page)))
    described = table.schema.metadata
    table = table.take(pa.array(request[begin]))
    for name, values in (("offset", page[begin] * PAGE_BYTES), ("bytes", lengths * PAGE_BYTES)):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), pa.array(values, type=table.schema.field(at).type))
    pq.write_table(table.replace_schema_metadata(described), target, compression="zstd")
    return target
