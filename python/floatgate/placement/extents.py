"""Stand-ins for files in recordings that do not name them.

The recorder lays files out in extents of 1 MiB, each of one file from its first write until the file is deleted or cut
(``recorder/layout.py``). So an extent, from its first write until all its data are trimmed, is a piece of one file. Two
pieces that one request spans belong to the same file, since requests never cross files. Extents of one file that no
request spans count as separate files. These keys are therefore finer than files, never coarser; the exception is a file
that was deleted before any of it reached the drive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from floatgate.trace.recorder.layout import EXTENT_PAGES, PAGE_BYTES


def stand_ins(table: Any) -> tuple[Any, list[int]]:
    """Return for each row the number of its file, as far as it is known, and the extent in which each file begins.

    Args:
        table: with ``op``, ``offset`` and ``bytes``.
    """
    op = np.asarray(table["op"].combine_chunks().cast("string"))
    offset, length = (np.asarray(table[name], dtype=np.int64) for name in ("offset", "bytes"))
    first, end = (offset // PAGE_BYTES).tolist(), (-(-(offset + length) // PAGE_BYTES)).tolist()
    live: dict[int, set[int]] = {}
    piece_in: dict[int, int] = {}
    begins: list[int] = []
    joined: list[int] = []
    of_row: list[int] = []

    def root(piece: int) -> int:
        while joined[piece] != piece:
            joined[piece] = joined[joined[piece]]
            piece = joined[piece]
        return piece

    for kind, low, high in zip(op.tolist(), first, end, strict=True):
        extents = range(low // EXTENT_PAGES, max(low, high - 1) // EXTENT_PAGES + 1)
        if kind == "write":
            for extent in extents:
                if not live.get(extent):
                    live[extent] = set()
                    piece_in[extent] = len(joined)
                    joined.append(len(joined))
                    begins.append(extent)
                live[extent].update(range(max(low, extent * EXTENT_PAGES), min(high, (extent + 1) * EXTENT_PAGES)))
            pieces = sorted(root(piece_in[extent]) for extent in extents)
            for piece in pieces:
                joined[piece] = pieces[0]
        of_row.append(piece_in.get(extents[0], -1))
        if kind == "trim":
            for extent in (one for one in extents if one in live):
                start = extent * EXTENT_PAGES
                live[extent].difference_update(range(max(low, start), min(high, start + EXTENT_PAGES)))
    roots = np.array([root(piece) for piece in range(len(joined))], dtype=np.int64)
    known = np.unique(roots)
    rows = np.array(of_row, dtype=np.int64)
    number = np.searchsorted(known, roots[np.maximum(rows, 0)]) if len(known) else rows
    return np.where(rows >= 0, number, -1), [begins[int(one)] for one in known]
