"""Which addresses the twins read, and when."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floatgate import _core
from floatgate.papers.read_twins import of, smaller

PAGE_BYTES = 8192
SMALLER = 16
"""By how much a twin is made smaller here; ``multi`` is small."""


@cache
def reads(name: str) -> Any:
    """Return a pass over a twin, made smaller: first page and pages of each read, in their order."""
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        making: _core.Making = (of(smaller(name, 1 if name == "multi" else SMALLER, Path(folder))), None, 1, {})
        batches = [_columns(batch) for batch in _core.generate_batches(making)]
    return np.concatenate(batches, axis=1)


def _columns(batch: dict[str, bytes]) -> Any:
    op = np.frombuffer(batch["op"], np.uint8)
    offset, length = (np.frombuffer(batch[name], np.uint64) for name in ("offset", "bytes"))
    first, last = offset // PAGE_BYTES, (offset + length - 1) // PAGE_BYTES
    return np.stack([first, last - first + 1])[:, op == 0].astype(np.int64)


@cache
def busiest(name: str, share: float = 0.1) -> float:
    """Return the share of a pass's page reads that goes to the most read pages, ``share`` of all pages read."""
    first, pages = reads(name)
    begins = np.repeat(first - np.cumsum(pages) + pages, pages)
    counts = np.bincount(begins + np.arange(pages.sum()))
    counts = np.sort(counts[counts > 0])[::-1]
    return float(counts[: int(share * len(counts))].sum() / counts.sum())
