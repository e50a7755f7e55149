"""One drive of a plan, and the bounds that it must meet."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.report.sections import drive, growing
from floatgate.report.sections.forecast import entry, host_writes, latency, life_range, load, written_part
from floatgate.report.sections.forecast.life_range import SLACK, LifeRange
from floatgate.report.sections.reduce import INTEGRATED, NAMES, merged_share
from floatgate.results.result_view import look
from floatgate.study.plan_drives import sold_bytes

TB = 1e12
JUDGES = ("both", "flash", "rating")
"""What ends the life of a drive: whichever ends first, the wear of its flash, or its maker's rating."""


ENDS = {
    "flash": "the flash is worn out",
    "first_block": "the first block is worn out",
    "rating": "the rated bytes are written",
}
"""What ends the life that counts, in words."""


@dataclass(frozen=True)
class Price:
    """The price of a drive of the catalogue as sold; another capacity of it costs in proportion.

    Attributes:
        drive: its name.
        price: of the drive.
        flash_bytes: its flash.
        source: the pair of ``--prices`` that it comes from, such as ``client=60/TB``.
    """

    drive: str
    price: float
    flash_bytes: int
    source: str = ""


@dataclass(frozen=True)
class Bounds:
    """The requirements on a drive besides its life, and the criterion of that life.

    Attributes:
        min_served: share of the workload that is written in the target time, at least.
        max_write_p99_us: 99 of a hundred page writes take no longer; None for no bound.
        price_per_tb: of the capacity as sold, of flash where a drive is not sold; None where prices do not matter.
        judge: one of :data:`JUDGES`; the rating of a drive without one is passed over.
        prices: of drives of the catalogue; these go before ``price_per_tb``.
        unused_prices: names with a price that the plan does not try.
        price_doubts: sentences on prices of groups that cover drives of several capacities.
    """

    min_served: float = 0.99
    max_write_p99_us: float | None = None
    price_per_tb: float | None = None
    judge: str = JUDGES[0]
    prices: tuple[Price, ...] = ()
    unused_prices: tuple[str, ...] = ()
    price_doubts: tuple[str, ...] = ()

    @property
    def priced(self) -> bool:
        """Whether prices matter."""
        return self.price_per_tb is not None or bool(self.prices)

    def cut_by(self, point: Point) -> str | None:
        """Return the first bound that rules a point out; None where it may be taken.

        ``load`` (more than it can do), ``life`` (of the flash), ``rating``, ``served`` or ``p99``.
        """
        if point.overloaded:
            return "load"
        if not point.holds:
            return "life" if point.judge == "flash" or not point.flash_holds else "rating"
        if point.served is not None and point.served < self.min_served:
            return "served"
        if self.max_write_p99_us is not None and point.p99_us > self.max_write_p99_us:
            return "p99"
        return None

    def price(self, point: Point) -> float | None:
        """Return what a drive costs."""
        if math.isinf(point.physical_bytes):
            return None
        own = next((one for one in self.prices if one.drive == point.drive), None)
        if own is not None:
            return point.physical_bytes / own.flash_bytes * own.price
        size = point.physical_bytes if point.sold_bytes is None else point.sold_bytes
        return None if self.price_per_tb is None else size / TB * self.price_per_tb

    def price_per_useful_tb(self, point: Point) -> float | None:
        """Return the price per TB that the workload writes in the drive's useful life (:attr:`Point.useful_tb`)."""
        price = self.price(point)
        return price / point.useful_tb if price is not None and point.useful_tb else None

    def price_per_year(self, point: Point) -> float | None:
        """Return the price per year of the drive's useful life, which ends with its life or at the target."""
        price, target = self.price(point), point.target_years
        years = point.life_years if target is None else min(point.life_years, target)
        return price / years if price is not None and 0 < years < math.inf else None

    def cost(self, point: Point) -> float:
        """Return what choices are compared by: the price where it is known, the capacity else."""
        price = self.price(point)
        return point.physical_bytes if price is None else price


@dataclass(frozen=True)
class Point:
    """One choice and its result, which is None where ``error`` says why it is missing.

    ``drive`` is the name of a drive of the catalogue, None where none is named; ``capacity`` is empty where it is the
    drive's own.
    """

    capacity: str
    spare_factor: str | None
    throttle: str
    result: dict[str, Any] | None
    error: str | None = None
    reducer: str | None = None
    judge: str = JUDGES[0]
    drive: str | None = None

    @property
    def label(self) -> str:
        """``64 GiB``, ``client-tlc-1t``, ``client-tlc-1t of 64 GiB``: which drive it is, as the command names it."""
        if self.drive is None:
            return self.capacity
        return f"{self.drive} of {self.capacity}" if self.capacity else self.drive

    @property
    def throttles(self) -> bool:
        """Whether writes may be held back."""
        return self.throttle != "none" or self.reducer == INTEGRATED

    @property
    def series(self) -> str:
        """What to call its throttle and reducer in a picture."""
        if self.reducer is None:
            return self.throttle
        return self.reducer if self.throttle == "none" else f"{self.reducer}, {self.throttle}"

    @property
    def physical_bytes(self) -> float:
        """The capacity; infinite where it is not known."""
        return float(drive.physical_bytes(self.result) or math.inf)

    @property
    def sold_bytes(self) -> float | None:
        """The capacity as sold of a drive of the catalogue, in proportion to its flash; None for drives of papers."""
        kept: float | None = look(self.result, "drive", "sold_bytes")
        if kept is not None or self.result is None:
            return kept
        return sold_bytes(drive.name(self.result), self.physical_bytes)

    @property
    def years(self) -> float:
        """How long it lasts by the plan's criterion; 0 if that is not known."""
        return entry.earliest(self.result, self.judge)[1] or 0.0

    @property
    def life_years(self) -> float:
        """The life that counts; infinite where nothing ends it, 0 where it is not known."""
        if self.result is None or self.overloaded:
            return 0.0
        years = entry.earliest(self.result, self.judge)[1]
        return math.inf if years is None else years

    @property
    def ends(self) -> str | None:
        """What ends the life that counts: a key of :data:`ENDS`; None where nothing does."""
        return entry.earliest(self.result, self.judge)[0] if self.life_years else None

    @property
    def useful_tb(self) -> float | None:
        """TB that the workload writes until the life that counts or the target ends, whichever is earlier."""
        a_year, target = entry.host_bytes_per_year(self.result), self.target_years
        if self.overloaded or a_year is None or not a_year or target is None:
            return None
        years = min(self.life_years, target)
        return a_year * years * growing.written_of(years, self.result) / TB

    @property
    def up_to_bytes_per_day(self) -> float | None:
        """The host bytes per day up to which the target is met at this write amplification, whatever is served.

        None for a throttled drive, whose life does not depend on them, and where nothing ends the life.
        """
        a_day, target, years = entry.demand_bytes_per_day(self.result), self.target_years, self.life_years
        if self.throttles or a_day is None or target is None or not 0 < years < math.inf:
            return None
        return a_day * growing.times_as_much(years, target, self.result)

    @property
    def up_to_waf(self) -> float | None:
        """The write amplification up to which the flash meets the target; None if it misses it or is throttled."""
        return None if self.overloaded else written_part.up_to_waf(self.result, self.judge)

    @property
    def flash_tbw_bytes(self) -> float | None:
        """Bytes that the host writes until the flash is worn out, regardless of the rating."""
        return None if self.result is None else host_writes.tbw_bytes(self.result)

    @property
    def spare(self) -> float | None:
        """The spare factor as it was given, or as the drive has it, which differs in the fifth digit."""
        value = drive.spare_factor(self.result) if self.spare_factor is None else float(self.spare_factor)
        return None if value is None else round(value, 4)

    @property
    def spare_text(self) -> str:
        """``7.0 %``; a dash where it is not known."""
        return "-" if self.spare is None else units.percent1(self.spare)

    @property
    def holds(self) -> bool:
        """Whether it lasts as long as required, by the plan's criterion."""
        return {"both": self.flash_holds and self.rating_holds, "flash": self.flash_holds, "rating": self.rating_holds}[
            self.judge
        ]

    @property
    def flash_holds(self) -> bool:
        """Whether its first block lasts so long where wear is uneven, the average block else."""
        first, target = entry.first_block_years(self.result), self.target_years
        lasts = first is None or target is None or first >= target * (1 - SLACK)
        return entry.holds(self.result) and lasts

    @property
    def rating_holds(self) -> bool:
        """Whether the host writes no more until the target than the maker promises; so it is without a promise."""
        rated, target = self.rated_years, self.target_years
        return self.result is not None and (rated is None or target is None or rated >= target * (1 - SLACK))

    @property
    def write_us(self) -> float:
        """Mean response of a page write; infinite where it is not known."""
        return self._write("mean")

    @property
    def p99_us(self) -> float:
        """99 of a hundred page writes take no longer; infinite where it is not known."""
        return self._write("p99")

    @property
    def p999_us(self) -> float:
        """999 of a thousand page writes take no longer; infinite where it is not known."""
        return self._write("p999")

    @property
    def read_p99_us(self) -> float:
        """99 of a hundred reads take no longer; infinite where it is not known."""
        value = entry.read_us(self.result, "p99")
        return math.inf if value is None else value

    @property
    def delay_p99_us(self) -> float:
        """The throttle holds 99 of a hundred page writes back for no longer; 0 without one."""
        return entry.delay_us(self.result, "p99") or 0.0

    @property
    def overloaded(self) -> bool:
        """Whether the host requests more than the drive can do; its life is not known then."""
        return load.overloaded(self.result)

    @property
    def served(self) -> float | None:
        """Share of the workload that is written in the target time; a throttle that holds back makes it less."""
        return entry.served(self.result)

    @property
    def rated_years(self) -> float | None:
        """When the host has written the rated bytes of the drive; None if that is not known."""
        return entry.rated_years(self.result)

    @property
    def target_years(self) -> float | None:
        """How long it should last."""
        return entry.target_years(self.result)

    @property
    def life_range(self) -> LifeRange | None:
        """The interval of the life that counts; None where nothing is known of it, or the rating alone ends it."""
        flash = self.flash_range
        if flash is None or self.judge == "flash":
            return flash
        return flash.ended_by(self.rated_years) if self.judge == "both" else None

    @property
    def flash_range(self) -> LifeRange | None:
        """The interval of the life of its flash; None where nothing is known of it."""
        return None if self.overloaded else life_range.of(self.result)

    @property
    def merged_share(self) -> float | None:
        """The share of the page writes that an overwrite replaced while their chunk waited for compression."""
        return merged_share(self.result)

    @property
    def reaches_below(self) -> bool:
        """Whether it meets its target in the middle of the interval, and misses it at the lower end."""
        interval, target = self.life_range, self.target_years
        if self.judge == "rating" or not self.holds or interval is None or target is None:
            return False
        return interval.reaches_below(target)

    def serves_below(self, min_served: float) -> bool:
        """Return whether it serves enough in the middle of the interval, and too little at the lower end."""
        ends = entry.served_range(self.result)
        return self.served is not None and ends is not None and ends[0] < min_served <= self.served

    @property
    def verdict(self) -> str:
        """Whether the target is met, in a few words."""
        if self.overloaded:
            return "load too high"
        if not self.holds:
            return "missed"
        return "met, interval below" if self.reaches_below else "met"

    def line(self) -> str:
        """Format as ``64 GiB under static: 1.0 years, met, 32 % served, mean write 1.0 ms``, for progress messages."""
        if self.result is None:
            return f"{self.label}: {self.error}"
        size = units.binary_bytes(self.physical_bytes) if self.drive is None else self.label
        spare = "" if self.spare_factor is None else f" with {units.percent1(float(self.spare_factor))} spare"
        if self.overloaded:
            return f"{size}{spare} {managed_words(self)}: {load.BEYOND}"
        life = self.life_text
        served = f"{life_range.served_text(self.result)} served"
        return f"{size}{spare} {managed_words(self)}: {life}, {self.verdict}, {served}, {write_words(self)}"

    @property
    def life_text(self) -> str:
        """``5.0 years``, ``unlimited``, ``not known``: the life that counts."""
        if self.overloaded:
            return "not known"
        return (
            "-"
            if self.result is None
            else units.life(None if self.ends is None else self.life_years, self.target_years)
        )

    def _write(self, key: str) -> float:
        value = entry.write_us(self.result, key)
        return math.inf if value is None else value

    def to_dict(self, bounds: Bounds, *, on_front: bool) -> dict[str, Any]:
        """Return it as JSON gives it; ``cut_by`` is the first bound that rules it out."""
        interval, years = self.life_range, self.life_years
        return {
            "drive": self.drive,
            "cut_by": bounds.cut_by(self),
            "pareto": on_front,
            "life_years": years if 0 < years < math.inf else None,
            "ends": self.ends,
            "flash_tbw_bytes": self.flash_tbw_bytes,
            "useful_tb": self.useful_tb,
            "price_per_useful_tb": bounds.price_per_useful_tb(self),
            "price_per_year": bounds.price_per_year(self),
            "up_to_bytes_per_day": self.up_to_bytes_per_day,
            "up_to_waf": self.up_to_waf,
            "interval": None if interval is None else [interval.low, interval.high],
            "interval_from": [] if interval is None else list(interval.sources),
            "reaches_below": None if interval is None else self.reaches_below,
            "price": bounds.price(self),
            "capacity": self.capacity,
            "capacity_bytes": drive.physical_bytes(self.result),
            "sold_bytes": self.sold_bytes,
            "spare_factor": self.spare,
            "throttle": self.throttle,
            "reducer": self.reducer,
            **entry.kept(self.result),
            "merged_share": self.merged_share,
            "error": self.error,
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any], judge: str) -> Point:
        """Return the point that :meth:`to_dict` describes, with as much of its result as a plan shows."""
        spare = None if saved["spare_factor"] is None else str(saved["spare_factor"])
        reduced = {"policy": saved["reducer"], "merged_share": saved.get("merged_share")}
        known = {**entry.restored(saved), "reduce": reduced} if saved["error"] is None else None
        settings = (saved["throttle"], known, saved["error"], saved["reducer"], judge, saved.get("drive"))
        return cls(saved["capacity"], spare, *settings)


WORTH = 0.99
"""A gain of a hundredth in mean response does not justify a larger drive, a throttle, or a larger p99.9."""


def choices(points: Sequence[Point], bounds: Bounds | None = None) -> list[Point]:
    """Return the points within the bounds to take: the best of the cheapest drives, then dearer ones that are faster.

    A drive that several throttles or reducers manage counts as managed for the fastest writes. Of several drives at one
    cost, the one that lives longest is best, then the one that serves most, then the fastest: no drive at this cost or
    below beats the first one.
    """
    limits = bounds or Bounds()
    holding = [point for point in points if limits.cut_by(point) is None]

    def drive_of(point: Point) -> tuple[float, float, float, str]:
        return limits.cost(point), point.physical_bytes, point.spare or 0.0, point.drive or ""

    drives = [_fastest(list(same)) for _, same in itertools.groupby(sorted(holding, key=drive_of), key=drive_of)]
    best: list[Point] = []
    for _, same in itertools.groupby(drives, key=limits.cost):
        faster = [point for point in same if not best or point.write_us < WORTH * best[-1].write_us]
        if faster:
            most = max(map(_benefits, faster))
            best.append(_fastest([point for point in faster if _benefits(point) == most]))
    return best


def _fastest(points: Sequence[Point]) -> Point:
    """Choose the fastest point; of those that are nearly as fast, the one that is managed least."""
    fastest = min(point.write_us for point in points)
    alike = [point for point in points if WORTH * point.write_us <= fastest]
    return min(alike, key=lambda one: (one.throttle != "none", one.reducer not in (None, "none"), one.p999_us))


def _benefits(one: Point) -> tuple[float, float]:
    """Return life and share served, to as many digits as a page shows: smaller differences make no drive better."""
    life, served = one.life_years, 1.0 if one.served is None else one.served
    return float(f"{life:.4g}"), float(f"{served:.4g}")


def front(points: Sequence[Point], bounds: Bounds) -> list[Point]:
    """Return the Pareto front: no other point costs less, lives longer or serves more without being worse elsewhere."""
    known = [point for point in points if point.result is not None and not point.overloaded]
    worth = [(bounds.cost(one), *map(operator.neg, _benefits(one))) for one in known]
    # Equal points do not beat each other: all of them are on the front.
    beaten = (any(other != own and all(map(operator.le, other, own)) for other in worth) for own in worth)
    return [point for point, is_beaten in zip(known, beaten, strict=True) if not is_beaten]


def managed_words(point: Point) -> str:
    """Format as ``with compression, under dynamic``, ``under the integrated manager``."""
    if point.reducer == INTEGRATED:
        return "under the integrated manager"
    throttle = "without throttling" if point.throttle == "none" else f"under {point.throttle}"
    return throttle if point.reducer in (None, "none") else f"with {NAMES[point.reducer]}, {throttle}"


def write_words(point: Point) -> str:
    """Format as ``mean write 1.3 ms, p99 2.0 ms``."""
    if math.isinf(point.write_us):
        return "-"
    tail = "" if math.isinf(point.p99_us) else f", p99 {latency.with_interval(point.p99_us, _p99_interval_us(point))}"
    return f"mean write {units.span(point.write_us * 1e-6)}{tail}"


def _p99_interval_us(point: Point) -> list[float] | None:
    """Return the interval of the p99 of writes; the delays of a throttle have none."""
    interval = latency.interval_us(point.result, "write", "p99")
    return None if interval is None else [end + point.delay_p99_us for end in interval]
