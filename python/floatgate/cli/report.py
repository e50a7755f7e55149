"""``floatgate report``: draw the report of runs again, or one that sets several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import input_error, one_line
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.compare import named
from floatgate.cli.output import Output
from floatgate.cli.places import Pictures
from floatgate.pages import drawing
from floatgate.results import shapes
from floatgate.results.folder import must_be_file_place, write_text
from floatgate.run.run import document, load
from floatgate.study.compare import Comparison, Setting
from floatgate.study.kinds import Folder
from floatgate.study.kinds.folders import must_be_one
from floatgate.study.loaded_comparison import load_comparison

EXPECTED = "a file for the report"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


@g.grouped
def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders with results.")],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The file to write. Default: report.html in the run folder; for several runs, compare.html.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=V,KEY=V",
            help="Of a comparison: measure its settings against this one, and print the table too.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    *,
    pictures: Pictures,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Write the report of a run, a sweep, a comparison or a forecast again, as one self-contained HTML file.

    Several runs give one report that compares them.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(force=force)
    single = len(runs) == 1
    first = must_be_one(runs[0]) if single else None
    loaded = [] if single else [load(folder) for folder in runs]
    again = None if baseline is None else _measured_against(first, baseline)
    target = out or (str(first.path / "report.html") if first is not None else "compare.html")
    must_be_file_place(target, EXPECTED)
    if (out is not None or not single) and Path(target).exists() and not force:
        raise input_error(f"{target}: exists already; expected a new file, --out FILE or --force")
    drawing.start()

    def drawn_page() -> str:
        if again is not None:
            return again.report()
        if first is not None:
            return first.report()
        compared = Comparison([Setting([("run", name)], run) for name, run in zip(runs, loaded, strict=True)])
        with shapes.consuming("run", *map(document, runs)):
            return compared.report(o.command_line())

    write_text(target, drawn_page(), EXPECTED)
    if drawn is not None:
        drawn.write(drawn_page)
    output.give({"report": target, "runs": runs})
    if not output.prints_json:
        if again is not None:
            output.say(again.text())
        output.say(f"{'report':<10} {one_line(target)}")
        if drawn is not None:
            output.say(drawn.line())


def _measured_against(folder: Folder | None, baseline: str) -> Comparison:
    """Read a comparison with another baseline; refuses other results."""
    if folder is None or folder.kind.name != "compare":
        what = "several runs" if folder is None else f"{folder.path}: no comparison"
        raise input_error(f"--baseline: {what}; expected the folder of one, from floatgate compare --out")
    return load_comparison(folder.path, baseline=named(baseline))
