"""How much a recorded trace leaves to separate: rewrites of pages, and runs in which replaced and lasting pages mix.

A drive that separates nothing fills its blocks with page writes in their order. A block whose pages are all replaced
costs nothing to erase, one whose pages all stay is not erased; what separation can gain lies in runs of both kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from floatgate.trace.metadata import described

PAGE_BYTES = 4096
RUN_PAGES = 128
"""Pages of a block in the dissertation (sections 5.4 and 6.3)."""
LOW, HIGH = 0.05, 0.95
TOP = 3


@dataclass(frozen=True)
class MixedRuns:
    """The counts of a trace.

    Attributes:
        pages: page writes of 4 KiB.
        distinct_pages: pages of the drive that were written.
        runs: whole runs of 128 consecutive page writes; a shorter rest does not count.
        mixed: runs of which 5 to 95 % are replaced later in the trace.
        contexts: page writes by the name of their context, the most first; contexts of one name count apart.
    """

    pages: int
    distinct_pages: int
    runs: int
    mixed: int
    contexts: Sequence[tuple[str, int]]

    @property
    def writes_per_page(self) -> float | None:
        """Page writes for each distinct page; None where nothing is written."""
        return self.pages / self.distinct_pages if self.pages else None

    @property
    def mixed_share(self) -> float | None:
        """Share of the runs that are mixed; None where there is no whole run."""
        return self.mixed / self.runs if self.runs else None


def replaced_later(pages: Sequence[int]) -> list[bool]:
    """Return for each page write whether the same page is written again later; a TRIM does not count."""
    last = {page: place for place, page in enumerate(pages)}
    return [last[page] != place for place, page in enumerate(pages)]


def mixed_runs(replaced: Sequence[bool], run_pages: int = RUN_PAGES) -> tuple[int, int]:
    """Count the whole runs that follow each other without overlap, and how many of them are mixed."""
    shares = [
        sum(replaced[start : start + run_pages]) / run_pages
        for start in range(0, len(replaced) - run_pages + 1, run_pages)
    ]
    return len(shares), sum(LOW <= share <= HIGH for share in shares)


def read(path: str | Path) -> MixedRuns:
    """Count a trace as ``floatgate trace record`` writes it."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    names = described(file.metadata.metadata, path).get("contexts", {})
    pages: list[int] = []
    contexts: Counter[int | None] = Counter()
    for batch in file.iter_batches(columns=["op", "offset", "bytes", "context"]):
        columns = (batch.column(name).to_pylist() for name in ("op", "offset", "bytes", "context"))
        for op, offset, length, context in zip(*columns, strict=True):
            if op == "write":
                written = range(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES))
                pages.extend(written)
                contexts[context] += len(written)
    runs, mixed = mixed_runs(replaced_later(pages))
    named = [
        (str(names.get(str(context), {}).get("name", "(no stack)")), count) for context, count in contexts.most_common()
    ]
    return MixedRuns(len(pages), len(set(pages)), runs, mixed, named)
