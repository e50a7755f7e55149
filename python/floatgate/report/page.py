"""The report of one run: the answer, its origin, and how to repeat it."""

from __future__ import annotations

import shlex
from typing import Any

from floatgate.base import units
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Code, Part, Rows, Section, Text
from floatgate.report.sections import not_modelled, orders, workload
from floatgate.report.sections.section import Card
from floatgate.report.summary import lines
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def page(run: RunView, command: str | None = None) -> str:
    """Return the report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        run: the run.
        command: the command line that made it, where there was one.
    """
    result = run.result.to_dict()
    parts = [
        Cards(headline(result)),
        Rows(lines(run)),
        *(part for section in orders.PAGE for part in section.parts(run, result)),
    ]
    return report(
        run.name(),
        parts,
        of=f"{result.get('mode', 'functional')} mode, seed {result.get('seed', '-')}",
        kind="floatgate report",
        version=result.get("version"),
        not_modelled=not_modelled.of(result),
        ends=_repeat(run, result, command),
    )


def headline(result: dict[str, Any]) -> list[Card]:
    """Return life, WAF, latency and energy: name, metric, basis; unknown ones are left out."""
    return [card for section in orders.CARDS for card in section.cards(result)]


def identity(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a result comes from, as rows: version, seed and the hash of its configuration."""
    facts = [("version", str(result.get("version", "-"))), ("seed", str(result.get("seed", "-")))]
    return facts + ([("configuration", str(result["config_hash"]))] if result.get("config_hash") else [])


def _repeat(run: RunView, result: dict[str, Any], command: str | None) -> list[Part]:
    folder = run.folder
    again = f"floatgate run {shlex.quote(str(folder / 'experiment.toml') if folder else 'experiment.toml')}"
    facts = identity(result)
    content = workload.content_hash(result)
    facts += [("trace content", content)] if content else []
    spent = look(result, "run") or {}
    if spent.get("wall_s") is not None and spent.get("peak_rss_bytes") is not None:
        cost = f"{units.span(spent['wall_s'])}, {units.binary_bytes(spent['peak_rss_bytes'])} peak memory"
        facts.append(("cost of the run", cost))
    call = [Text("Command of this run"), Code(command)] if command and command != again else []
    same = Text("The same result, byte for byte, from the resolved experiment")
    return [
        Section("How to repeat it", [*call, same, Code(again), Rows(facts)]),
        Section("Resolved experiment", [Code(run.experiment_toml)]),
    ]
