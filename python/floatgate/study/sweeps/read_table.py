"""Reads the flat table of a sweep and checks its columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import input_error, quote, quoted, reading
from floatgate.results.flat import CONTRACT
from floatgate.study.runs.rows import STATUSES, shown

if TYPE_CHECKING:
    import pyarrow as pa

_EXPECTED = "expected the table of a sweep"


def read_table(file: Path, keys: Sequence[str], planned: int) -> pa.Table:
    """Read a table.

    Args:
        file: ``sweep.parquet``.
        keys: the keys that vary.
        planned: how many runs the sweep has when it is complete.

    Raises:
        InputError: the file is damaged, or a column or a row is not that of a sweep.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(file, _EXPECTED), pq.ParquetFile(file) as parquet:
        table = parquet.read()
        table.validate(full=True)
    fixed = {"run": int, "status": str, "error": str, "config_hash": str}
    for name in (*fixed, "seed", *keys, *CONTRACT):
        count = table.column_names.count(name)
        if count != 1:
            raise input_error(f"{file}: has {count or 'no'} columns {quote(name)}; expected one, as in a sweep's table")
    for name, kind in {**{key: CONTRACT[key] for key in CONTRACT if key not in keys}, **fixed}.items():
        field = table.schema.field(name)
        if not _is_of(field.type, kind):
            raise input_error(f"{file}: {quote(name)} is a column of {field.type}; expected {kind.__name__}")
    _must_be_finite(file, table)
    with reading(file, _EXPECTED):
        runs, statuses = table["run"].to_pylist(), table["status"].to_pylist()
    for row, (run, status) in enumerate(zip(runs, statuses, strict=True), start=1):
        if run is None or not 0 <= run < planned:
            raise input_error(f"{file}: row {row}: 'run' is {shown(run)}; expected a number below {planned}")
        if status not in STATUSES:
            raise input_error(f"{file}: row {row}: 'status' is {shown(status)}; expected {quoted(list(STATUSES))}")
    if len(set(runs)) < len(runs):
        twice = next(run for run in runs if runs.count(run) > 1)
        raise input_error(f"{file}: run {twice} is there twice; expected each run once")
    assert isinstance(table, pa.Table)  # noqa: S101 - for mypy
    return table


def _is_of(type_: Any, kind: type) -> bool:
    import pyarrow as pa

    if kind is float:
        return bool(pa.types.is_float64(type_))
    if kind is int:
        return bool(pa.types.is_int64(type_) or pa.types.is_uint64(type_))
    return bool(pa.types.is_boolean(type_) if kind is bool else pa.types.is_string(type_))


def _must_be_finite(file: Path, table: pa.Table) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in table.column_names:
        if pa.types.is_floating(table.schema.field(name).type):
            # Null where there is no value.
            finite = pc.is_finite(table[name]).to_pylist()
            if False in finite:
                row = finite.index(False)
                value = table[name][row].as_py()
                raise input_error(f"{file}: row {row + 1}: {quote(name)} is {value}; expected a number or null")
