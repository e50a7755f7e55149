"""The table of a plan: for people, and flat for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floatgate.base import units
from floatgate.report.sections import drive, growing
from floatgate.report.sections.amplification import amplification, split
from floatgate.report.sections.forecast import entry, latency, life_range
from floatgate.report.sections.reduce import INTEGRATED, MERGED_MIN
from floatgate.results.columns import types_of, written

if TYPE_CHECKING:
    import pyarrow as pa

    from floatgate.study.plan import Plan
    from floatgate.study.plan_point import Point

WORDS = ("", "drive", "reducer", "throttle", "ends by", "target")
"""Columns of words, which are set flush left."""
ENDS_BY = {"flash": "flash", "first_block": "first block", "rating": "rating", None: "-"}
"""What ends a life, as the table and the legends of charts call it."""


_DRIVE = ("drive", "capacity_bytes", "sold_bytes", "logical_bytes", "spare_factor", "throttle", "reducer")
_MONEY = (
    "flash_tbw_bytes",
    "rated_tbw_bytes",
    "price",
    "useful_tb",
    "price_per_useful_tb",
    "price_per_year",
    "up_to_bytes_per_day",
)
_AS_SOLD = 0.01
"""A drive whose visible capacity differs by less shows what it is sold with."""
NAMES, MAIN, DETAILS = "names", "main", "details"
"""Parts of the table: a page has two tables with the same names, one of what decides and one of the details."""


@dataclass(frozen=True)
class _Column:
    """A column of the table; it is left out if it has no information."""

    header: str
    cell: Callable[[Plan, Point], str]
    applies: Callable[[Plan], bool] = lambda _: True
    part: str = MAIN


def rows(plan: Plan, parts: Sequence[str] = (NAMES, MAIN, DETAILS)) -> tuple[list[str], list[list[str]]]:
    """Return header and cells of some parts, without the columns that have no information on these drives."""
    shown = [column for column in _COLUMNS if column.part in parts and column.applies(plan)]
    cells = [[column.cell(plan, point) for column in shown] for point in plan.points]
    return [column.header for column in shown], cells


def legend(plan: Plan) -> list[str]:
    """Return how to read the marks, and the columns that need it."""
    phrases = []
    if plan.best:
        cheapest, dearer = ("cheapest", "dearer") if plan.bounds.priced else ("smallest", "larger")
        one = f"* recommended: the {cheapest} that meets all requirements"
        also = f"; the other * are {dearer}, and serve writes faster than all {cheapest[:-3]}er ones"
        phrases.append(one if len(plan.best) == 1 else f"{one} ({plan.name(plan.best[0])}){also}")
    if plan.front:
        cost = "price" if plan.bounds.priced else "size"
        better = f"no other drive is better in {cost}, life or share served"
        phrases.append(f"+ Pareto front: {better} without being worse in another of these")
    return phrases + _columns_explained(plan)


def _columns_explained(plan: Plan) -> list[str]:
    phrases = []
    if any(latency.rare(point.result) is not None for point in plan.points):
        phrases.append("delay p99, in brackets: the share of page writes delayed, and by how much on average")
    if any(point.overloaded for point in plan.points):
        phrases.append("load too high: the host requests more than the drive can do, so its life is not known")
    if any(point.up_to_bytes_per_day is not None for point in plan.points):
        phrases.append(
            "up to GB/day: what the host may write per day for the target to be met, at this write amplification"
        )
    phrases.append("WAF (bytes): flash bytes per host byte (lifetime.forecast.waf_of_bytes takes it)")
    phrases += _waf_splits(plan)
    if any(map(_shows_less, plan.points)):
        phrases.append("visible: what the host may write to; the rest of the drive is over-provisioning (spare)")
    if len({point.spare_text for point in plan.points}) > 1 and any(
        entry.waf_is_set(one.result) for one in plan.points
    ):
        phrases.append("the WAF is given: it is the same whatever the spare factor is")
    if _known_tbw(plan):
        phrases.append("flash TBW: TB that the host writes until the flash is worn out")
    if any(_interval(plan, point) == life_range.NO_INTERVAL for point in plan.points):
        phrases.append(
            "interval, rating: none, as rated bytes are bytes of the host: "
            "no error of write amplification changes this life"
        )
    phrases += _ratings_explained(plan)
    phrases += _merged(plan)
    grown = next((words for point in plan.points if (words := growing.words(point.result)) is not None), None)
    phrases += [] if grown is None else [f"{grown}; latencies are those of the demand at the start"]
    if any(point.drive and point.capacity for point in plan.points):
        phrases.append("a slice of a drive has fewer dies: latencies, and whether it keeps up, are those of the slice")
    return phrases + (_prices_explained(plan) if plan.bounds.priced else [])


def _ratings_explained(plan: Plan) -> list[str]:
    phrases = []
    if any(point.rated_years is not None for point in plan.points):
        phrases.append("rating: when the host has written the rated bytes")
    if any(point.throttles and point.ends == "rating" and not point.holds for point in plan.points):
        phrases.append("throttle: it budgets what the flash endures, not the rated bytes, so it cannot meet a rating")
    return phrases


def _waf_splits(plan: Plan) -> list[str]:
    """Return write amplification by cause, once for all drives that have the same."""
    names: dict[str, list[str]] = {}
    for point in plan.points:
        parts = split(point.result, alone=False)
        if parts is not None:
            names.setdefault(parts, []).append(plan.name(point, short=True))
    return [f"WAF of {', '.join(dict.fromkeys(having))}: {parts}" for parts, having in names.items()]


def _merged(plan: Plan) -> list[str]:
    """Say which part of what compression saves a buffer would save, too; none below a hundredth."""
    shares = sorted(one for point in plan.points if (one := point.merged_share) is not None and one >= MERGED_MIN)
    if not shares:
        return []
    low, high = units.share(shares[0]), units.share(shares[-1])
    part = low if low == high else f"{low} to {high}"
    text = f"compression: {part} of the page writes were overwritten while their chunk waited"
    return [f"{text}; a DRAM buffer (drive.buffer) would save these without compression"]


def _prices_explained(plan: Plan) -> list[str]:
    phrases = []
    target = plan.target_years
    end = "the target is reached" if target is None else f"{target:g} year{' is' if target == 1 else 's are'} over"
    phrases.append("price/year: the price over the years until the life ends or the target is reached")
    phrases.append(f"useful TB: what the workload writes until the life of the drive ends or {end}, if that is earlier")
    return phrases


def flat_rows(plan: Plan) -> list[dict[str, Any]]:
    """Return one row for each choice, with columns of numbers."""
    return [_flat(plan, point) for point in plan.points]


def arrow(plan: Plan) -> pa.Table:
    """Return the flat rows as an Arrow table."""
    import pyarrow as pa

    made = flat_rows(plan)
    return written(made, pa.schema(types_of(made)))


def _flat(plan: Plan, point: Point) -> dict[str, Any]:
    saved = point.to_dict(plan.bounds, on_front=point in plan.front)
    low, high = saved["interval"] or (None, None)
    return {
        **{key: saved[key] for key in _DRIVE},
        "status": "done" if point.error is None else "failed",
        "error": point.error,
        "target_years": plan.target_years,
        "best": point in plan.best,
        "best_rank": plan.best.index(point) + 1 if point in plan.best else None,
        **{key: saved[key] for key in ("pareto", "cut_by", "life_years", "ends")},
        "interval.low": low,
        "interval.high": high,
        **entry.columns(saved),
        **{key: saved[key] for key in _MONEY},
    }


def _mark(plan: Plan, point: Point) -> str:
    return ("*" if point in plan.best else "") + ("+" if point in plan.front else "")


def _capacity(_plan: Plan, point: Point) -> str:
    """Format as a buyer reads it, ``480 GB``; the flash of a slice, and of a drive that is not sold, ``64 GiB``."""
    if point.result is None:
        return point.capacity or "-"
    if point.sold_bytes is not None and not point.capacity:
        return units.decimal_bytes(point.sold_bytes)
    return units.binary_bytes(point.physical_bytes)


def _visible(point: Point) -> str:
    """Format what the host may write to: of a drive that is sold in decimal units, as its capacity."""
    visible = drive.visible_bytes(point.result)
    if visible is None:
        return "-"
    return units.binary_bytes(visible) if point.sold_bytes is None else units.decimal_bytes(visible)


def _shows_less(point: Point) -> bool:
    """Return whether a drive shows the host another capacity than it is sold with."""
    visible, sold = drive.visible_bytes(point.result), point.sold_bytes
    return visible is not None and sold is not None and abs(visible / sold - 1.0) > _AS_SOLD


def _throttle(_plan: Plan, point: Point) -> str:
    return "built in" if point.result is not None and point.reducer == INTEGRATED else point.throttle


def _rating(_plan: Plan, point: Point) -> str:
    return "-" if point.rated_years is None or point.overloaded else units.life(point.rated_years, point.target_years)


def _tbw(_plan: Plan, point: Point) -> str:
    return "-" if point.flash_tbw_bytes is None else units.figure(point.flash_tbw_bytes / 1e12)


def _interval(_plan: Plan, point: Point) -> str:
    if point.life_range is not None:
        return point.life_range.text
    return "-" if point.flash_range is None or point.ends != "rating" else life_range.NO_INTERVAL


def _target(_plan: Plan, point: Point) -> str:
    return "not possible" if point.result is None else point.verdict


def waf_text(point: Point) -> str:
    """Format as ``1.93``; a dash where it is not known."""
    waf = None if point.result is None else amplification(point.result)[0]
    return "-" if waf is None else f"{waf:.2f}"


def _time(time_us: float) -> str:
    return "-" if math.isinf(time_us) else units.span(time_us * 1e-6)


def _delay(_plan: Plan, point: Point) -> str:
    rare = latency.rare(point.result)
    hidden = "" if rare is None else f" ({units.share(rare.share)} by {_time(rare.mean_us)})"
    return f"{_time(point.delay_p99_us)}{hidden}"


def _up_to(_plan: Plan, point: Point) -> str:
    return _figure(None if point.up_to_bytes_per_day is None else point.up_to_bytes_per_day / 1e9)


def _figure(value: float | None) -> str:
    return "-" if value is None else units.figure(value)


def _throttled(plan: Plan) -> bool:
    return any(point.throttles for point in plan.points)


def _timed(plan: Plan) -> bool:
    return any(not math.isinf(point.write_us) for point in plan.points)


def _reads(plan: Plan) -> bool:
    return any(not math.isinf(point.read_p99_us) for point in plan.points)


def _known_tbw(plan: Plan) -> bool:
    return any(_tbw(plan, point) != "-" for point in plan.points)


def _priced(plan: Plan) -> bool:
    return plan.bounds.priced


_COLUMNS: Sequence[_Column] = (
    _Column("", _mark, part=NAMES),
    _Column(
        "drive", lambda _, point: point.drive or "-", lambda plan: any(point.drive for point in plan.points), NAMES
    ),
    _Column("capacity", _capacity, part=NAMES),
    _Column("visible", lambda _, point: _visible(point), lambda plan: any(map(_shows_less, plan.points)), DETAILS),
    _Column("spare", lambda _, point: point.spare_text, part=NAMES),
    _Column("reducer", lambda _, point: point.reducer or "-", lambda plan: plan.reduces(), NAMES),
    _Column("throttle", _throttle, _throttled, NAMES),
    _Column("life", lambda _, point: point.life_text),
    _Column("ends by", lambda _, point: ENDS_BY[point.ends]),
    _Column("target", _target),
    _Column("served", lambda _, point: "-" if point.overloaded else life_range.served_text(point.result)),
    _Column("up to GB/day", _up_to, lambda plan: any(point.up_to_bytes_per_day is not None for point in plan.points)),
    _Column("WAF (bytes)", lambda _, point: waf_text(point), part=DETAILS),
    _Column("mean write", lambda _, point: _time(point.write_us), _timed, DETAILS),
    _Column("p99", lambda _, point: _time(point.p99_us), _timed, DETAILS),
    _Column("p99.9", lambda _, point: _time(point.p999_us), _timed, DETAILS),
    _Column("delay p99", _delay, _throttled, DETAILS),
    _Column("read p99", lambda _, point: _time(point.read_p99_us), _reads, DETAILS),
    _Column("price", lambda plan, point: _figure(plan.bounds.price(point)), _priced),
    _Column("price/year", lambda plan, point: _figure(plan.bounds.price_per_year(point)), _priced),
    _Column("useful TB", lambda _, point: _figure(point.useful_tb), _priced, DETAILS),
    _Column("price/useful TB", lambda plan, point: _figure(plan.bounds.price_per_useful_tb(point)), _priced, DETAILS),
    _Column("interval", _interval, lambda plan: any(point.flash_range is not None for point in plan.points), DETAILS),
    _Column("flash TBW", _tbw, _known_tbw, DETAILS),
    _Column("rating", _rating, lambda plan: any(point.rated_years is not None for point in plan.points), DETAILS),
)
