"""The planner's view: which capacity, spare factor or throttle makes a drive last for so many years."""

from __future__ import annotations

import itertools
import json
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate import _core, units
from floatgate.amplification import amplification
from floatgate.errors import FloatgateError, input_error, one_line, quoted
from floatgate.experiment import Experiment, Overrides, toml_value
from floatgate.folder import RunFolder
from floatgate.lifetime import forecast
from floatgate.lifetime_summary import life_years
from floatgate.record import look
from floatgate.reduce import INTEGRATED, NAMES
from floatgate.run import check
from floatgate.text_table import table

SCHEMA = "floatgate.plan/1"
FILE = "plan.json"
FACTORS = (0.5, 1.0, 2.0, 4.0)
"""Capacities that are tried where none are named, as multiples of the drive's own."""
LARGER_MAX = 3
"""So many larger drives are tried besides, where none of these lasts without throttling."""
LARGER_BYTES = 256 << 30
"""No larger ones: the FTL would run for minutes."""
TB = 1e12

Progress = Callable[[int, "int | None", str], None]


@dataclass(frozen=True)
class Bounds:
    """What a drive must do besides lasting, before a planner takes it.

    Attributes:
        min_served: share of the workload that is written in the target time, at least.
        max_write_p99_us: 99 of a hundred page writes take no longer; None for no bound.
        price_per_tb: of flash; None where prices do not matter.
    """

    min_served: float = 0.99
    max_write_p99_us: float | None = None
    price_per_tb: float | None = None

    def cut_by(self, point: Point) -> str | None:
        """The first bound that rules a point out: ``life``, ``served`` or ``p99``; None where it may be taken."""
        if not point.holds:
            return "life"
        if point.served is not None and point.served < self.min_served:
            return "served"
        if self.max_write_p99_us is not None and point.p99_us > self.max_write_p99_us:
            return "p99"
        return None

    def price(self, point: Point) -> float | None:
        """What a drive costs."""
        if self.price_per_tb is None or math.isinf(point.physical_bytes):
            return None
        return point.physical_bytes / TB * self.price_per_tb


@dataclass(frozen=True)
class Point:
    """One choice and what it gives; ``result`` is None where ``error`` says why there is none."""

    capacity: str
    spare_factor: str | None
    throttle: str
    result: dict[str, Any] | None
    error: str | None = None
    reducer: str | None = None

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
        return float(look(self.result, "drive", "physical_bytes") or math.inf)

    @property
    def years(self) -> float:
        """How long it lasts; 0 where that is not known."""
        return float(look(self.result, "lifetime", "years") or 0.0)

    @property
    def spare(self) -> float | None:
        """The spare factor as it was given, or as the drive has it, which differs in the fifth digit."""
        value = look(self.result, "drive", "spare_factor") if self.spare_factor is None else float(self.spare_factor)
        return None if value is None else round(value, 4)

    @property
    def holds(self) -> bool:
        """Whether it lasts as long as it should."""
        return bool(look(self.result, "lifetime", "holds"))

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
    def served(self) -> float | None:
        """Share of the workload that is written in the target time; a throttle that holds back makes it less."""
        value = look(self.result, "throttle", "demand_share")
        return None if value is None else float(value)

    def _write(self, key: str) -> float:
        value = look(self.result, "latency_us", "write", key)
        return math.inf if value is None else float(value)

    def to_dict(self, bounds: Bounds) -> dict[str, Any]:
        """As JSON gives it; ``cut_by`` is the first bound that rules it out."""
        return {
            "cut_by": bounds.cut_by(self),
            "price": bounds.price(self),
            "capacity_bytes": look(self.result, "drive", "physical_bytes"),
            "spare_factor": self.spare,
            "throttle": self.throttle,
            "reducer": self.reducer,
            "waf": look(self.result, "waf"),
            "waf_bytes": look(self.result, "waf_bytes"),
            "lifetime": look(self.result, "lifetime"),
            "latency_us": {
                "write": {
                    key: look(self.result, "latency_us", "write", key) for key in ("mean", "p50", "p99", "p999", "max")
                }
            },
            "demand_share": self.served,
            "error": self.error,
        }


class Plan:
    """All choices, and those that a planner would take.

    Attributes:
        points: the choices in the order in which they were asked for.
        best: of those that last long enough and keep to the bounds, all that no other beats in both capacity (then
            spare) and mean write; the smallest first.
        bounds: what a drive must do besides lasting.
        experiment_toml: the experiment that they vary, resolved.
        label: what to call it.
    """

    def __init__(self, points: Sequence[Point], experiment_toml: str, label: str, bounds: Bounds | None = None) -> None:
        """Use :func:`plan`."""
        self.points = list(points)
        self.experiment_toml = experiment_toml
        self.label = label
        self.bounds = bounds or Bounds()
        self.best = choices(self.points, self.bounds)

    @property
    def target_years(self) -> float | None:
        """The years that were asked for."""
        targets = (look(point.result, "lifetime", "target_years") for point in self.points)
        return next((target for target in targets if target is not None), None)

    def answer(self) -> str:
        """One sentence: what meets the target, the smallest drive first."""
        target = self.target_years
        years = "the target" if target is None else f"{target:g} year{'' if target == 1 else 's'}"
        if not self.best:
            return self._none(years)
        named = [f"{self._drive(point)} {managed_words(point)} ({self._told(point)})" for point in self.best]
        first = f"the smallest drive that lasts {years} is {named[0]}"
        return (
            first
            + (f"; faster, but larger: {', then '.join(named[1:])}" if len(named) > 1 else "")
            + self._unthrottled()
        )

    def _none(self, years: str) -> str:
        """That no drive will do, and which bound has cut the last ones."""
        lasting = [point for point in self.points if point.holds]
        if not lasting:
            plain = self._unthrottled() or "; use a larger drive or a throttle that guarantees the target"
            return f"none of these drives lasts {years}{plain}"
        asked = f"{units.share(self.bounds.min_served)} of the workload"
        serving = [point for point in lasting if self.bounds.cut_by(point) != "served"]
        if not serving:
            most = max(lasting, key=lambda point: point.served or 0.0)
            named = f"{self._drive(most)} {managed_words(most)}"
            told = f"of those that last, {named} serves most, {units.share(most.served or 0.0)} (--min-served)"
            return f"none of these drives lasts {years} and serves {asked}: {told}{self._unthrottled()}"
        fastest = min(serving, key=lambda point: point.p99_us)
        bound, least = (units.span(us * 1e-6) for us in (self.bounds.max_write_p99_us or 0.0, fastest.p99_us))
        named = f"{self._drive(fastest)} {managed_words(fastest)}"
        return (
            f"none of these drives lasts {years}, serves {asked} and writes 99 of 100 pages within {bound}: of those "
            f"that do the former, {named} is the fastest with {least} (--max-write-p99)"
        )

    def _unthrottled(self) -> str:
        """How large a drive would have to be without throttling, where none that was tried is large enough."""
        plain = [point for point in self.points if not point.throttles and point.result is not None]
        if not plain or any(point.holds for point in plain) or not self.target_years:
            return ""
        largest = max(point.physical_bytes for point in plain)
        longest = max((point for point in plain if point.physical_bytes == largest), key=lambda point: point.years)
        if not longest.years:
            return ""
        size = units.binary_bytes(largest * self.target_years / longest.years)
        by = "" if longest.reducer in (None, "none") else f" with {NAMES[longest.reducer]}"
        return f"; without throttling it would take about {size}{by}, extrapolated from {units.binary_bytes(largest)}"

    def _told(self, point: Point) -> str:
        """Response, what is served where that is not all, and the price of a choice."""
        told = [_write(point)]
        if point.served is not None and point.served < 0.9995:
            told.append(f"{units.share(point.served)} served")
        price = self.bounds.price(point)
        return ", ".join(told + ([] if price is None else [f"price {units.figure(price)}"]))

    def _drive(self, point: Point) -> str:
        spares = {one.spare for one in self.points if one.spare is not None}
        size = units.binary_bytes(point.physical_bytes)
        return size if len(spares) < 2 or point.spare is None else f"{size} with {units.percent1(point.spare)} spare"

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells; what a planner would take is marked by a star."""
        header = ["", "capacity", "spare", "throttle", "life", "target", "WAF", "served", "mean write", "p99", "p99.9"]
        cells = [self._cells(point) for point in self.points]
        if self.bounds.price_per_tb is not None:
            header.append("price")
            for point, row in zip(self.points, cells, strict=True):
                price = self.bounds.price(point)
                row.append("-" if price is None else units.figure(price))
        if self.reduces():
            header.insert(_REDUCER, "reducer")
            for point, row in zip(self.points, cells, strict=True):
                row.insert(_REDUCER, point.reducer or "-")
        return header, cells

    def reduces(self) -> bool:
        """Whether reducers are compared."""
        return any(point.reducer is not None for point in self.points)

    def _cells(self, point: Point) -> list[str]:
        mark = "*" if point in self.best else ""
        if point.result is None:
            spare = "-" if point.spare is None else units.percent1(point.spare)
            return [mark, point.capacity, spare, point.throttle, "-", "not possible", "-", "-", "-", "-", "-"]
        waf, _ = amplification(point.result)
        return [
            mark,
            units.binary_bytes(point.physical_bytes),
            "-" if point.spare is None else units.percent1(point.spare),
            "by itself" if point.reducer == INTEGRATED else point.throttle,
            life_years(look(point.result, "lifetime", "years")),
            "met" if point.holds else "missed",
            "-" if waf is None else f"{waf:.2f}",
            "-" if point.served is None else units.share(point.served),
            *(
                "-" if math.isinf(time_us) else units.span(time_us * 1e-6)
                for time_us in (point.write_us, point.p99_us, point.p999_us)
            ),
        ]

    def text(self) -> str:
        """The sentence, then the table, then what could not be."""
        header, rows = self.rows()
        errors = dict.fromkeys(f"{point.capacity}: {point.error}" for point in self.points if point.error)
        right = frozenset(i for i, name in enumerate(header) if name not in _WORDS)
        return "\n".join([self.answer(), "", table(header, rows, right=right), *errors])

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it (schema ``floatgate.plan/1``); ``best`` counts in ``points`` from 0."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "target_years": self.target_years,
            "min_served": self.bounds.min_served,
            "max_write_p99_us": self.bounds.max_write_p99_us,
            "price_per_tb": self.bounds.price_per_tb,
            "answer": self.answer(),
            "best": [self.points.index(point) for point in self.best],
            "points": [point.to_dict(self.bounds) for point in self.points],
        }

    def report(self, command: str | None = None) -> str:
        """The plan as one self-contained HTML page."""
        from floatgate.plan_report import page

        return page(self, command)

    def write(self, target: RunFolder, *, report: bool = True, command: str | None = None) -> Path:
        """Write ``plan.json``, ``experiment.toml`` and ``report.html``; raises InputError where that cannot be."""

        def fill(staging: Path, _final: Path) -> None:
            (staging / FILE).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
            (staging / "experiment.toml").write_text(self.experiment_toml, "utf-8")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)


WORTH = 0.99
"""A hundredth of the mean response is no reason for a larger drive, nor for a throttle, nor for a larger p99.9."""


def choices(points: Sequence[Point], bounds: Bounds | None = None) -> list[Point]:
    """Of the points within the bounds those that no other beats: smaller first, each faster than all smaller ones."""
    asked = bounds or Bounds()
    holding = [point for point in points if asked.cut_by(point) is None]
    best: list[Point] = []
    for _, same in itertools.groupby(sorted(holding, key=_cost), key=_cost):
        drive = list(same)
        fastest = min(point.write_us for point in drive)
        alike = [point for point in drive if WORTH * point.write_us <= fastest]
        point = min(alike, key=lambda one: (one.throttle != "none", one.reducer not in (None, "none"), one.p999_us))
        if not best or point.write_us < WORTH * best[-1].write_us:
            best.append(point)
    return best


def _cost(point: Point) -> tuple[float, float]:
    return point.physical_bytes, point.spare or 0.0


_REDUCER = 3
"""The column before which the reducer stands."""
_WORDS = ("", "reducer", "throttle", "target")
"""Columns of words, which are set flush left."""


def managed_words(point: Point) -> str:
    """``with compression, under dynamic``, ``under the integrated manager``."""
    if point.reducer == INTEGRATED:
        return "under the integrated manager"
    throttle = "without throttling" if point.throttle == "none" else f"under {point.throttle}"
    return throttle if point.reducer in (None, "none") else f"with {NAMES[point.reducer]}, {throttle}"


def _write(point: Point) -> str:
    return "-" if math.isinf(point.write_us) else f"mean write {units.span(point.write_us * 1e-6)}"


def _named(slot: str) -> list[str]:
    """The policies of a slot, as the catalogue lists them."""
    return [entry["name"] for entry in json.loads(_core.catalogue())["policies"][slot]]


def plan(
    base: Experiment,
    capacities: Sequence[str] | None = None,
    spare_factors: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    reducers: Sequence[str] | None = None,
    progress: Progress | None = None,
    bounds: Bounds | None = None,
) -> Plan:
    """Forecast every combination of capacity, spare factor and throttle.

    Where no capacities are named and none of those tried will do without throttling, larger ones are tried by what the
    largest has shown, as far as :data:`LARGER_BYTES`.

    Args:
        base: the experiment.
        capacities: texts such as ``64GiB``; None for half, one, two and four times the drive's own.
        spare_factors: texts of shares; None for the drive's own.
        policies: names of throttles; None for all, or for that of the experiment where reducers are named.
        reducers: names of reducers; None for that of the experiment. The integrated manager throttles by itself, so it
            stands beside no throttle.
        progress: called with (done, total, phase).
        bounds: what a drive must do besides lasting; None for the defaults of :class:`Bounds`.

    Raises:
        InputError: the experiment is unusable, or none of the drives can hold the workload.
        RunError: a run failed.
    """
    _refuse_unknown("--throttles", policies, _named("lifetime.throttle"))
    _refuse_unknown("--reducers", reducers, _named("lifetime.reduce"))
    resolved = check(base)
    managers = _managers(resolved, policies, reducers)
    sizes = list(capacities) if capacities is not None else _multiples(resolved)
    spares: list[str | None] = [*spare_factors] if spare_factors else [None]
    drives = [(size, spare) for size in sizes for spare in spares]
    points: list[Point] = []
    refused: FloatgateError | None = None

    def forecast_drive(size: str, spare: str | None, report: Progress | None) -> None:
        nonlocal refused
        try:
            results = forecast(base.with_overrides(_drive(size, spare)), [_overrides(*one) for one in managers],
                               progress=report)  # fmt: skip
        except _core.InputError as error:
            refused = refused or error
            points.extend(Point(size, spare, policy, None, one_line(error), reducer) for policy, reducer in managers)
            return
        pairs = zip(managers, results, strict=True)
        points.extend(Point(size, spare, policy, one, reducer=reducer) for (policy, reducer), one in pairs)

    for number, (size, spare) in enumerate(drives):
        forecast_drive(size, spare, None if progress is None else _part(progress, number, len(drives), size))
    if refused is not None and not any(point.result for point in points):
        raise refused
    for _ in range(LARGER_MAX if capacities is None else 0):
        larger = _larger(points, resolved)
        if larger is None:
            break
        for spare in spares:
            forecast_drive(larger, spare, None if progress is None else _part(progress, 0, 1, larger))
    return Plan(points, resolved, base.name(), bounds)


def _larger(points: Sequence[Point], resolved: str) -> str | None:
    """The capacity that should last without throttling, by the largest that was tried; None where there is no need."""
    plain = [point for point in points if not point.throttles and point.result is not None]
    if not plain or any(point.holds for point in plain):
        return None
    longest = max(plain, key=lambda point: (point.physical_bytes, point.years))
    target = look(longest.result, "lifetime", "target_years")
    if not longest.years or not target:
        return None
    # A hundredth more, so that rounding does not miss the target.
    wanted = longest.physical_bytes * target / longest.years * 1.01
    if wanted > LARGER_BYTES:
        return None
    stripe = _stripe(resolved)
    return _size(stripe * math.ceil(wanted / stripe))


def _refuse_unknown(option: str, names: Sequence[str] | None, known: list[str]) -> None:
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise input_error(f"{option}: unknown {quoted(unknown)}; expected some of {quoted(known)}")


def _managers(
    resolved: str, policies: Sequence[str] | None, reducers: Sequence[str] | None
) -> list[tuple[str, str | None]]:
    """Throttle and reducer of each choice.

    Raises:
        InputError: throttles are named where the integrated manager throttles by itself.
    """
    settings = look(tomllib.loads(resolved), "lifetime") or {}
    own, throttle = (str(look(settings, slot, "policy") or "none") for slot in ("reduce", "throttle"))
    # Where reducers are compared, the throttle stays as it is.
    throttles = list(policies or ([throttle] if reducers is not None else _named("lifetime.throttle")))
    named = list(reducers) if reducers is not None else [own]
    if named == [INTEGRATED] and policies is not None and throttles != ["none"]:
        raise input_error("--throttles: the integrated manager throttles by itself; expected no such option")
    return [
        (policy, None if reducers is None and reducer == "none" else reducer)
        for reducer in named
        for policy in (["none"] if reducer == INTEGRATED else throttles)
    ]


def _overrides(policy: str, reducer: str | None) -> Overrides:
    throttle = [("lifetime.throttle.policy", toml_value("", policy))]
    return throttle if reducer is None else [*throttle, ("lifetime.reduce.policy", toml_value("", reducer))]


def _drive(capacity: str, spare: str | None) -> Overrides:
    drive = [("drive.capacity", toml_value("drive.capacity", capacity))]
    return drive if spare is None else [*drive, ("ftl.spare_factor", spare)]


def _multiples(resolved: str) -> list[str]:
    """Half, one, two and four times the capacity of a resolved experiment, as far as these are whole blocks."""
    blocks = int(tomllib.loads(resolved)["drive"]["geometry"]["blocks_per_plane"])
    return [_size(_stripe(resolved) * max(1, int(blocks * factor))) for factor in FACTORS]


def _stripe(resolved: str) -> int:
    """Bytes of one block on each plane."""
    geometry = tomllib.loads(resolved)["drive"]["geometry"]
    names = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "pages_per_block", "page_bytes")
    return math.prod(int(geometry[name]) for name in names)


def _size(size_bytes: int) -> str:
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit} {name}"
    return str(size_bytes)


def _part(progress: Progress, number: int, parts: int, label: str) -> Progress:
    def report(done: int, total: int | None, phase: str) -> None:
        share = min(1.0, done / total) if total else 0.0
        progress(int(1000 * (number + share)), 1000 * parts, f"{label}: {phase}")

    return report
