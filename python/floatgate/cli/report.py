"""``floatgate report``: draw the report of runs again, or one that sets several side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import input_error, one_line
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.compare import named
from floatgate.cli.output import Output
from floatgate.cli.places import Files, Pictures
from floatgate.pages import drawing
from floatgate.results import shapes
from floatgate.results.folder import RunFolder, must_be_file_place, write_text
from floatgate.run.run import document, load
from floatgate.study.compare import Comparison, Setting
from floatgate.study.kinds import Folder
from floatgate.study.kinds.folders import must_be_one
from floatgate.study.kinds.kind import experiment_of
from floatgate.study.loaded_comparison import load_comparison
from floatgate.study.plan import Plan
from floatgate.study.plan_prices import pairs

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
    prices: o.Prices = None,
    price_per_tb: o.PricePerTb = None,
    title: o.PlanTitle = None,
    note: o.PlanNote = None,
    pictures: Pictures,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Write the report of a run, a sweep, a comparison or a forecast again, as one self-contained HTML file.

    Several runs give one report that compares them. With --prices, --price-per-tb, --title or --note, the folder of a
    plan is written anew with them (plan.json, its tables, the report) without another forecast.
    """
    output = Output(json, quiet=quiet, force=force)
    drawn = pictures.checked(force=force)
    changes = {"--prices": prices, "--price-per-tb": price_per_tb, "--title": title, "--note": note}
    plan = _changed(runs, changes, alone=out is baseline is None)
    if plan is not None:
        _write_plan(plan, Path(runs[0]), output, drawn)
        return
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


def _changed(runs: list[str], changes: Mapping[str, str | None], *, alone: bool) -> Plan | None:
    """Read a plan and change it by options, of which one is set at least; None where none is.

    Refuses other results, and other options (not ``alone``).
    """
    option = next((name for name, value in changes.items() if value is not None), None)
    if option is None:
        return None
    if not alone:
        raise input_error(f"{option}: writes the folder of a plan anew; expected no --out and no --baseline beside it")
    folder = must_be_one(runs[0]) if len(runs) == 1 else None
    if folder is None or folder.kind.name != "plan":
        what = "several folders" if folder is None else f"{folder.path}: no plan"
        raise input_error(f"{option}: {what}; expected the folder of one, from floatgate plan --out")
    prices, price_per_tb, title, note = changes.values()
    with folder.document() as content:
        plan = Plan.of(content, experiment_of(folder.path))
        if prices is not None or price_per_tb is not None:
            plan = plan.with_prices(pairs(prices), price_per_tb)
        return plan.headed(plan.title if title is None else title, plan.note if note is None else note)


def _write_plan(plan: Plan, place: Path, output: Output, drawn: Files | None) -> None:
    """Write a plan over the one in its folder, and print it."""
    folder = RunFolder.named(str(place.parent if place.is_file() else place), force=True)
    plan.write(folder, command=o.command_line())
    output.give(plan.to_dict())
    output.say(plan.text())
    output.say(o.place_line(folder.path, report=True))
    if drawn is not None:
        drawn.write(lambda: plan.report(o.command_line()))
        output.say(drawn.line())
