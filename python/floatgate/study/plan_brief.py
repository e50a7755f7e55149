"""The head of a plan's page, for readers who did not make it: the question, the answer in a sentence, the drives."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.report.sections import growing
from floatgate.report.sections.forecast import entry, evidence
from floatgate.results.result_view import look
from floatgate.results.sold_drives import entry_of

if TYPE_CHECKING:
    from floatgate.study.plan import Plan
    from floatgate.study.plan_point import Point

_SERVED = 0.99
"""The share of writes that a drive has to serve where nothing else is required: not worth a word."""


def question(plan: Plan) -> str:
    """Return the question in one sentence: the number of drives, the years, the workload and the limits.

    Such as ``Which of 6 drives is the cheapest that lasts 1 year under db.csv (1.76 TB written per day)?``
    """
    drives, choices = len(dict.fromkeys(point.label for point in plan.points)), len(plan.points)
    which = units.counted(drives, "drive") if drives == choices else f"{choices} choices of {drives} drives"
    which += f" ({', '.join(plan.untried)} not tried)" if plan.untried else ""
    best = "cheapest" if plan.bounds.priced else "smallest"
    lasts, limits = f"lasts {_years(plan)} under {_workload(plan)}", _limits(plan)
    return f"Which of {which} is the {best} that {', '.join([lasts, *limits])}?"


def verdict(plan: Plan) -> str:
    """Return the answer in one sentence, with its basis and the largest uncertainty."""
    ends = [_basis(plan), _uncertainty(plan)]
    if not takes(plan):
        return "; ".join([_capital(plan.answers()[0]), *filter(None, ends)]) + "."
    point = plan.best[0]
    price = plan.bounds.price(point)
    best = "cheapest" if plan.bounds.priced else "smallest"
    cost = "" if price is None else f", price {units.figure(price)}"
    text = f"Take {plan.name(point)}, the {best} that lasts {_years(plan)}: {plan.life(point)}{cost}"
    return "; ".join([text, *filter(None, ends)]) + "."


def takes(plan: Plan) -> bool:
    """Return whether the answer names a drive to take; if not, it is the first line of :meth:`.plan.Plan.answers`."""
    return bool(plan.best) and not plan.untried


def described(plan: Plan) -> list[tuple[str, str]]:
    """Return name and description of each drive: what it is, its rated endurance, its price and where that is from."""
    firsts: dict[str, Point] = {}
    for point in plan.points:
        # A drive that one throttle makes impossible may be known by another.
        if point.label not in firsts or firsts[point.label].result is None:
            firsts[point.label] = point
    config = tomllib.loads(plan.experiment_toml)
    return [(_name(point), "; ".join([*_drive(point, config), _price(plan, point)])) for point in firsts.values()]


def _years(plan: Plan) -> str:
    return "long enough" if plan.target_years is None else units.target_years(plan.target_years)


def _workload(plan: Plan) -> str:
    """Return the workload and what it writes per day."""
    settings = look(tomllib.loads(plan.experiment_toml), "workload") or {}
    name, pattern = settings.get("file"), settings.get("pattern")
    text = Path(name).name if name else plan.label if pattern is None else f"a generated workload ({pattern})"
    result = next((point.result for point in plan.points if point.result is not None), None)
    written, share = entry.demand_bytes_per_day(result), growing.per_year(result)
    if written is None:
        return text
    amount = f"{units.decimal_bytes(written)} written per day"
    if share:
        amount += f" at first, {units.share(abs(share))} {'more' if share > 0 else 'less'} each year"
    return f"{text} ({amount})"


def _limits(plan: Plan) -> list[str]:
    """Return what a drive has to meet besides its life; without throttles the least share served goes unsaid."""
    bounds = plan.bounds
    limits = []
    if bounds.min_served != _SERVED or any(point.throttles for point in plan.points):
        limits.append(f"serves {units.share(bounds.min_served)} of the writes")
    if bounds.max_write_p99_us is not None:
        limits.append(f"and ends 99 of 100 page writes within {units.span(bounds.max_write_p99_us * 1e-6)}")
    return limits


def _basis(plan: Plan) -> str | None:
    """Return what the lives rest on: drives that were simulated, or a write amplification that is set."""
    point = _subject(plan)
    if point is None:
        return None
    if entry.waf_is_set(point.result):
        return "no drive was simulated, as its write amplification is given"
    return f"forecast from a simulation of {'a slice of the drive' if point.drive and point.capacity else 'the drive'}"


def _uncertainty(plan: Plan) -> str | None:
    """Return the largest uncertainty: of the workload if that is short or generated, of the interval else."""
    point = _subject(plan)
    if point is None:
        return None
    verdict, interval = evidence.plainly(point.result or {}), point.life_range
    doubts = [*plan.doubts(), *([] if verdict is None else [f"{verdict[0].lower()}{verdict[1:-1]}"])]
    if interval is not None and point.reaches_below:
        doubts.insert(0 if not plan.doubts() else 1, f"the life may be as short as {interval.text}")
    return f"largest uncertainty: {doubts[0].partition(';')[0]}" if doubts else None


def _subject(plan: Plan) -> Point | None:
    return next((point for point in [*plan.best, *plan.points] if point.result is not None), None)


def _drive(point: Point, config: Mapping[str, Any]) -> list[str]:
    """Return what a drive is: of the catalogue its summary, else its size and cycles; and its rated endurance."""
    name = point.drive or look(config, "drive", "preset")
    listed = entry_of(name) or {}
    size = units.binary_bytes(point.physical_bytes) if point.result is not None else point.capacity
    rated = listed.get("rated") or {}
    written, years = rated.get("tbw_bytes"), rated.get("years")
    if point.drive is None:
        what = [f"{size} of flash{f' as of {name}' if name else ''}"]
    else:
        what = [listed["summary"].rstrip("."), *([f"{size} of its flash"] if point.capacity else [])]
    if written:
        span = "" if years is None else f" in {units.target_years(years)}"
        whole = " (whole drive)" if point.capacity else ""
        return [*what, f"rated for {units.decimal_bytes(written)} written{span}{whole}"]
    cycles = look(config, "drive", "endurance", "pe_cycles") if point.drive is None else listed.get("pe_cycles")
    return [*what, *([] if cycles is None else [f"{cycles:.0f} P/E cycles"]), "no rated endurance known"]


def _name(point: Point) -> str:
    known = point.drive is None and point.result is not None
    return units.binary_bytes(point.physical_bytes) if known else point.label


def _price(plan: Plan, point: Point) -> str:
    """Return the price of a drive and how it was set."""
    price, bounds = plan.bounds.price(point), plan.bounds
    if price is None:
        return "no price known"
    own = next((one for one in bounds.prices if one.drive == point.drive), None)
    source = f"{bounds.price_per_tb or 0.0:g} per TB" if own is None else own.source
    return f"price {units.figure(price)}{f' (set as {source})' if source else ''}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
