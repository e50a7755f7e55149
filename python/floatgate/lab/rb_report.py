"""The report on captures of Ready/Busy pins as one HTML page, and its picture."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.lab.rb import is_far, kind_of
from floatgate.lab.rb_summary import ERRORS, SIGNALS, errors, estimate, interval, lines, may_be_cut, signals, withheld
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, WIDTH, data_chart, finished
from floatgate.pages.page import report
from floatgate.pages.parts import Cards, Charts, Grid, Picture, Rows, Section, figure
from floatgate.report.sections.not_modelled import OF_CAPTURES

Facts = dict[str, Any]

CLASSES = {"reads": palette.ORANGE, "programs": palette.BLUE, "erases": palette.PLUM}
_BARS_MAX = 160
_BASE = 0.7
"""Where bars begin on the logarithmic axis, as a part of the least height: a single low phase still has one."""
_LEAST_US = 5e-7
"""Where a bar begins that holds the length 0."""
_NEAR = 8.0
"""An end of the interval so many times shorter or longer than all low phases is not drawn."""
_CAPTION = (
    "How many low phases there were of which length, per hundredth of the length: bars of any width compare. Dashed "
    "lines are the ends of the interval: what lies between them counts as a program, what is shorter as a read, what "
    "is longer as an erase. Heights are on a logarithmic scale."
)


def page(paths: Sequence[str], facts: Facts, command: str | None = None) -> str:
    """Return the report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        paths: the captures as the user called them.
        facts: the JSON of ``floatgate rb measure`` or ``rb multi-page``.
        command: the command line that made it, where there was one.
    """
    title = Path(paths[0]).name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    drawn = [figure(one.name, one.title, one.caption, one.draw) for one in pictures(facts)]
    rows = [(name, text) for name, text in lines(paths, facts) if name != "WAF"]
    parts = [
        Cards(headline(facts)),
        Rows(rows),
        Section("Low phases", [Charts(drawn)]),
        Section("Where the interval comes from", [Grid(ERRORS, errors(facts))]),
        Section("Signals", [Grid(SIGNALS, signals(facts))]),
    ]
    return report(
        f"{title}: write amplification", parts, not_modelled=[OF_CAPTURES], kind="floatgate rb", command=command
    )


def headline(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the cards on top: name, figure, what stands below."""
    made = []
    if facts["wa"] is not None:
        made.append(("write amplification", estimate(facts), f"{interval(facts)}{may_be_cut(facts)}"))
    elif facts["withheld"] and facts["host_bytes"]:
        why = f"{', '.join(withheld(facts))}{may_be_cut(facts)}"
        made.append(("write amplification", "no estimate", f"{interval(facts)}: {why}"))
    if "wa_single" in facts:
        pages = facts["multi_page"]
        doubt = pages is not None and is_far(facts["wa_single"], pages)
        verdict = "unknown" if pages is None else f"{pages:g}?" if doubt else f"{pages:g}"
        made.append(("pages per program", verdict, f"WAF with one: {facts['wa_single']:.3g}"))
    made.append(("programs", units.count(facts["programs"]), "low phases within the interval"))
    made.append(("programmed", units.decimal_bytes(facts["p_volume_bytes"]), "on all dies"))
    if facts["host_bytes"] is not None:
        made.append(("written by the host", units.decimal_bytes(facts["host_bytes"]), facts["host_source"]))
    return made


def pictures(facts: Facts) -> list[Picture]:
    """Return the picture of the lengths.

    Args:
        facts: the JSON of ``floatgate rb measure``.
    """
    return [Picture("low-phases", "Lengths of low phases", _CAPTION, functools.partial(lengths, facts))]


def lengths(facts: Facts, width: int = WIDTH) -> vega.Composed:
    """Draw low phases by length on a logarithmic axis, and the interval."""
    ends = facts["interval_us"]
    rows = density(facts)
    least, most = min(row["from"] for row in rows), max(row["to"] for row in rows)
    near = [end for end in ends if least / _NEAR < end < most * _NEAR]
    span = [min(least, *near) * 0.9, max(most, *near) * 1.1]
    base = _BASE * min(row["per_hundredth"] for row in rows)
    for row in rows:
        row["base"] = base
    x = vega.X(
        "from:Q",
        title="length of the low phase, us",
        axis=vega.Axis(format="~s" if span[1] > 1e6 else "~g", tickCount=6, labelOverlap=True),
        scale=vega.Scale(type="log", domain=span, nice=False, clamp=True),
    )
    present = [kind for kind in CLASSES if any(row["class"] == kind for row in rows)]
    y_scale = vega.Scale(type="log", domainMin=base, nice=False)
    bars = (
        data_chart(rows)
        .mark_rect(stroke=palette.INK, strokeWidth=0.3)
        .encode(
            x=x,
            x2="to:Q",
            y=vega.Y(
                "per_hundredth:Q",
                title="low phases per 1 % of length",
                scale=y_scale,
                axis=vega.Axis(tickCount=5, format="~s"),
            ),
            y2="base:Q",
            color=vega.Color(
                "class:N",
                scale=vega.Scale(domain=present, range=[CLASSES[kind] for kind in present]),
                legend=vega.Legend(title=None, orient="top", symbolType="square"),
            ),
        )
    )
    shown = [{"at": end} for end in ends if span[0] < end < span[1]]
    rules = data_chart(shown).mark_rule(color=palette.INK, strokeDash=[5, 4], strokeWidth=1.4).encode(x=vega.X("at:Q"))
    return finished(vega.layer(bars, rules), width, HEIGHT)


def density(facts: Facts) -> list[dict[str, Any]]:
    """Join bars of the histogram until there are few enough to be seen; none crosses an end of the interval.

    Returns:
        Begin and end of each bar in microseconds, low phases, low phases per hundredth of the length, and class.
    """
    held = [(begin, end, count) for begin, end, count in facts["histogram_us"] if end > 0]
    first = max(min(begin for begin, _, _ in held), 1e-6)
    doublings = math.log2(max(end for _, end, _ in held) / first)
    # The core has 32 bins for each doubling.
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64) if 32 * doublings / step <= _BARS_MAX or step == 64)
    rows = []
    keyed = (
        (
            math.floor(math.log2(max(begin, 1e-6)) * 32 / step),
            kind_of((begin + end) / 2, facts["interval_us"]),
            *(begin, end, count),
        )
        for begin, end, count in held
    )
    for (_, name), group in itertools.groupby(keyed, key=lambda entry: entry[:2]):
        parts = list(group)
        begin, end = max(parts[0][2], _LEAST_US), parts[-1][3]
        count = sum(part[4] for part in parts)
        height = count / (100 * math.log(end / begin))
        rows.append({"from": begin, "to": end, "count": count, "per_hundredth": height, "class": name})
    return rows
