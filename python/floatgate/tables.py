"""Arrow tables as files: CSV or Parquet, by the name of the file."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.errors import input_error, quote
from floatgate.folder import replacing, write_text

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".csv", ".parquet")
EXPECTED = "a file for the table, .csv or .parquet"


def must_be_table_name(path: str, option: str) -> None:
    """Refuse a file whose name does not say what it is to be."""
    if Path(path).suffix not in SUFFIXES:
        raise input_error(f"{option} {quote(path)}: unknown kind of file; expected {EXPECTED}")


def write_table(table: pa.Table, target: Path) -> None:
    """Write a table whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    if target.suffix == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows([["" if value is None else value for value in row.values()] for row in table.to_pylist()])
        write_text(str(target), text.getvalue(), EXPECTED)
        return
    import pyarrow.parquet as pq

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary:
            pq.write_table(table, temporary, compression="zstd")
    except OSError as error:
        raise input_error(f"{target}: {error.strerror or error}; expected {EXPECTED}") from None
