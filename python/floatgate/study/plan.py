"""The planner's view: which capacity, spare factor or throttle makes a drive last for so many years."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base import units
from floatgate.base.text_table import table
from floatgate.report.sections.amplification import amplification
from floatgate.report.sections.forecast import entry, life_range
from floatgate.report.sections.reduce import INTEGRATED, NAMES
from floatgate.results.folder import RunFolder
from floatgate.study.plan_point import BELOW, Bounds, Point, choices, managed_words, write_words

SCHEMA = "floatgate.plan/1"
FILE = "plan.json"


class Plan:
    """All choices, and those that a planner would take.

    Attributes:
        points: the choices in the order in which they were asked for.
        best: of those that last long enough and keep to the bounds, all that no other beats in both capacity (then
            spare) and mean write; the smallest first.
        bounds: what a drive must do besides lasting.
        untried: the drives that were not gone through because somebody broke off.
        experiment_toml: the experiment that they vary, resolved.
        label: what to call it.
    """

    def __init__(
        self,
        points: Sequence[Point],
        experiment_toml: str,
        label: str,
        bounds: Bounds | None = None,
        untried: Sequence[str] = (),
    ) -> None:
        """Use :func:`plan`."""
        self.points = list(points)
        self.experiment_toml = experiment_toml
        self.label = label
        self.bounds = bounds or Bounds()
        self.untried = list(untried)
        self.best = choices(self.points, self.bounds)

    @property
    def target_years(self) -> float | None:
        """The years that were asked for."""
        targets = (point.target_years for point in self.points)
        return next((target for target in targets if target is not None), None)

    def answer(self) -> str:
        """One sentence: what meets the target, the smallest drive first."""
        if not self.untried:
            return self._answer()
        tried = len({(point.capacity, point.spare_factor) for point in self.points})
        return f"incomplete, {tried} of {tried + len(self.untried)} drives tried: {self._answer()}"

    def _answer(self) -> str:
        target = self.target_years
        years = "the target" if target is None else f"{target:g} year{'' if target == 1 else 's'}"
        if not self.best:
            return self._none(years)
        named = [f"{self._drive(point)} {managed_words(point)} ({self._told(point)})" for point in self.best]
        first = f"the smallest drive that lasts {years} is {named[0]}"
        return (
            first
            + self._doubt()
            + (f"; faster, but larger: {', then '.join(named[1:])}" if len(named) > 1 else "")
            + self._unthrottled()
        )

    def _doubt(self) -> str:
        """That an interval of the drive that is named first reaches below what is asked for, and what is surer."""
        least = self.bounds.min_served
        doubts = [f"the target is {BELOW}"] if self.best[0].reaches_below else []
        if self.best[0].serves_below(least):
            doubts.append(f"{units.share(least)} of the workload is served, but the interval reaches below")
        if not doubts:
            return ""
        sure = [one for one in self.points if self.bounds.cut_by(one) is None and one.life_range is not None]
        sure = choices([one for one in sure if not one.reaches_below and not one.serves_below(least)], self.bounds)
        said = f"; {', and '.join(doubts)}"
        if not sure:
            return f"{said}, as for all of these drives"
        return f"{said}: {self._drive(sure[0])} {managed_words(sure[0])} does it with the whole interval"

    def _none(self, years: str) -> str:
        """That no drive will do, and which bound has cut the last ones."""
        lasting = [point for point in self.points if point.holds]
        if not lasting:
            plain = self._unthrottled() or "; use a larger drive or a throttle that guarantees the target"
            return f"none of these drives lasts {years}{self._by_rating()}{plain}"
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

    def _by_rating(self) -> str:
        """That flash would last where the maker's rating does not."""
        flash = [point for point in self.points if point.flash_holds and not point.holds]
        if not flash:
            return ""
        longest = max(flash, key=lambda point: point.years)
        return (
            f": the flash of {self._drive(longest)} {managed_words(longest)} would (--judge flash), but its rated "
            f"bytes are written after {units.years(longest.years)}"
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
        """Life with its interval, what is served where that is not all, response, and the price of a choice."""
        told = [write_words(point)]
        if point.life_range is not None:
            middle, interval = entry.life_text(point.result), point.life_range.text
            told.insert(0, f"life {interval if interval.startswith(middle) else f'{middle} within {interval}'}")
        if point.rated_years is not None and point.rated_years < point.years:
            told.insert(-1, f"rated bytes written after {units.years(point.rated_years)}")
        if point.served is not None and point.served < 0.9995:
            told.insert(-1, f"{life_range.served_text(point.result)} served")
        price = self.bounds.price(point)
        return ", ".join(told + ([] if price is None else [f"price {units.figure(price)}"]))

    def _drive(self, point: Point) -> str:
        spares = {one.spare for one in self.points if one.spare is not None}
        size = units.binary_bytes(point.physical_bytes)
        return size if len(spares) < 2 or point.spare is None else f"{size} with {units.percent1(point.spare)} spare"

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells; what a planner would take is marked by a star."""
        header = ["", "capacity", "spare", "throttle", "life", "interval", "target", "WAF", "served"]
        header += ["mean write", "p99", "p99.9"]
        cells = [self._cells(point) for point in self.points]
        if self.bounds.price_per_tb is not None:
            header.append("price")
            for point, row in zip(self.points, cells, strict=True):
                price = self.bounds.price(point)
                row.append("-" if price is None else units.figure(price))
        if any(point.rated_years is not None for point in self.points):
            header.insert(_RATING, "rating")
            for point, row in zip(self.points, cells, strict=True):
                row.insert(_RATING, "-" if point.rated_years is None else units.years(point.rated_years))
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
            return [mark, point.capacity, spare, point.throttle, "-", "-", "not possible", *5 * ["-"]]
        waf, _ = amplification(point.result)
        return [
            mark,
            units.binary_bytes(point.physical_bytes),
            "-" if point.spare is None else units.percent1(point.spare),
            "by itself" if point.reducer == INTEGRATED else point.throttle,
            entry.life_text(point.result),
            "-" if point.life_range is None else point.life_range.text,
            point.verdict,
            "-" if waf is None else f"{waf:.2f}",
            life_range.served_text(point.result),
            *(
                "-" if math.isinf(time_us) else units.span(time_us * 1e-6)
                for time_us in (point.write_us, point.p99_us, point.p999_us)
            ),
        ]

    def text(self) -> str:
        """The sentence, then the table, then what its intervals hold, then what could not be."""
        header, rows = self.rows()
        errors = dict.fromkeys(f"{point.capacity}: {point.error}" for point in self.points if point.error)
        right = frozenset(i for i, name in enumerate(header) if name not in _WORDS)
        basis = self.basis()
        below = [] if basis is None else ["", basis]
        return "\n".join([self.answer(), "", table(header, rows, right=right), *below, *errors])

    def basis(self) -> str | None:
        """What the intervals are made from; None where there are none."""
        return life_range.basis([point.result for point in self.points if point.result is not None])

    def to_dict(self) -> dict[str, Any]:
        """As JSON gives it (schema ``floatgate.plan/1``); ``best`` counts in ``points`` from 0."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "label": self.label,
            "complete": not self.untried,
            "untried": self.untried,
            "target_years": self.target_years,
            "min_served": self.bounds.min_served,
            "max_write_p99_us": self.bounds.max_write_p99_us,
            "price_per_tb": self.bounds.price_per_tb,
            "judge": self.bounds.judge,
            "answer": self.answer(),
            "best": [self.points.index(point) for point in self.best],
            "points": [point.to_dict(self.bounds) for point in self.points],
        }

    @classmethod
    def of(cls, told: Mapping[str, Any], experiment_toml: str) -> Plan:
        """The plan that :meth:`to_dict` told of."""
        # A plan of older versions was judged by the average block.
        judge = told.get("judge", "flash")
        bounds = Bounds(told["min_served"], told["max_write_p99_us"], told["price_per_tb"], judge)
        points = [Point.of(point, judge) for point in told["points"]]
        return cls(points, experiment_toml, told["label"], bounds, told["untried"])

    def report(self, command: str | None = None) -> str:
        """The plan as one self-contained HTML page."""
        from floatgate.study.plan_report import page

        return page(self, command)

    def write(self, target: RunFolder, *, report: bool = True, command: str | None = None) -> Path:
        """Write ``plan.json``, ``experiment.toml`` and ``report.html``; raises InputError where that cannot be."""

        def fill(staging: Path, _final: Path) -> None:
            (staging / FILE).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
            (staging / "experiment.toml").write_text(self.experiment_toml, "utf-8")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)


_RATING = 6
"""The column before which the maker's rating stands, behind life and interval."""
_REDUCER = 3
"""The column before which the reducer stands."""
_WORDS = ("", "reducer", "throttle", "target")
"""Columns of words, which are set flush left."""
