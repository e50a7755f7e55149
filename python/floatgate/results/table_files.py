"""Arrow tables as files: CSV or Parquet, by the name of the file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.base.errors import input_error, quote
from floatgate.base.text_out import CsvWriter
from floatgate.results.folder import written

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
    with table_writer(table.schema, target) as write:
        for batch in table.to_batches():
            write(batch)


@contextlib.contextmanager
def table_writer(schema: pa.Schema, target: Path) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Write a table batch by batch; the file appears when the block ends well.

    Raises:
        InputError: it cannot be written.
    """
    with written(str(target), EXPECTED) as place:
        if target.suffix == ".csv":
            with place.open("w", encoding="utf-8", newline="") as file:
                out = CsvWriter(file)
                out.row(schema.names)
                yield lambda batch: out.rows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetWriter(place, schema, compression="zstd") as parquet:
                yield parquet.write_batch
        except pa.ArrowNotImplementedError as error:
            raise input_error(f"{target}: {error}; expected a query whose columns Parquet can hold, or .csv") from None
