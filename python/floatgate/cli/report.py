"""``floatgate report``: draw the report of runs again, or one that sets several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.compare import Comparison, Setting
from floatgate.errors import input_error, one_line, reading
from floatgate.folder import must_be_file_place, write_text
from floatgate.run import load

EXPECTED = "a file for the report"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The file to write. Default: report.html in the run folder; for several runs, compare.html.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    json: o.BareJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the report of a run again, or one report that compares several runs, as one self-contained HTML file."""
    output = Output(json, quiet=quiet)
    loaded = [load(folder) for folder in runs]
    single = len(loaded) == 1
    target = out or (str(Path(str(loaded[0].folder)) / "report.html") if single else "compare.html")
    must_be_file_place(target, EXPECTED)
    if (out is not None or not single) and Path(target).exists() and not force:
        raise input_error(f"{target}: exists already; expected a new file, --out FILE or --force")
    if single:
        with reading(Path(str(loaded[0].folder)) / "result.json", "expected a result as floatgate wrote it"):
            text = loaded[0].report()
    else:
        text = Comparison([Setting([("run", name)], run) for name, run in zip(runs, loaded, strict=True)]).report(
            o.command_line()
        )
    write_text(target, text, EXPECTED)
    output.give({"report": target, "runs": runs})
    if not output.wants_json:
        output.say(f"{'report':<10} {one_line(target)}")
