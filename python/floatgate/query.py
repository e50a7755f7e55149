"""SQL over results: DuckDB on the Parquet of sweeps and on the flattened results of run folders.

The views are ``runs`` (one row a run, columns named by key as in ``sweep.parquet``, with ``folder`` and ``kind``),
``sweep`` (those of sweeps alone) and ``series`` (the series of run folders, with ``folder``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from floatgate import runs
from floatgate.arguments import checked
from floatgate.errors import InputError, input_error, one_line
from floatgate.sweeps.columns import types_of, written
from floatgate.sweeps.journal import TABLE

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

VIEWS = ("runs", "sweep", "series")


@checked
def query(folders: Sequence[str | os.PathLike[str]], sql: str) -> pa.Table:
    """Ask results by SQL.

    Args:
        folders: run folders, sweeps, comparisons, or folders that hold such.
        sql: a query of DuckDB over the views ``runs``, ``sweep`` and ``series``.

    Returns:
        The answer as an Arrow table.

    Raises:
        InputError: a folder holds no results, or the query cannot be understood.
    """
    import duckdb

    found = runs.found(folders)
    connection = duckdb.connect()
    try:
        try:
            _register(connection, found)
            answer = connection.sql(sql)
            if answer is None:
                raise input_error("SQL: the query gives no rows; expected a SELECT")
            return answer.to_arrow_table()
        except duckdb.Error as error:
            raise _not_understood(connection, error) from None
    finally:
        connection.close()


def _register(connection: duckdb.DuckDBPyConnection, found: Sequence[runs.Found]) -> None:
    """Make the views."""
    sweeps = [str(one.path / TABLE) for one in found if one.kind in ("sweep", "tune") and (one.path / TABLE).is_file()]
    rows = [row for one in found if one.kind not in ("sweep", "tune") for row in runs.rows(one)]
    parts = []
    if sweeps:
        files = ", ".join(_quoted(file) for file in sweeps)
        folder = "regexp_replace(filename, '/[^/]*$', '') as folder"
        connection.execute(
            f"create view sweep as select {folder}, 'sweep' as kind, * exclude (filename) "  # noqa: S608 - our own
            f"from read_parquet([{files}], union_by_name = true, filename = true)"
        )
        parts.append("select * from sweep")
    if rows:
        connection.register("single", _arrow(rows))
        parts.append("select * from single")
    if parts:
        connection.execute(f"create view runs as {' union all by name '.join(parts)}")
    series = [str(file) for one in found for file in sorted(one.path.glob("**/series.parquet"))]
    if series:
        files = ", ".join(map(_quoted, series))
        connection.execute(
            "create view series as select regexp_replace(filename, '/[^/]*$', '') as folder, "  # noqa: S608
            f"* exclude (filename) from read_parquet([{files}], union_by_name = true, filename = true)"
        )


def _arrow(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return written(rows, pa.schema(types_of(rows)))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _not_understood(connection: duckdb.DuckDBPyConnection, error: Exception) -> InputError:
    """What is wrong with a query, with the columns that there are where one of them is not."""
    said = one_line(str(error).strip().split("\n\nLINE", 1)[0].replace("\n", " "))
    views = [
        name for (name,) in connection.execute("select view_name from duckdb_views() where not internal").fetchall()
    ]
    keys = 'columns are named by key and stand in double quotes, such as "ftl.spare_factor"'
    return input_error(f"SQL: {said}; expected a query over {', '.join(sorted(set(views) & set(VIEWS)))} ({keys})")
