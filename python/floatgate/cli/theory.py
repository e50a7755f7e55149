"""``floatgate theory``."""

from __future__ import annotations

from typing import Annotated

import typer

from floatgate import _core
from floatgate.base.errors import input_error, quote
from floatgate.cli import options as o
from floatgate.cli import tree
from floatgate.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = tree.group("Compute closed forms of write amplification.")
    group.command("wa")(wa)
    group.callback()(_theory)
    app.add_typer(group, name="theory")


def _theory() -> None:
    """Compute closed forms of write amplification."""


def _bibtex(is_set: bool) -> None:
    if is_set:
        from floatgate.study import citations

        typer.echo(citations.of_closed_forms().text())
        raise typer.Exit


def wa(
    policy: Annotated[str, typer.Option(metavar="NAME", help="greedy, fifo, random or d-choices.")],
    spare_factor: Annotated[
        float,
        typer.Option(
            metavar="S", help="Spare share of the flash, (T - U) / T with T total and U user pages, between 0 and 1."
        ),
    ],
    pages_per_block: Annotated[int, typer.Option(metavar="B", help="Pages per block.", min=1, max=2**31 - 1)],
    choices: Annotated[
        int | None, typer.Option(metavar="D", help="Number of blocks that d-choices samples.", min=1, max=2**31 - 1)
    ] = None,
    hot_share_of_pages: Annotated[
        float | None, typer.Option(metavar="SHARE", help="fifo: share of the pages that are hot.")
    ] = None,
    hot_share_of_writes: Annotated[
        float | None, typer.Option(metavar="SHARE", help="fifo: share of the writes that go to hot pages.")
    ] = None,
    separated: Annotated[
        bool,
        typer.Option(
            "--separated", help="fifo: hot and cold pages in separate logs, with the optimal split of spare space."
        ),
    ] = False,
    bibtex: Annotated[  # noqa: ARG001 - acts before the others are read
        bool,
        typer.Option(
            "--bibtex", help="Print BibTeX of the papers of all forms, and end.", is_eager=True, callback=_bibtex
        ),
    ] = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Compute the write amplification of random 4 KiB writes in closed form: uniform, or (fifo) with hot pages.

    To compare with a run, take its drive.effective_spare_factor: free and open blocks are no space that collection has.

    Sources: Desnoyers (SYSTOR 2012, ACM TOS 2014) and Van Houdt (SIGMETRICS 2013); docs/fidelity.md lists them, and
    --bibtex prints them.
    """
    output = Output(json, quiet=quiet, force=None)
    if not 0 < spare_factor < 1:
        raise input_error(f"--spare-factor: {spare_factor:g} is out of range; expected more than 0 and less than 1")
    settings = {"policy": policy, "spare_factor": spare_factor, "pages_per_block": pages_per_block, "choices": choices}
    if hot_share_of_pages is None and hot_share_of_writes is None and not separated:
        value = _core.theory_wa(policy, spare_factor, pages_per_block, choices)
        output.give({"wa": value, **settings})
    else:
        hot = _hot(policy, hot_share_of_pages, hot_share_of_writes)
        # Choices are refused here, too.
        _core.theory_wa(policy, spare_factor, pages_per_block, choices)
        value, split = _core.theory_wa_hot(spare_factor, pages_per_block, hot, separated)
        settings |= {"hot_share_of_pages": hot[0], "hot_share_of_writes": hot[1], "separated": separated}
        spare = {"hot": split[0], "cold": split[1]} if split else None
        output.give({"wa": value, **settings, "spare_factor_of": spare})
    if not output.prints_json:
        output.say(f"{value:.4f}")


def _hot(policy: str, pages: float | None, writes: float | None) -> tuple[float, float]:
    """Return both shares, where they have a meaning."""
    if policy != "fifo":
        what = f"hot pages have a closed form only under fifo, and the policy is {quote(policy)}"
        raise input_error(f"--policy: {what}; expected --policy fifo")
    if pages is None or writes is None:
        missing = "--hot-share-of-pages" if pages is None else "--hot-share-of-writes"
        raise input_error(f"{missing}: is missing; expected both shares, from 0 to 1")
    return pages, writes
