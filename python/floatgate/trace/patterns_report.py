"""The report of a trace's patterns as one HTML page, and its pictures: one function per picture."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.pages import vega
from floatgate.pages.charts import HEIGHT, WIDTH, binned, data_chart, finished
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Grid, Picture, Rows, Section, figure
from floatgate.report.sections.not_modelled import NO_DRIVE
from floatgate.trace.charts import WRITE, side_by_side
from floatgate.trace.patterns_summary import STRONGEST, kind, lines, strongest

Facts = dict[str, Any]

_CAPTION_ACCESSES = (
    "Share of the start addresses of requests, by how often they are read or written; and of those read, by how often "
    "they are read."
)
_ADDRESSES = 8
"""Addresses of a set that the list names."""


def page(path: str, facts: Facts, command: str | None = None) -> str:
    """Return the report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        path: the trace as the user called it.
        facts: the JSON of ``floatgate trace patterns``.
        command: the command line that made it, where there was one.
    """
    drawn = [figure(one.name, one.title, one.caption, one.draw) for one in pictures(facts)]
    rows = strongest(facts, len(facts["strongest"]), _ADDRESSES)
    columns = [*STRONGEST[:3], f"{STRONGEST[3]} (bytes)"]
    # The addresses are text, and a grid has texts at the left.
    phrases = [[row[3], *row[:3]] for row in rows]
    parts = [
        Cards(headline(facts)),
        Rows(lines(path, facts)),
        *([Section("Patterns", [Charts(drawn)])] if drawn else []),
        *([Section("Strongest sets", [Grid([columns[3], *columns[:3]], phrases)])] if phrases else []),
    ]
    title, of = f"{Path(path).name}: patterns", f"format {facts['format']}"
    return report(title, parts, not_modelled=[NO_DRIVE], of=of, kind="floatgate trace", command=command)


def headline(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the cards on top: name, figure, what stands below; cards without a figure are left out."""
    cards = [("windows", units.count(facts["windows"]), f"of {facts['settings']['window']} requests")]
    cards.append(("patterns a window", units.figure(facts["patterns_per_window"]), f"{kind(facts)} sets"))
    if facts["pattern_size_mean"] is not None:
        cards.append(("mean size", units.figure(facts["pattern_size_mean"]), "addresses of a pattern"))
    if facts["write_share"] is not None:
        cards.append(("in patterns", units.share(facts["write_share"]), "of the writes"))
        cards.append(("in patterns", units.share(facts["address_share"]), "of the addresses written"))
    if facts["addresses"]["frequent"]["share"] is not None:
        below = f"of those written {facts['addresses']['frequent']['writes_min']} times or more"
        cards.append(("in patterns", units.share(facts["addresses"]["frequent"]["share"]), below))
    return cards


def pictures(facts: Facts) -> list[Picture]:
    """Return those pictures that the trace has figures for.

    Args:
        facts: the JSON of ``floatgate trace patterns``.
    """
    group = facts["course"]["windows"]
    per = "Each window." if group == 1 else f"Mean of {group} windows each."
    made = [
        (
            facts["patterns"] > 0,
            "patterns",
            "Patterns over the trace",
            f"{kind(facts).capitalize()} sets. {per}",
            course,
        ),
        (facts["patterns"] > 0, "pattern-sizes", "Sizes of patterns", "Patterns of all windows by addresses.", sizes),
        (
            facts["addresses"]["accessed"] > 0,
            "accesses",
            "How often addresses are accessed",
            _CAPTION_ACCESSES,
            accesses,
        ),
    ]
    return [
        Picture(name, title, caption, functools.partial(draw, facts))
        for there, name, title, caption, draw in made
        if there
    ]


def course(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw patterns of a window over the windows of the trace."""
    group, total = facts["course"]["windows"], facts["windows"]
    rows = []
    for place, patterns in enumerate(facts["course"]["patterns"]):
        begin, end = place * group, min((place + 1) * group, total)
        rows.append({"at": begin, "patterns": patterns / (end - begin)})
    rows.append({**rows[-1], "at": total})
    chart = (
        data_chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.3, color=WRITE)
        .encode(
            x=vega.X("at:Q", title="window", scale=vega.Scale(nice=False), axis=vega.Axis(tickMinStep=1)),
            y=vega.Y("patterns:Q", title="patterns a window"),
        )
    )
    return finished(chart, width, HEIGHT)


def sizes(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw patterns by their number of addresses."""
    counted = facts["sizes"]
    rows = [
        {"from": size - 0.5, "to": size + 0.5, "count": count}
        for size, count in zip(counted["size"], counted["patterns"], strict=True)
    ]
    ends = [min(counted["size"]) - 1.5, max(counted["size"]) + 1.5]
    scale = vega.Scale(domain=ends, nice=False)
    return binned(rows, "addresses of a pattern", "patterns", width, axis=vega.Axis(tickMinStep=1), scale=scale)


def accesses(facts: Facts, width: int = WIDTH) -> vega.Chart:
    """Draw addresses by how often they are accessed, and by how often they are read."""
    rows = []
    for key, what in (("accesses", "reads and writes"), ("reads", "reads")):
        times = facts["addresses"][key]
        total = sum(times["addresses"])
        for first, count in zip(times["from"], times["addresses"], strict=True):
            label = f"{first} or more" if first == times["from"][-1] else str(first)
            rows += [{"times": label, "share": count / total, "what": what}] if total else []
    present = list(dict.fromkeys(row["what"] for row in rows))
    x = vega.X("times:N", title="times", sort=None, axis=vega.Axis(labelAngle=0))
    return finished(side_by_side(rows, present, x, "share of the addresses"), width, HEIGHT)
