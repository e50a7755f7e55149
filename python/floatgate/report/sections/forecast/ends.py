"""What ends a forecast life, and when: the first block, the average block, the rated bytes; the target beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.report.sections import rating
from floatgate.report.sections.forecast import life_range
from floatgate.report.sections.forecast.life_range import BELOW, SLACK, LifeRange, uneven
from floatgate.report.throttle_charts import YEAR_S, Mark, time_axis
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

FIRST_BLOCK, AVERAGE_BLOCK, RATED, TARGET = "first block", "average block", "rated bytes", "target"
_DASHES = {FIRST_BLOCK: (6, 2), AVERAGE_BLOCK: (), RATED: (2, 2), TARGET: (8, 3, 2, 3)}
_SAYS = {
    FIRST_BLOCK: "the first block wears out",
    AVERAGE_BLOCK: "the average block wears out",
    RATED: "the rated bytes are written",
}
_ALIKE = 0.02
"""Ends that are nearer to each other, as a share of the later one, have one mark."""
_EARLY = 0.25
"""If all ends lie in this part of the course, the charts only show that part, with some room behind."""
_ROOM = 1.3


@dataclass(frozen=True)
class End:
    """One end of a life: a name (such as :data:`FIRST_BLOCK`) and when it comes."""

    name: str
    years: float


def ends(result: Facts) -> list[End]:
    """List all known ends, the earliest first; a first block that wears out with the others is not listed by itself."""
    average, first = look(result, "lifetime", "years"), look(result, "lifetime", "years_first_block")
    years_of = [(AVERAGE_BLOCK, average), (RATED, rating.years(result))]
    if first is not None and (average is None or first < (1 - _ALIKE) * average):
        years_of.append((FIRST_BLOCK, first))
    return sorted((End(name, years) for name, years in years_of if years is not None), key=lambda end: end.years)


def what_ends_first(result: Facts) -> str | None:
    """Format as ``The first block wears out first, after 5.8 hours; the average block ...``; None without an end.

    A first block is named first only where wear is uneven: else its life is the one of all blocks but for chance.
    """
    known = [end for end in ends(result) if end.name != FIRST_BLOCK or uneven(result) is not None]
    if not known:
        return None
    target = look(result, "lifetime", "target_years")
    first, *others = known
    text = _SAYS[first.name]
    text = f"{text[:1].upper()}{text[1:]}{' first' if others else ''}, after {units.life(first.years, target)}"
    return text + "".join(f"; {_SAYS[end.name]} after {units.life(end.years, target)}" for end in others)


def verdict(result: Facts) -> str | None:
    """Format as ``the target of 5 years is missed``, by the first end; None without a target.

    If the lower end of the interval misses it: ``... is met, but the interval reaches below: 4.0-6.9 years``.
    """
    target = look(result, "lifetime", "target_years")
    if target is None:
        return None
    early = {end.name for end in missed(result)}
    years = f"the target of {units.target_years(target)}"
    if not early:
        doubtful = interval_below(result)
        return f"{years} is met" if doubtful is None else f"{years} is {BELOW}: {doubtful.text}"
    return f"{years} is missed" + (" by the rating, not by the flash" if early == {RATED} else "")


def interval_below(result: Facts) -> LifeRange | None:
    """Return the interval of a life that meets its target, if its lower end misses it; None else."""
    target, flash = look(result, "lifetime", "target_years"), life_range.of(result)
    if target is None or flash is None or missed(result):
        return None
    interval = flash.ended_by(rating.years(result))
    return interval if interval is not None and interval.reaches_below(target) else None


def missed(result: Facts) -> list[End]:
    """Return the ends that come before the target, the earliest first."""
    target = look(result, "lifetime", "target_years")
    if target is None:
        return []
    return [end for end in ends(result) if end.years < (1 - SLACK) * target and _counts(result, end)]


def _counts(result: Facts, end: End) -> bool:
    return end.name != FIRST_BLOCK or uneven(result) is not None


def shown_s(result: Facts) -> float:
    """Return up to which device time the charts of the course are drawn."""
    times = look(result, "series", "time_s") or []
    known = [end.years * YEAR_S for end in ends(result)]
    last = times[-1] if times else 0.0
    return _ROOM * known[-1] if known and known[-1] < _EARLY * last else last


def marks(result: Facts) -> list[Mark]:
    """Return the ends and the target that lie in the charts; those at the same time have one mark."""
    until = shown_s(result)
    target = look(result, "lifetime", "target_years")
    known = [*ends(result), *([] if target is None else [End(TARGET, target)])]
    shown = sorted((end for end in known if end.years * YEAR_S <= until * (1 + _ALIKE)), key=lambda end: end.years)
    groups: list[list[End]] = []
    for end in shown:
        if groups and end.years * (1 - _ALIKE) <= groups[-1][0].years:
            groups[-1].append(end)
        else:
            groups.append([end])
    _, unit = time_axis(until)
    made = []
    for group in groups:
        group.sort(key=lambda end: list(_DASHES).index(end.name))
        label = f"{', '.join(end.name for end in group)}: {units.life(group[0].years, target)}"
        made.append(Mark(label, min(group[0].years * YEAR_S, until) / unit, _DASHES[group[0].name]))
    return made


def beyond(result: Facts) -> str:
    """Format as `` Beyond the chart: target (5.0 years).``: the ends outside the charts; empty if they show all."""
    until = shown_s(result) * (1 + _ALIKE)
    target = look(result, "lifetime", "target_years")
    known = [*ends(result), *([] if target is None else [End(TARGET, target)])]
    hidden = [f"{end.name} ({units.life(end.years, target)})" for end in known if end.years * YEAR_S > until]
    return f" Beyond the chart: {', '.join(hidden)}." if hidden else ""
