"""The planner's view: which capacity, spare factor or throttle makes a drive last for so many years."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base import units
from floatgate.base.text_table import table
from floatgate.report.sections import growing
from floatgate.report.sections.forecast import entry, host_writes, latency, life_range, lines, modelled, workload_notes
from floatgate.report.sections.reduce import NAMES
from floatgate.results.folder import RunFolder
from floatgate.results.frames import Framed
from floatgate.results.table_files import write_table
from floatgate.study.plan_point import ENDS, Bounds, Point, Price, choices, front, managed_words, write_words
from floatgate.study.plan_prices import Texts
from floatgate.study.plan_request import repriced
from floatgate.study.plan_table import WORDS, arrow, legend, rows, waf_text

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "floatgate.plan/1"
FILE = "plan.json"


class Plan(Framed):
    """All choices, and those that a planner would take.

    Attributes:
        points: the choices in the order of the request.
        best: of those that last long enough and keep to the bounds, the cheapest, and dearer ones that are faster. At
            one cost it is the one that lives longest, then the fastest. Without prices the capacity is the cost.
        front: the Pareto front of price or capacity, life and share served.
        bounds: the requirements besides the life.
        untried: the drives that were left out because the user interrupted the plan.
        experiment_toml: the experiment that they vary, resolved.
        label: what to call it.
        title: the heading of its page; None for one of its own.
        note: a paragraph below that, for readers of the page; None for none.
    """

    def __init__(
        self,
        points: Sequence[Point],
        experiment_toml: str,
        label: str,
        bounds: Bounds | None = None,
        untried: Sequence[str] = (),
    ) -> None:
        """Use :func:`floatgate.plan`.

        Args:
            points: the choices.
            experiment_toml: the experiment that they vary, resolved.
            label: what to call the plan.
            bounds: the requirements besides the life; None for the defaults.
            untried: the drives that were left out.
        """
        self.points: list[Point] = list(points)
        self.experiment_toml = experiment_toml
        self.label = label
        self.title: str | None = None
        self.note: str | None = None
        self.bounds: Bounds = bounds or Bounds()
        self.untried = list(untried)
        self.best = choices(self.points, self.bounds)
        self.front = front(self.points, self.bounds)

    def __repr__(self) -> str:
        return f"<floatgate.Plan {self.label}: {len(self.points)} choices>"

    def _repr_html_(self) -> str:
        """Show the recommendation, the table and life against price or capacity, for notebooks."""
        from floatgate.study.cards import of_plan

        return of_plan(self)

    @property
    def target_years(self) -> float | None:
        """Return the target in years; None without one."""
        targets = (point.target_years for point in self.points)
        return next((target for target in targets if target is not None), None)

    def answer(self) -> str:
        """Return one sentence: what meets the target, the cheapest drive first."""
        return "; ".join(self.answers())

    def answers(self) -> list[str]:
        """Return the recommended drive with its figures, then remarks; a line each."""
        target = self.target_years
        years = "the target" if target is None else f"{target:g} year{'' if target == 1 else 's'}"
        first, *others = [self._none(years)] if not self.best else self._best(years)
        if self.untried:
            tried = len({(point.label, point.spare_factor) for point in self.points})
            left = f"a {'cheaper' if self.bounds.priced else 'smaller'} one may be left"
            first = f"incomplete, {tried} of {tried + len(self.untried)} drives tried, and {left}: {first}"
        longest = None if self.best else self._longest()
        others += [] if longest is None else [longest]
        return [first, *self.doubts(), *others]

    def doubts(self) -> list[str]:
        """Return what makes the lives doubtful: of the recommended drive, or of the first one where none is."""
        known = [point.result for point in [*self.best, *self.points] if point.result is not None]
        return lines.doubts(known[0], self.bounds.judge if self.best else None) if known else []

    def workload(self) -> str | None:
        """Return a line such as ``the workload writes 18.8 GB per day, 0.039 drive writes of boot-480g; ...``."""
        known = [point for point in self.points if point.result is not None]
        if not known:
            return None
        first = self.best[0] if self.best else known[0]
        written, drive_writes = entry.demand_bytes_per_day(first.result), entry.drive_writes_per_day(first.result)
        if written is None:
            return None
        at_first = " at first" if growing.per_year(first.result) else ""
        text = f"the workload writes {units.decimal_bytes(written)} per day{at_first}"
        if drive_writes is not None:
            text += f", {units.figure(drive_writes, 2)} drive writes of {self._drive(first, short=True)}"
        span, times = entry.trace_span_s(first.result), host_writes.at_another_rate(first.result)
        text += "" if span is None else f"; a pass of {units.span(span)} is repeated"
        return text if times is None else f"{text}; {times}"

    def notes(self) -> list[str]:
        """Return what was assumed of the trace, as a forecast of one drive notes it."""
        known = [workload_notes.remarks(point.result) for point in self.points if point.result is not None]
        return list(dict.fromkeys(note for notes in known for note in notes))

    def drive_notes(self) -> list[str]:
        """Return which drives are modelled with a share of their blocks, and what their figures are."""
        known = [modelled.remark(point.result, point.drive) for point in self.points]
        return list(dict.fromkeys(text for text in known if text is not None))

    def price_notes(self) -> list[str]:
        """Return what is doubtful about the prices, and which of them are ignored."""
        unused = ", ".join(self.bounds.unused_prices)
        ignored = [f"prices of drives that this plan does not try are ignored: {unused}"] if unused else []
        return [*self.bounds.price_doubts, *ignored]

    def with_prices(self, prices: Texts | None = None, price_per_tb: float | str | None = None) -> Plan:
        """Return the same choices judged by other prices, in place of all that the plan had.

        Args:
            prices: of the drives of the catalogue by name or group: a figure per drive, or a text such as ``60/TB``.
            price_per_tb: of the capacity as sold, for drives without a price.

        Raises:
            InputError: a price is unusable, or a drive has none.
        """
        drives = list(dict.fromkeys(point.drive for point in self.points if point.drive is not None))
        bounds = repriced(self.bounds, drives, prices, price_per_tb)
        plan = Plan(self.points, self.experiment_toml, self.label, bounds, self.untried)
        return plan.headed(self.title, self.note)

    def headed(self, title: str | None = None, note: str | None = None) -> Plan:
        """Set the heading of the page and a note below it, and return the plan itself.

        Args:
            title: the heading; None for one of its own.
            note: a paragraph for readers of the page; None for none.
        """
        self.title, self.note = title, note
        return self

    def _best(self, years: str) -> list[str]:
        best = self.best[0]
        what, larger = ("cheapest", "dearer") if self.bounds.priced else ("smallest", "larger")
        phrases = [f"the {what} drive that lasts {years} is {self.name(best)}: {self._summary(best)}"]
        unknown = self._unknown(best)
        phrases[0] += f"; not known: {', '.join(unknown)}" if unknown else ""
        phrases += self._doubt()
        if len(self.best) > 1:
            faster = [f"{self.name(point)} ({self._briefly(point)})" for point in self.best[1:]]
            phrases.append(f"faster, but {larger}: {', then '.join(faster)}")
        plain = self._unthrottled()
        return [*phrases, plain] if plain else phrases

    def _doubt(self) -> list[str]:
        """Warn that the interval of the first named drive reaches below the requirement, and name a safer drive."""
        least = self.bounds.min_served
        doubts = [f"the target is {life_range.BELOW}"] if self.best[0].reaches_below else []
        if self.best[0].serves_below(least):
            doubts.append(f"{units.share(least)} of the workload is served, but the interval reaches below")
        if not doubts:
            return []
        sure = [one for one in self.points if self.bounds.cut_by(one) is None and one.flash_range is not None]
        sure = choices([one for one in sure if not one.reaches_below and not one.serves_below(least)], self.bounds)
        text = ", and ".join(doubts)
        if not sure:
            return [f"{text}, as for all of these drives"]
        return [f"{text}: {self.name(sure[0])} does it with the whole interval"]

    def _none(self, years: str) -> str:
        """State that no drive meets the bounds, and which bound cut the last ones."""
        lasting = [point for point in self.points if point.holds and not point.overloaded]
        if not lasting and (sentence := self._too_slow(years)):
            return sentence
        if not lasting:
            plain = self._unthrottled() or "use a larger drive or a throttle that guarantees the target"
            return f"none of these drives lasts {years}{self._by_rating()}; {plain}"
        wanted = f"{units.share(self.bounds.min_served)} of the workload"
        serving = [point for point in lasting if self.bounds.cut_by(point) != "served"]
        if not serving:
            most = max(lasting, key=lambda point: point.served or 0.0)
            share = units.share(most.served or 0.0)
            sentence = f"of those that last, {self.name(most)} serves most, {share}"
            plain = self._unthrottled()
            text = f"none of these drives lasts {years} and serves {wanted} (--min-served): {sentence}"
            return f"{text}; {plain}" if plain else text
        fastest = min(serving, key=lambda point: point.p99_us)
        if math.isinf(fastest.p99_us):
            why = entry.latency_unknown(fastest.result) or "no part was simulated in timed mode"
            return f"none of these drives can be chosen by --max-write-p99: how long writes take is not known ({why})"
        bound, least = (units.span(us * 1e-6) for us in (self.bounds.max_write_p99_us or 0.0, fastest.p99_us))
        return (
            f"none of these drives lasts {years}, serves {wanted} and writes 99 of 100 pages within {bound}: of those "
            f"that do the former, {self.name(fastest)} is the fastest with {least} (--max-write-p99)"
        )

    def _too_slow(self, years: str) -> str:
        """List the drives that the load rules out, and what helps; empty if the others are ruled out by their lives."""
        known = [point for point in self.points if point.result is not None]
        helps = "use a drive with more dies, or a throttle"
        if known and all(point.overloaded for point in known):
            return f"none of these drives can do what the host requests; {helps}"
        names = ", ".join([self.name(point) for point in known if point.overloaded and point.holds][:3])
        if not names:
            return ""
        return (
            f"none of these drives lasts {years} and keeps up with the load: {names} would last, but the host requests "
            f"more than they can do; {helps}"
        )

    def _longest(self) -> str | None:
        """Name the drive that lasts longest, if no drive meets the bounds."""
        known = [point for point in self.points if point.result is not None and not point.overloaded]
        if not known or any(point.holds for point in known):
            return None
        longest = max(known, key=lambda point: (point.life_years, point.served or 0.0))
        return f"of these, {self.name(longest)} lasts longest: {self._summary(longest)}"

    def _by_rating(self) -> str:
        """State that the flash would last where the maker's rating does not."""
        flash = [point for point in self.points if point.flash_holds and not point.holds and not point.overloaded]
        if not flash:
            return ""
        longest = max(flash, key=lambda point: point.years)
        return (
            f": the flash of {self.name(longest)} would (--judge flash), but its rated "
            f"bytes are written after {units.life(longest.years, self.target_years)}"
        )

    def _unthrottled(self) -> str:
        """Estimate the size of a drive without throttling, if none that was tried is large enough."""
        plain = [point for point in self.points if not point.throttles and point.result is not None]
        if not plain or any(point.holds for point in plain) or not self.target_years:
            return ""
        by_size = {point.drive: point.physical_bytes for point in sorted(plain, key=lambda one: one.physical_bytes)}
        largest = [point for point in plain if point.physical_bytes == by_size[point.drive] and point.years]
        if not largest:
            return ""
        target = self.target_years

        def needed(point: Point) -> float:
            return point.physical_bytes * growing.times_as_much(target, point.years, point.result)

        best = min(largest, key=lambda point: self.bounds.cost(point) * needed(point) / point.physical_bytes)
        size, price = needed(best), self.bounds.price(best)
        made = "" if best.drive is None else f" of {best.drive}"
        by = "" if best.reducer in (None, "none") else f" with {NAMES[best.reducer]}"
        cost = "" if price is None else f" at a price of {units.figure(price * size / best.physical_bytes)}"
        throttled = "without throttling it" if self._manages() else "it"
        tried = units.binary_bytes(best.physical_bytes)
        return f"{throttled} would take about {units.binary_bytes(size)}{made}{by}{cost}, extrapolated from {tried}"

    def _summary(self, point: Point) -> str:
        """Summarize a drive for a buyer: life and what ends it, share served, WAF, response, and price."""
        phrases = [self.life(point)]
        if point.ends != "rating" and point.rated_years is not None:
            phrases.append(f"rated bytes written after {units.life(point.rated_years, self.target_years)}")
        if point.served is not None:
            phrases.append(f"{life_range.served_text(point.result)} served")
        waf = waf_text(point)
        phrases += [] if waf == "-" else [f"WAF {waf}"]
        phrases += [] if write_words(point) == "-" else [write_words(point)]
        if not math.isinf(point.read_p99_us):
            interval = latency.interval_us(point.result, "read", "p99")
            phrases.append(f"p99 of reads {latency.with_interval(point.read_p99_us, interval)}")
        price, each = self.bounds.price(point), self.bounds.price_per_useful_tb(point)
        if price is not None:
            useful = "" if each is None else f" ({units.figure(each)} per TB written)"
            phrases.append(f"price {units.figure(price)}{useful}")
        return ", ".join(phrases)

    def _unknown(self, point: Point) -> list[str]:
        """List what a buyer requires and the plan does not know, each with the reason."""
        unknown = []
        if point.rated_years is None:
            unknown.append("rating (the drive has none)")
        if point.served is None:
            unknown.append("share served")
        why = entry.latency_unknown(point.result)
        if math.isinf(point.p99_us):
            unknown.append(f"p99 of reads and writes{'' if why is None else f' ({why})'}")
        elif math.isinf(point.read_p99_us):
            unknown.append("p99 of reads (no reads)")
        if self.bounds.price(point) is None:
            unknown.append("price (none given)")
        return unknown

    def life(self, point: Point) -> str:
        """Return the life that counts in words: ``life 5.0 years within 4.2-5.4 years until the flash is worn out``.

        Args:
            point: one of the choices.
        """
        life = f"life {point.life_text}"
        interval = point.life_range
        if interval is not None and interval.ends != point.life_text:
            life += f" within {interval.text}"
        return life if point.ends is None else f"{life} until {ENDS[point.ends]}"

    def _briefly(self, point: Point) -> str:
        """Format response and price of a choice, and the share that it serves if that is not all."""
        phrases = [write_words(point)]
        if point.served is not None and point.served < 0.9995:
            phrases.insert(0, f"{life_range.served_text(point.result)} served")
        price = self.bounds.price(point)
        return ", ".join(phrases + ([] if price is None else [f"price {units.figure(price)}"]))

    def name(self, point: Point, *, short: bool = False) -> str:
        """Return ``64 GiB under static``, ``client-tlc-1t``: the drive, and how it is managed where that differs.

        Args:
            point: the choice.
            short: for a chart; without the capacity of a drive that is tried with one alone.
        """
        managed = f" {managed_words(point)}" if self._manages() else ""
        return f"{self._drive(point, short=short)}{managed}"

    def _drive(self, point: Point, *, short: bool) -> str:
        alike = [one for one in self.points if one.drive == point.drive]
        if point.drive is None:
            size = units.binary_bytes(point.physical_bytes)
        else:
            size = point.drive if short and len({one.capacity for one in alike}) == 1 else point.label
        spares = {one.spare_text for one in alike if one.spare is not None}
        return size if len(spares) < 2 or point.spare is None else f"{size} with {point.spare_text} spare"

    def _manages(self) -> bool:
        """Return whether throttles or reducers are compared, or one is in use."""
        return self.reduces() or any(point.throttles for point in self.points)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return header and cells; what a planner would take is marked by ``*``, the Pareto front by ``+``."""
        return rows(self)

    def to_arrow(self) -> pa.Table:
        """Return one flat row for each choice, as an Arrow table."""
        return arrow(self)

    def reduces(self) -> bool:
        """Return whether reducers are compared."""
        return any(point.reducer is not None for point in self.points)

    def errors(self) -> list[str]:
        """Return what made drives impossible, each reason once."""
        return list(dict.fromkeys(f"{point.label}: {point.error}" for point in self.points if point.error))

    def text(self) -> str:
        """Return the recommendation, the table, how to read it, the sources of its intervals, then the failures."""
        header, cells = self.rows()
        right = frozenset(i for i, name in enumerate(header) if name not in WORDS)
        basis = self.basis()
        below = [*legend(self), *([] if basis is None else [basis]), *(f"note: {note}" for note in self.notes())]
        below += [f"note: {text}" for text in [*self.drive_notes(), *self.price_notes()]]
        below = [] if not below else ["", *below]
        workload = self.workload()
        above = [*self.answers(), *([] if workload is None else [workload])]
        return "\n".join([*above, "", table(header, cells, right=right), *below, *self.errors()])

    def basis(self) -> str | None:
        """Return the sources of the intervals in words; None without intervals."""
        shown = [point.result for point in self.points if point.life_range is not None and point.result is not None]
        return life_range.basis(shown)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it (schema ``floatgate.plan/1``); ``best`` counts in ``points`` from 0."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "label": self.label,
            "title": self.title,
            "note": self.note,
            "complete": not self.untried,
            "untried": self.untried,
            "target_years": self.target_years,
            "min_served": self.bounds.min_served,
            "max_write_p99_us": self.bounds.max_write_p99_us,
            "price_per_tb": self.bounds.price_per_tb,
            "judge": self.bounds.judge,
            "prices": [asdict(one) for one in self.bounds.prices],
            "unused_prices": list(self.bounds.unused_prices),
            "price_doubts": list(self.bounds.price_doubts),
            "answer": self.answer(),
            "basis": self.doubts(),
            "best": [self.points.index(point) for point in self.best],
            "points": [point.to_dict(self.bounds, on_front=point in self.front) for point in self.points],
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any], experiment_toml: str) -> Plan:
        """Return the plan that :meth:`to_dict` describes.

        Args:
            saved: the parsed ``plan.json``, checked.
            experiment_toml: the experiment that it varies, resolved.
        """
        # A plan of older versions was judged by the average block.
        judge = saved.get("judge", "flash")
        prices = tuple(Price(**one) for one in saved.get("prices", ()))
        notes = (tuple(saved.get("unused_prices", ())), tuple(saved.get("price_doubts", ())))
        bounds = Bounds(saved["min_served"], saved["max_write_p99_us"], saved["price_per_tb"], judge, prices, *notes)
        points = [Point.of(point, judge) for point in saved["points"]]
        plan = cls(points, experiment_toml, saved["label"], bounds, saved["untried"])
        return plan.headed(saved.get("title"), saved.get("note"))

    def report(self, command: str | None = None) -> str:
        """Return the plan as one self-contained HTML page.

        Args:
            command: the command line that made it, where there was one.
        """
        from floatgate.study.plan_report import page

        return page(self, command)

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, report: bool = True) -> Path:
        """Write ``plan.json``, the flat table, ``experiment.toml`` and ``report.html``.

        Args:
            folder: the folder itself; made where it is missing, used where it is empty.
            force: write into a folder that is not empty too.
            report: whether to draw the report.

        Returns:
            The folder.

        Raises:
            InputError: the folder is not empty (and not ``force``), or cannot be written.
        """
        return self.write(RunFolder.named(os.fspath(folder), force=force), report=report)

    def write(self, target: RunFolder, *, report: bool = True, command: str | None = None) -> Path:
        """Write to a :class:`~floatgate.results.folder.RunFolder` and return its path; see :meth:`save`.

        Args:
            target: the folder.
            report: whether to draw the report.
            command: the command line that made it, where there was one.

        Raises:
            InputError: the folder cannot be written.
        """

        def fill(staging: Path, _final: Path) -> None:
            (staging / FILE).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
            (staging / "experiment.toml").write_text(self.experiment_toml, "utf-8")
            flat = self.arrow()
            for suffix in (".parquet", ".csv"):
                write_table(flat, staging / f"plan{suffix}")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)
