"""What deduplication and compression in a drive would save on files (``docs/content.md``)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from floatgate import _core

if TYPE_CHECKING:
    from floatgate._core import Progress

SCHEMA = "floatgate.content/1"
PAGES_MIN = 1000
"""Minimum of pages that represent a drive's content."""
LEAD_CHUNK_PAGES = 4
"""The chunk of the headline ratio: the default of drives."""

# Energy beside that of programming a page (600 us at 48.5 mW): compressing 4 KiB (64 us at 60 mW), hashing it (8.6 us
# at 49 mW). Savings must exceed that to be worthwhile.
_PROGRAM_UJ = 600 * 48.5e-3
COMPRESSION_COST = 64 * 60e-3 / _PROGRAM_UJ
DEDUP_COST = 8.6 * 49e-3 / _PROGRAM_UJ


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        zstd_level: level of zstd, 1 to 22.
        chunks: sizes of chunks in pages, 1 to 64.
        sample_share: share of the chunks that are also compressed as one piece.
        seed: of the choice of these chunks.
    """

    zstd_level: int = 1
    chunks: tuple[int, ...] = (1, 2, 4, 8)
    sample_share: float = 1 / 64
    seed: int = 1


@dataclass(frozen=True)
class Pages:
    """The facts of each page, file after file: columns as the core returns them."""

    fingerprints: bytes
    lz4_bytes: bytes
    file_pages: bytes


def measure(
    paths: Sequence[str | os.PathLike[str]], settings: Settings | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Measure all regular files below some paths.

    Args:
        paths: files and folders.
        settings: of the analysis; None for the defaults.
        progress: called now and then with ``(bytes, total, phase)``.

    Returns:
        The JSON of ``floatgate content`` (``docs/content.md``).

    Raises:
        InputError: a path cannot be read, there is no data, or a setting cannot be.
    """
    return measured(paths, settings or Settings(), progress)[0]


def measured(
    paths: Sequence[str | os.PathLike[str]],
    settings: Settings,
    progress: Progress | None = None,
    *,
    keep_pages: bool = False,
) -> tuple[dict[str, Any], Pages | None]:
    """Return it as :func:`measure`, with the pages where they are to be kept."""
    text, columns = _core.content_measure(
        [os.fspath(path) for path in paths],
        progress,
        zstd_level=settings.zstd_level,
        chunks=sorted(settings.chunks),
        sample_share=settings.sample_share,
        seed=settings.seed,
        keep_pages=keep_pages,
    )
    figures: dict[str, Any] = json.loads(text)
    facts = {
        "schema": SCHEMA,
        "version": _core.__version__,
        "settings": {**asdict(settings), "chunks": sorted(settings.chunks)},
        **figures,
        "too_little_data": figures["pages"] < PAGES_MIN,
    }
    facts["lead"] = lead(facts)
    return facts, None if columns is None else Pages(*columns)


def lead(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the figures to act on: the better codec with chunks of the default size, and what pays.

    Something pays where it saves more energy for programming than it takes itself.
    """
    sizes = facts["settings"]["chunks"]
    size = LEAD_CHUNK_PAGES if LEAD_CHUNK_PAGES in sizes else sizes[-1]
    rows = [(codec, row) for codec in facts["codecs"] for row in codec["chunks"] if row["chunk_pages"] == size]
    codec, row = min(rows, key=lambda one: one[1]["dedup_compression"]["written_ratio"])
    compression, dedup = row["compression"]["written_ratio"], facts["dedup_written_ratio"]
    return {
        "codec": codec["codec"],
        "chunk_pages": size,
        "compression_written_ratio": compression,
        "dedup_written_ratio": dedup,
        "dedup_compression_written_ratio": row["dedup_compression"]["written_ratio"],
        "compression_pays": compression + COMPRESSION_COST < 1,
        "dedup_pays": dedup + DEDUP_COST < 1,
    }


def unreadable_note(facts: dict[str, Any], most: int = 5) -> str | None:
    """Return what could not be read, for a warning; the first ones by name."""
    unreadable = facts["unreadable"]
    count = unreadable["count"]
    if not count:
        return None
    named = [f"{path} ({reason})" for path, reason in unreadable["named"][:most]]
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return f"{count} {'name' if count == 1 else 'names'} could not be read: {', '.join(named)}{more}"
