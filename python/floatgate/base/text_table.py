"""Tables of plain text: aligned by spaces, never wrapped, the same in a pipe as on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from floatgate.base.errors import one_line


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Align ``rows`` under ``header``; a text of several lines, or with escapes, stays in its cell.

    Args:
        header: the names of the columns.
        rows: one text per column each.
        right: the columns to align at the right, counted from 0.
    """
    return "\n".join(Columns(header, right=right).lines(rows))


def named(lines: Iterable[tuple[str, str]]) -> str:
    """Return lines of a name and a text each, the texts below one another."""
    return "\n".join(f"{name:<10} {one_line(text)}" for name, text in lines)


class Columns:
    """A table that comes in parts: each is aligned on its own, with columns at least as wide as before."""

    def __init__(self, header: Sequence[str], *, right: frozenset[int] = frozenset()) -> None:
        """Take the arguments of :func:`table`."""
        self._header: list[list[str]] = [[one_line(text) for text in header]]
        self._right = right
        self._widths = [0] * len(header)

    def lines(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """Return the lines of the next rows; the first time, the header stands above them."""
        part = [*self._header, *([one_line(text) for text in row] for row in rows)]
        self._header = []
        self._widths = [max([width, *(len(row[at]) for row in part)]) for at, width in enumerate(self._widths)]
        return [self._line(row) for row in part]

    def _line(self, row: Sequence[str]) -> str:
        cells = [
            text.rjust(width) if column in self._right else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, self._widths, strict=True))
        ]
        return "  ".join(cells).rstrip()
