"""Tables of plain text: aligned by spaces, never wrapped, the same in a pipe as on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from floatgate.errors import one_line


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Align ``rows`` under ``header``; a text of several lines, or with escapes, stays in its cell.

    Args:
        header: the names of the columns.
        rows: one text per column each.
        right: the columns to align at the right, counted from 0.
    """
    everything = [list(header), *([one_line(text) for text in row] for row in rows)]
    widths = [max(len(row[column]) for row in everything) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in everything)
