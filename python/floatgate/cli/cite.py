"""``floatgate cite``."""

from __future__ import annotations

from typing import Annotated

import typer

from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.study import citations


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cite")(cite)


def cite(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A folder with results, an experiment.toml or a result.json."),
    ],
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Print BibTeX of floatgate, and of the papers that the policies and models of a run come from.

    Authors and titles are those that floatgate knows. Complete the entries, and check them, before you print them.
    """
    output = Output(json, quiet=quiet, force=None)
    cited = citations.of(run)
    output.give(cited.to_dict())
    if not output.prints_json:
        output.say(cited.text())
