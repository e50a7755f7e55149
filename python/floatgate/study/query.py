"""SQL over results: DuckDB on the Parquet of sweeps and on the flattened results of run folders.

The views are ``runs`` (one row per run, columns named by key as in ``sweep.parquet``, with ``folder`` and ``kind``),
``sweep`` (those of sweeps alone) and ``series`` (the series of run folders, with ``folder``). A query reads the named
results and nothing else, unless it may read and write files.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from floatgate.base import unfinished_files
from floatgate.base.arguments import Whole, checked
from floatgate.base.errors import FloatgateError, RunError, input_error, one_line
from floatgate.base.memory import free_bytes
from floatgate.base.units import binary_bytes
from floatgate.study.kinds import folders as result_folders
from floatgate.study.query_stream import Batches, interruptible
from floatgate.study.query_views import register, sql_text

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

VIEWS = ("runs", "sweep", "series")
Memory = Annotated[int, Whole(1 << 20)]
ROWS_PER_BATCH = 8192
_MEMORY_MIN = 64 << 20
_ONLY_READ = {"SELECT", "EXPLAIN", "MULTI"}
"""Statements that change nothing; MULTI is a PIVOT, which first collects the columns."""
_EXPLAIN = re.compile(r"\s*explain\b\s*(?:analyze\b\s*)?(?:\(\s*(?:analyze|format)\b[\w\s,]*\)\s*)?", re.IGNORECASE)
_LESS = "expected a larger --memory, or a query that keeps less"
_MAY_READ = (
    "the query may read the named results alone; expected a SELECT over them, or --allow-files (allow_files=True)"
)


@checked
def query(
    folders: Sequence[str | os.PathLike[str]], sql: str, *, memory: Memory | None = None, allow_files: bool = False
) -> pa.Table:
    """Query results with SQL.

    Args:
        folders: run folders, sweeps, comparisons, or folders that hold such.
        sql: one query of DuckDB over the views ``runs``, ``sweep`` and ``series``.
        memory: bytes for the query, and as many again for the answer. Default: half of the free memory.
            Beyond that, DuckDB sorts and joins in temporary files.
        allow_files: whether the SQL may read and write other files, attach databases and load extensions.

    Returns:
        The answer as an Arrow table.

    Raises:
        InputError: a folder holds no results, the query is invalid, or it accesses other files.
        RunError: the query or its answer needs more memory.
    """
    import pyarrow as pa

    limit = _default_memory() if memory is None else memory
    with answering(folders, sql, memory=limit, allow_files=allow_files) as answer:
        batches, size = [], 0
        for batch in answer:
            batches.append(batch)
            size += batch.nbytes
            if size > limit:
                raise RunError(
                    f"SQL: the answer takes more than {binary_bytes(limit)} of memory; expected fewer rows, "
                    "a larger memory, or floatgate query --out FILE"
                )
        return pa.Table.from_batches(batches, answer.schema)


@contextlib.contextmanager
def answering(
    folders: Sequence[str | os.PathLike[str]],
    sql: str,
    *,
    memory: int | None = None,
    allow_files: bool = False,
    rows_per_batch: int = ROWS_PER_BATCH,
) -> Iterator[Batches]:
    """Run a query as :func:`query` does and yield its answer batch by batch; an exception in the block ends it.

    Raises:
        InputError: as :func:`query` does.
        RunError: the query needs more memory.
    """
    import duckdb

    find = result_folders.find(folders)
    limit = _default_memory() if memory is None else memory
    scratch = unfinished_files.folder_in(Path(tempfile.gettempdir()))
    try:
        connection = duckdb.connect(
            config={"memory_limit": f"{limit >> 10}KiB", "temp_directory": str(scratch / "spill")}
        )
        try:
            # DuckDB would take variables of Python, ours and the caller's, for tables.
            connection.execute("set python_enable_replacements = false")
            connection.execute("set enable_progress_bar = false")  # a bar would go to stdout
            files = register(connection, find, scratch)
            if not allow_files:
                _close(connection, files)
                _must_only_read(connection, sql)
            with interruptible(connection, sql, rows_per_batch) as batches:
                yield batches
        except duckdb.Error as error:
            raise _failed(connection, error, limit) from None
        finally:
            connection.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _close(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    """Switch off all access beyond the named results, for good."""
    allowed = ", ".join(sql_text(file) for file in files)
    for setting in (
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "allow_community_extensions = false",
        f"allowed_paths = [{allowed}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"set {setting}")


def _must_only_read(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse statements that change data: to DuckDB every readable file is writable, too.

    Raises:
        InputError: it is no query, or not one.
    """
    statements = connection.extract_statements(sql)
    if not statements:
        raise _no_rows()
    texts = {statement.query for statement in statements}
    if len(texts) > 1:
        raise input_error(f"SQL: {len(statements)} statements; expected one SELECT")
    for statement in statements:
        kind = statement.type.name
        if kind not in _ONLY_READ and texts != {""}:  # older versions split a PIVOT into statements without text
            raise input_error(f"SQL: is {kind}; {_MAY_READ}")
        if kind == "EXPLAIN":
            # EXPLAIN ANALYZE runs the statement.
            explained = _EXPLAIN.sub("", statement.query, count=1)
            if explained == statement.query:
                raise input_error("SQL: EXPLAIN after a comment; expected EXPLAIN at the beginning")
            _must_only_read(connection, explained)


def _no_rows() -> FloatgateError:
    return input_error("SQL: the query gives no rows; expected a SELECT")


def _failed(connection: duckdb.DuckDBPyConnection, error: Exception, limit: int) -> FloatgateError:
    """Return the error for what DuckDB says, with the views that the query may use."""
    import duckdb

    text = one_line(str(error).strip().split("\n\nLINE", 1)[0].replace("\n", " "))
    if isinstance(error, duckdb.OutOfMemoryException) or text.startswith("Out of Memory Error"):
        return RunError(f"SQL: more than {binary_bytes(limit)} of memory or its temporary files ({text}); {_LESS}")
    if isinstance(error, duckdb.PermissionException) or text.startswith("Permission Error"):
        return input_error(f"SQL: {text}; {_MAY_READ}")
    names = connection.execute("select view_name from duckdb_views() where not internal").fetchall()
    views = ", ".join(sorted({name for (name,) in names} & set(VIEWS)))
    keys = 'columns are named by key and stand in double quotes, such as "ftl.spare_factor"'
    return input_error(f"SQL: {text}; expected a query over {views} ({keys})")


def _default_memory() -> int:
    """Return half of the free memory."""
    return max(free_bytes() // 2, _MEMORY_MIN)
