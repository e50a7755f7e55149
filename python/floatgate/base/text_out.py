r"""CSV that leaves floatgate: safe on a terminal and in a spreadsheet, the same wherever it goes.

Names come from users and from recorded programs. A terminal would take some characters for commands: they are written
as escapes (``\x1b``), line breaks too, hence each record is one line. A spreadsheet would run some texts as formulas:
they get an apostrophe in front, which it does not show. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol

from floatgate.base.errors import escaped

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""First characters of cells that spreadsheets compute; the last four are the wide forms of the first."""


class _File(Protocol):
    def write(self, text: str, /) -> Any: ...


class CsvWriter:
    """A writer of CSV records to a text file."""

    def __init__(self, file: _File) -> None:
        """Write to ``file``, which is opened with ``newline=""``."""
        self._writer = csv.writer(file, lineterminator="\n")

    def row(self, values: Iterable[Any]) -> None:
        """Write one record; None is an empty cell."""
        self._writer.writerow([csv_cell(value) for value in values])

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write records."""
        for row in rows:
            self.row(row)


def csv_cell(value: Any) -> Any:
    """Return what stands in a cell: numbers as they are, everything else as text that nothing takes for a command."""
    if value is None:
        return ""
    if isinstance(value, (numbers.Number, Decimal)):
        return value
    text = value.hex() if isinstance(value, bytes) else str(value)
    return f"'{escaped(text)}" if text.startswith(_FORMULA) else escaped(text)
