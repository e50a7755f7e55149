"""``floatgate query`` and ``floatgate ls``: look at results."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.base.errors import input_error, meant, quote
from floatgate.base.text_table import Columns, table
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import DEFAULT_ROOT, must_be_new_file
from floatgate.results.table_files import EXPECTED, must_be_table_name, table_writer
from floatgate.study.kinds import KINDS
from floatgate.study.kinds import folders as result_folders

if TYPE_CHECKING:
    import pyarrow as pa

    from floatgate.study.query_stream import Batches

ROWS_SHOWN = 50
ROWS_COUNTED = 1_000_000
"""Rows beyond the printed ones that are counted; counting more is not worth their computation."""
ROWS_ALIGNED = 10_000
"""Rows per printed part."""
ROWS_PER_GROUP = 122_880
"""Rows of a row group of Parquet."""
MEMORY_MIN = 1 << 20
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory limit of the query, such as 4GiB; beyond it, temporary files (TMPDIR). "
        "Default: half of the free memory.",
    ),
]
AllowFiles = Annotated[
    bool,
    typer.Option(
        "--allow-files",
        help="Let the SQL read and write any file, attach databases and load extensions. Default: it reads the "
        "named results alone.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("query")(query)
    app.command("ls")(list_runs)


def query(
    arguments: Annotated[
        list[str], typer.Argument(metavar='RUNS... "SQL"', help="Folders with results, then the query.")
    ],
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the answer to FILE, as CSV or Parquet according to its extension."),
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Rows that are printed.")] = ROWS_SHOWN,
    memory: Memory = None,
    allow_files: AllowFiles = False,
    force: o.Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Query run folders, sweeps and comparisons with SQL (DuckDB).

    Views: runs (one row per run, with folder and kind), sweep (the runs of sweeps) and series (figures over time,
    from series.parquet of each run). Columns are named by key and need double quotes where there is a dot:
    "ftl.spare_factor".
    """
    from floatgate.study.query import ROWS_PER_BATCH, answering

    output = Output(json, quiet=quiet, force=force)
    *folders, sql = arguments
    if not folders:
        what = f"floatgate query: {quote(sql)} is the only argument"
        raise input_error(
            f'{what}; expected folders with results and then the query: floatgate query runs "select ..."'
        )
    limit = o.size_bytes(memory, "--memory")
    if limit is not None and limit < MEMORY_MIN:
        raise input_error(f"--memory {quote(memory)}: too small; expected at least 1MiB")
    if out is not None:
        must_be_table_name(out, "--out")
        must_be_new_file(out, EXPECTED, force=force)
    size = ROWS_PER_BATCH if out is None or out.endswith(".csv") else ROWS_PER_GROUP
    with answering(folders, sql, memory=limit, allow_files=allow_files, rows_per_batch=size) as answer:
        _deliver(answer, rows, output, out)


def _deliver(answer: Batches, rows: int, output: Output, out: str | None) -> None:
    """Write the answer to its file or to standard output, one batch at a time."""
    shown = None if output.wants_json or output.quiet else _Shown(answer.schema, rows, output)
    file = nullcontext(_nowhere) if out is None else table_writer(answer.schema, Path(out))
    names = answer.schema.names
    with file as write, output.giving() as give:
        for batch in answer:
            write(batch)
            if output.wants_json:
                columns = [column.to_pylist() for column in batch.columns]
                give(dict(zip(names, map(as_json, row), strict=True)) for row in zip(*columns, strict=True))
            elif shown is not None:
                shown.add(batch)
                if out is None and shown.is_enough:
                    break
            elif out is None:
                break
    if shown is not None:
        shown.end()


def _nowhere(_batch: pa.RecordBatch) -> None:
    pass


class _Shown:
    """The first rows of an answer as plain text, and how many more there are."""

    def __init__(self, schema: pa.Schema, most: int, output: Output) -> None:
        self._most, self._output = most, output
        self._count = 0
        self._cells: list[list[str]] = []
        kinds = ("int", "uint", "double", "float", "decimal")
        numbers = frozenset(place for place, field in enumerate(schema) if str(field.type).startswith(kinds))
        self._columns = Columns(schema.names, right=numbers)
        self._pending_header = True

    @property
    def is_enough(self) -> bool:
        """Whether more rows need not be counted."""
        return self._count > self._most + ROWS_COUNTED

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows."""
        first = batch.slice(0, max(0, self._most - self._count))
        self._count += batch.num_rows
        self._cells += [list(map(_cell, row)) for row in zip(*(c.to_pylist() for c in first.columns), strict=True)]
        if len(self._cells) >= ROWS_ALIGNED:
            self._print()

    def end(self) -> None:
        """Print the remaining rows."""
        if self._cells or self._pending_header:
            self._print()
        more = self._count - self._most
        if more > 0:
            count = f"more than {ROWS_COUNTED:,}" if self.is_enough else f"{more:,}"
            self._output.say(f"... and {count} more rows (--rows N, --out FILE.csv)")

    def _print(self) -> None:
        self._output.say("\n".join(self._columns.lines(self._cells)))
        self._cells, self._pending_header = [], False


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_json(value: Any) -> Any:
    """Return a value of Arrow as JSON has it: whole decimals as numbers, times as text, bytes as hexadecimal digits."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def list_runs(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="DIR...", help="Where to look. Default: runs.", show_default=False)
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"Only results of a kind: {', '.join(KINDS)}.")
    ] = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """List results: run folders, sweeps, comparisons and forecasts, each with what it found."""
    output = Output(json, quiet=quiet, force=None)
    if kind is not None and kind not in KINDS:
        raise input_error(f"--kind {quote(kind)}: unknown kind; {meant(kind, KINDS)}")
    matching = [one for one in result_folders.find(folders or [DEFAULT_ROOT]) if kind in (None, one.kind.name)]
    entries = [result_folders.overview(one) for one in matching]
    output.give(entries)
    if output.prints_json:
        return
    header = ["folder", "kind", "what", "WAF", "life"]
    output.say(table(header, [[str(entry[name] or "-") for name in header] for entry in entries]))
