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

Progress = Callable[[int, "int | None", str], None]


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

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it."""
        return {
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
        best: of those that last long enough, all that no other beats in both capacity (then spare) and mean write;
            the smallest first.
        experiment_toml: the experiment that they vary, resolved.
        label: what to call it.
    """

    def __init__(self, points: Sequence[Point], experiment_toml: str, label: str) -> None:
        """Use :func:`plan`."""
        self.points = list(points)
        self.experiment_toml = experiment_toml
        self.label = label
        self.best = choices(self.points)

    @property
    def target_years(self) -> float | None:
        """The years that were asked for."""
        targets = (look(point.result, "lifetime", "target_years") for point in self.points)
        return next((target for target in targets if target is not None), None)

    def answer(self) -> str:
        """One sentence: what meets the target, the smallest drive first."""
        target = self.target_years
        years = "the target" if target is None else f"{target:g} years"
        if not self.best:
            plain = self._unthrottled() or "; use a larger drive or a throttle that guarantees the target"
            return f"none of these drives lasts {years}{plain}"
        named = [f"{self._drive(point)} {managed_words(point)} ({_write(point)})" for point in self.best]
        first = f"the smallest drive that lasts {years} is {named[0]}"
        return (
            first
            + (f"; faster, but larger: {', then '.join(named[1:])}" if len(named) > 1 else "")
            + self._unthrottled()
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

    def _drive(self, point: Point) -> str:
        spares = {one.spare for one in self.points if one.spare is not None}
        size = units.binary_bytes(point.physical_bytes)
        return size if len(spares) < 2 or point.spare is None else f"{size} with {units.percent1(point.spare)} spare"

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells; what a planner would take is marked by a star."""
        header = ["", "capacity", "spare", "throttle", "life", "target", "WAF", "served", "mean write", "p99.9"]
        cells = [self._cells(point) for point in self.points]
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
            return [mark, point.capacity, spare, point.throttle, "-", "not possible", "-", "-", "-", "-"]
        p999, (waf, _) = look(point.result, "latency_us", "write", "p999"), amplification(point.result)
        return [
            mark,
            units.binary_bytes(point.physical_bytes),
            "-" if point.spare is None else units.percent1(point.spare),
            "by itself" if point.reducer == INTEGRATED else point.throttle,
            life_years(look(point.result, "lifetime", "years")),
            "met" if point.holds else "missed",
            "-" if waf is None else f"{waf:.2f}",
            "-" if point.served is None else units.share(point.served),
            "-" if math.isinf(point.write_us) else units.span(point.write_us * 1e-6),
            "-" if p999 is None else units.span(p999 * 1e-6),
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
            "answer": self.answer(),
            "best": [self.points.index(point) for point in self.best],
            "points": [point.to_dict() for point in self.points],
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


def choices(points: Sequence[Point]) -> list[Point]:
    """Of the points that hold those that no other beats: smaller first, and each faster than all smaller ones."""
    holding = [point for point in points if point.holds]
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
) -> Plan:
    """Forecast every combination of capacity, spare factor and throttle.

    Args:
        base: the experiment.
        capacities: texts such as ``64GiB``; None for half, one, two and four times the drive's own.
        spare_factors: texts of shares; None for the drive's own.
        policies: names of throttles; None for all, or for that of the experiment where reducers are named.
        reducers: names of reducers; None for that of the experiment. The integrated manager throttles by itself, so it
            stands beside no throttle.
        progress: called with (done, total, phase).

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
    for number, (size, spare) in enumerate(drives):
        report = None if progress is None else _part(progress, number, len(drives), size)
        try:
            results = forecast(base.with_overrides(_drive(size, spare)), [_overrides(*one) for one in managers],
                               progress=report)  # fmt: skip
        except _core.InputError as error:
            refused = refused or error
            points += [Point(size, spare, policy, None, one_line(error), reducer) for policy, reducer in managers]
            continue
        pairs = zip(managers, results, strict=True)
        points += [Point(size, spare, policy, one, reducer=reducer) for (policy, reducer), one in pairs]
    if refused is not None and not any(point.result for point in points):
        raise refused
    return Plan(points, resolved, base.name())


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
    geometry = tomllib.loads(resolved)["drive"]["geometry"]
    names = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "pages_per_block", "page_bytes")
    stripe = math.prod(int(geometry[name]) for name in names)
    blocks = int(geometry["blocks_per_plane"])
    return [_size(stripe * max(1, int(blocks * factor))) for factor in FACTORS]


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
