"""``floatgate query`` and ``floatgate ls``: look at results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate import runs, summary_of_folder
from floatgate.cli import options as o
from floatgate.cli.output import Output, must_be_new_file
from floatgate.errors import input_error, quote, quoted
from floatgate.folder import DEFAULT_ROOT
from floatgate.tables import EXPECTED, must_be_table_name, write_table
from floatgate.text_table import table

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_SHOWN = 50


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("query")(query)
    app.command("ls")(list_runs)


def query(
    arguments: Annotated[
        list[str], typer.Argument(metavar='RUNS... "SQL"', help="Folders with results, then the query.")
    ],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the answer to FILE, by its name as CSV or Parquet.")
    ] = None,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="Rows that are printed.")] = ROWS_SHOWN,
    force: o.Force = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Ask run folders, sweeps and comparisons by SQL (DuckDB).

    Views: runs (one row per run, with folder and kind), sweep (the runs of sweeps) and series (the series of run
    folders). Columns are named by key and need double quotes where there is a dot: "ftl.spare_factor".
    """
    from floatgate.query import query as ask

    output = Output(json, quiet=quiet, force=force)
    *folders, sql = arguments
    if not folders:
        what = f"floatgate query: {quote(sql)} is the only argument"
        raise input_error(
            f'{what}; expected folders with results and then the query: floatgate query runs "select ..."'
        )
    if out is not None:
        must_be_table_name(out, "--out")
        must_be_new_file(out, EXPECTED, force=force)
    answer = ask(folders, sql)
    if out is not None:
        write_table(answer, Path(out))
    if output.wants_json:
        output.give(answer.to_pylist())
    else:
        output.say(as_text(answer, rows))


def as_text(answer: pa.Table, most: int) -> str:
    """The first rows of an answer as plain text, and how many more there are."""
    shown = answer.slice(0, most).to_pylist()
    cells = [[_cell(row[name]) for name in answer.column_names] for row in shown]
    kinds = ("int", "uint", "double", "float", "decimal")
    numbers = frozenset(place for place, field in enumerate(answer.schema) if str(field.type).startswith(kinds))
    text = table(answer.column_names, cells, right=numbers)
    more = answer.num_rows - len(shown)
    return f"{text}\n... and {more} more rows (--rows N, --out FILE.csv)" if more > 0 else text


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def list_runs(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="[DIR]...", help="Where to look. Default: runs.", show_default=False)
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"Only results of a kind: {', '.join(runs.KINDS)}.")
    ] = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """List results: run folders, sweeps, comparisons and forecasts, each with what it found."""
    output = Output(json, quiet=quiet)
    if kind is not None and kind not in runs.KINDS:
        raise input_error(f"--kind {quote(kind)}: unknown; expected one of {quoted(list(runs.KINDS))}")
    found = [one for one in runs.found(folders or [DEFAULT_ROOT]) if kind in (None, one.kind)]
    told = [summary_of_folder.told(one) for one in found]
    output.give(told)
    if output.wants_json:
        return
    header = ["folder", "kind", "what", "WAF", "life"]
    output.say(table(header, [[str(entry[name] or "-") for name in header] for entry in told]))
