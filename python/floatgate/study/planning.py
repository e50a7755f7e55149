"""Forecasts the drives of a plan, several at once, and reports each as soon as it is done."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import FloatgateError, input_error, meant, one_line, quoted
from floatgate.base.memory import free_bytes
from floatgate.base.parallel import at_once, cores
from floatgate.report.sections import growing
from floatgate.report.sections.reduce import INTEGRATED
from floatgate.results import shapes
from floatgate.results.flat import flat
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.run.lifetime import FILE, forecast, must_wear
from floatgate.run.needs import stripe_bytes
from floatgate.run.run import check
from floatgate.study.plan import Plan
from floatgate.study.plan_drives import (
    Candidate,
    Needs,
    assumes_waf,
    must_leave_drives,
    named_drives,
    needs,
    work_texts,
)
from floatgate.study.plan_pace import Pace, time_text
from floatgate.study.plan_point import Bounds, Point
from floatgate.study.runs.plan import plan_runs
from floatgate.study.runs.points import Points
from floatgate.study.runs.resume import Unfinished, Whole, remove
from floatgate.study.runs.rows import tables_known
from floatgate.study.runs.work import DONE, UNUSABLE, Answer

FACTORS = (0.5, 1.0, 2.0, 4.0)
"""Capacities that are tried where none are named, as multiples of the drive's own."""
ALL = "all"
"""All throttles, in place of their names."""
LARGER_MAX = 3
"""Number of larger drives that are tried as well, if none of these lasts without throttling."""
LARGER_BYTES = 256 << 30
"""Limit of these: on larger ones the FTL would run for minutes."""
LARGE_BYTES = 64 << 30
"""Drives with less flash in all take seconds; the plan does not announce their work."""
MAX_DELAY_S = 10.0
"""Longest delay of a page write in a plan, unless the experiment sets it: a drive that waits for days is useless."""
STEPS = 1000
"""Steps of a plan's progress."""

_BYTES_MAX = 64 << 20

Progress = Callable[[int, "int | None", str], None]
OnDrive = Callable[[Sequence[Point]], None]


def plan(
    base: Experiment,
    capacities: Sequence[str] | None = None,
    spare_factors: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    reducers: Sequence[str] | None = None,
    progress: Progress | None = None,
    bounds: Bounds | None = None,
    on_drive: OnDrive | None = None,
    out: Path | None = None,
    resume: bool = False,
    drives: Sequence[str] | None = None,
    begins: Callable[[str], None] | None = None,
    volume_bytes: int | None = None,
) -> Plan:
    """Forecast every combination of drive, capacity, spare factor and throttle, on all cores.

    Where neither drives nor capacities are named and none of those tried will do without throttling, larger ones are
    tried by what the largest has shown, as far as :data:`LARGER_BYTES`. An interrupt (KeyboardInterrupt) after a
    drive is done gives a plan of the finished drives, with the others in ``untried``.

    Args:
        base: the experiment.
        capacities: texts such as ``64GiB``; None for those of ``drives``, else half to four times the drive's own.
        spare_factors: texts of shares; None for the drive's own.
        policies: names of throttles, ``all`` for all of them; None for that of the experiment.
        reducers: names of reducers; None for that of the experiment. The integrated one stands beside no throttle.
        progress: called with (done, total, phase).
        bounds: requirements besides the life; None for the defaults of :class:`Bounds`.
        on_drive: called with all choices of a drive as soon as it is done, in the order in which they are.
        out: the folder that keeps finished drives until the plan is complete (:mod:`.runs.resume`); None for none.
        resume: whether to resume from it.
        drives: names or groups of the catalogue (:func:`.plan_drives.named_drives`); None for that of the experiment.
        begins: called with the cost of the work before it begins, unless that is small.
        volume_bytes: the size of the volume on each drive, whose other space stays free; None for the whole drive.

    Raises:
        InputError: the experiment is unusable, none of the drives can hold the workload, or what ``out`` holds is
            damaged or of another plan.
        RunError: a run failed.
    """
    _refuse_unknown("--reducers", reducers, _named("lifetime.reduce"))
    resolved = check(base)
    managers = _managers(resolved, _throttles(policies), reducers)
    sized = (spare_factors, volume_bytes)
    tried = _candidates(base, resolved, _named_drives(base, drives), capacities, *sized)
    is_long = _begin(base, tried, capacities, len(managers), begins)
    has_bound = look(tomllib.loads(resolved), "lifetime", "throttle", "max_delay_s") is not None
    delayed: frozenset[str] = frozenset() if has_bound else _delayed()
    work = _Work(base, managers, delayed, (bounds or Bounds()).judge, progress, on_drive, begins if is_long else None)
    points: list[Point] = []
    untried: list[str] = []
    with contextlib.ExitStack() as stack:
        if out is not None:
            work.kept = Unfinished(out, plan_runs(base, work.choices(tried)), WHOLE)
            stack.callback(work.kept.close)
            if resume:
                work.kept.go_on()
        for _ in range(1 + (LARGER_MAX if capacities is None and drives is None else 0)):
            new, untried = work.go_through(tried)
            points += new
            larger = None if untried else _larger(points, resolved)
            if larger is None:
                break
            tried = _candidates(base, resolved, None, [larger], *sized)
    if work.refused is not None and not any(point.result for point in points):
        if out is not None:
            remove(out)
        raise work.refused
    return Plan(points, resolved, base.name(), bounds, untried)


def _throttles(policies: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of throttles, if the user names some.

    Raises:
        InputError: one is unknown.
    """
    known = _named("lifetime.throttle")
    if policies is not None and list(policies) == [ALL]:
        return known
    _refuse_unknown("--throttles", policies, known)
    return policies


def _named_drives(base: Experiment, drives: Sequence[str] | None) -> list[str] | None:
    """Return the names of drives of the catalogue; None for the drive of the experiment.

    Raises:
        InputError: one is unknown, or the experiment has a drive of its own beside them.
    """
    if drives is None:
        return None
    must_leave_drives(base)
    return named_drives(drives)


def _candidates(
    base: Experiment,
    resolved: str,
    names: Sequence[str] | None,
    capacities: Sequence[str] | None,
    spares: Sequence[str] | None,
    volume_bytes: int | None,
) -> list[Candidate]:
    """List every combination of drive, capacity and spare factor, each with as much spare space as the volume leaves.

    Raises:
        InputError: both spare factors and a volume are there.
    """
    if volume_bytes is not None and spares is not None:
        raise input_error("--volume: it sets the spare factor of each drive; expected no --spare-factors beside it")
    own: Sequence[str | None] = _multiples(resolved) if names is None else (None,)
    sizes = own if capacities is None else capacities
    tried = [Candidate(name, size, spare) for name in names or (None,) for size in sizes for spare in spares or (None,)]
    return [candidate.holding(base, volume_bytes) for candidate in tried]


def _begin(
    base: Experiment,
    tried: Sequence[Candidate],
    capacities: Sequence[str] | None,
    managers: int,
    begins: Callable[[str], None] | None,
) -> bool:
    """Announce the cost of long work and how to shorten it, unless ``begins`` is None; return whether it is long.

    Raises:
        InputError: all of the drives are impossible.
    """
    if begins is None:
        return False
    drive_needs = [needs(base, candidate) for candidate in tried]
    known = [one for one in drive_needs if isinstance(one, Needs)]
    if not known:
        raise next(one for one in drive_needs if not isinstance(one, Needs))
    is_long = not assumes_waf(base) and sum(one.flash_bytes for one in known) >= LARGE_BYTES
    for text in work_texts(known, _side_by_side(known), managers, whole=capacities is None) if is_long else []:
        begins(text)
    return is_long


def _side_by_side(drive_needs: Sequence[Needs]) -> int:
    """Return how many of these drives run at a time: one per core, as far as memory suffices for the largest."""
    left, sizes = free_bytes(), sorted((one.memory_bytes for one in drive_needs), reverse=True)
    fit = [count for count in range(1, min(cores(), len(sizes)) + 1) if sum(sizes[:count]) <= left]
    return max(fit, default=1)


@dataclass
class _Work:
    """Forecasts of drives in threads, with their shared state."""

    base: Experiment
    managers: list[tuple[str, str | None]]
    bounded: frozenset[str]
    """Throttles whose delays get the plan's own bound."""
    judge: str
    progress: Progress | None
    on_drive: OnDrive | None
    announce: Callable[[str], None] | None = None
    """Called once with the time that the work takes, when it is measured."""
    kept: Unfinished | None = None
    begun: Points = field(default_factory=lambda: Points(()))
    """The choices of all drives so far."""
    refused: FloatgateError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def go_through(self, drives: Sequence[Candidate]) -> tuple[list[Point], list[str]]:
        """Return all choices of the drives in their order, and the drives that an interrupt left out.

        Raises:
            KeyboardInterrupt: before any drive was done.
        """
        before = len(self.begun.listed)
        self.begun = self.choices(drives)
        if self.kept is not None:
            self.kept.extend(self.begun)
        drive_needs = [self._needs(drive) for drive in drives]
        sizes = [one.flash_bytes for one in drive_needs]
        # The largest first, since it takes longest: the others fill the remaining cores meanwhile.
        order = sorted(range(len(drives)), key=lambda number: (-sizes[number], number))
        done: dict[int, list[Point]] = {}
        jobs = _side_by_side(drive_needs)
        pace = Pace([drive.label for drive in drives], sizes, jobs, time.monotonic)
        stop = threading.Event()

        def report(number: int, part: int, total: int | None, phase: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            with self.lock:
                pace.note(number, part, total, phase)
                self._show(pace)

        def work(turn: int) -> None:
            number = order[turn]
            with self.lock:
                if stop.is_set():
                    raise KeyboardInterrupt
                pace.begin(number)
                self._show(pace)
            first = before + number * len(self.managers)
            made = self._drive(first, drives[number], lambda *at: report(number, *at))
            with self.lock:
                pace.end(number)
                done[number] = made
                if self.on_drive is not None:
                    self.on_drive(made)

        try:
            at_once(work, len(drives), stop, jobs=jobs)
        except KeyboardInterrupt:
            if not done:
                raise
        points = [point for number in sorted(done) for point in done[number]]
        return points, [drives[number].label for number in range(len(drives)) if number not in done]

    def _show(self, pace: Pace) -> None:
        """Pass on how far the drives are; the lock is held, since a bar is not made for two threads."""
        left_s = pace.left_s() if self.announce is not None else None
        if self.announce is not None and left_s is not None:
            self.announce(f"time: {time_text(left_s)} left on this machine, by the speed so far; renewed as it goes on")
            self.announce = None
        if self.progress is not None:
            self.progress(int(STEPS * pace.share), STEPS, pace.text())

    def choices(self, drives: Sequence[Candidate]) -> Points:
        """Return the choices so far, and those of some more drives."""
        further = (
            (*drive.overrides(self.base), *_overrides(policy, reducer, policy in self.bounded))
            for drive in drives
            for policy, reducer in self.managers
        )
        return Points((), listed=(*self.begun.listed, *further))

    def _needs(self, candidate: Candidate) -> Needs:
        """Return the needs of a drive; zero for an impossible one, which its forecast will report."""
        drive_needs = needs(self.base, candidate)
        return drive_needs if isinstance(drive_needs, Needs) else Needs(0, 0)

    def _drive(self, first: int, drive: Candidate, report: Progress) -> list[Point]:
        """Make the choices of one drive, from number ``first`` on; each has the reason if the drive is impossible."""
        done = {} if self.kept is None else self.kept.done
        numbers = range(first, first + len(self.managers))
        known = all(number in done for number in numbers)
        answers = [done[number] for number in numbers] if known else self._forecast(first, drive, report)
        with self.lock:
            if self.kept is not None and not known:
                for answer in answers:
                    self.kept.add(answer)
            self.refused = self.refused or next((answer.failure() for answer in answers if answer.error), None)
        pairs = zip(self.managers, answers, strict=True)
        return [
            Point(drive.capacity or "", drive.spare, policy, one.run, one.error, reducer, self.judge, drive.drive)
            for (policy, reducer), one in pairs
        ]

    def _forecast(self, first: int, drive: Candidate, report: Progress) -> list[Answer]:
        numbers = range(first, first + len(self.managers))
        if drive.refusal is not None:
            return [Answer(number, UNUSABLE, drive.refusal) for number in numbers]
        tried = self.base.with_overrides(drive.overrides(self.base))
        try:
            results = forecast(
                tried,
                [_overrides(policy, reducer, policy in self.bounded) for policy, reducer in self.managers],
                progress=report,
            )
            for result in results:
                must_wear(result, check(tried))
        except _core.InputError as error:
            return [Answer(number, UNUSABLE, one_line(error)) for number in numbers]
        return [Answer(number, DONE, None, _figures(one), one) for number, one in zip(numbers, results, strict=True)]


def _figures(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a forecast that runs have too."""
    return {key: value for key, value in flat(result).items() if key.partition(".")[0] in tables_known()}


def _write(result: Mapping[str, Any], folder: Path) -> None:
    (folder / FILE).write_text(json.dumps(result) + "\n", "utf-8")


def _read(folder: Path, _experiment: Experiment) -> dict[str, Any]:
    """Read a forecast that was kept."""
    return shapes.read(folder / FILE, "lifetime", _BYTES_MAX).table()


WHOLE = Whole("plan", "plan", FILE, _write, _read, _figures)


def _larger(points: Sequence[Point], resolved: str) -> str | None:
    """Estimate the capacity that should last without throttling, from the largest tried; None if none is needed.

    Where one lasts, but its interval reaches below the target, the capacity whose whole interval should last.
    """
    plain = [point for point in points if not point.throttles and point.result is not None]
    lasting = [point for point in plain if point.holds]
    if not plain or any(not point.reaches_below for point in lasting):
        return None
    longest = max(plain, key=lambda point: (point.physical_bytes, point.years))
    target, years = longest.target_years, longest.years
    if lasting:
        interval = longest.life_range
        if interval is None or "wear" in interval.sources:
            return None  # a larger drive is no remedy for uneven wear
        years = interval.low
    if not years or not target:
        return None
    # A hundredth more: rounding must not miss the target.
    wanted = longest.physical_bytes * growing.times_as_much(target, years, longest.result) * 1.01
    if wanted > LARGER_BYTES:
        return None
    step = stripe_bytes(resolved)
    return _size(step * math.ceil(wanted / step))


def _named(slot: str) -> list[str]:
    """List the policies of a slot, as in the catalogue."""
    return [entry["name"] for entry in json.loads(_core.catalogue(["policies"]))["policies"][slot]]


def _refuse_unknown(option: str, names: Sequence[str] | None, known: list[str]) -> None:
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise input_error(
            f"{option} {quoted(unknown)}: unknown policy; {meant(unknown[0], known, 'floatgate policies')}"
        )


def _managers(
    resolved: str, policies: Sequence[str] | None, reducers: Sequence[str] | None
) -> list[tuple[str, str | None]]:
    """Throttle and reducer of each choice.

    Raises:
        InputError: throttles are named although the integrated manager throttles.
    """
    settings = look(tomllib.loads(resolved), "lifetime") or {}
    own, throttle = (str(look(settings, slot, "policy") or "none") for slot in ("reduce", "throttle"))
    throttles = list(policies or [throttle])
    named = list(reducers) if reducers is not None else [own]
    if named == [INTEGRATED] and policies is not None and throttles != ["none"]:
        raise input_error("--throttles: the integrated manager throttles by itself; expected no such option")
    return [
        (policy, None if reducers is None and reducer == "none" else reducer)
        for reducer in named
        for policy in (["none"] if reducer == INTEGRATED else throttles)
    ]


def _delayed() -> frozenset[str]:
    """List the throttles whose delays may be bounded."""
    entries = json.loads(_core.catalogue(["policies"]))["policies"]["lifetime.throttle"]
    return frozenset(one["name"] for one in entries if any(param["name"] == "max_delay_s" for param in one["params"]))


def _overrides(policy: str, reducer: str | None, bounded: bool) -> Overrides:
    throttle = [("lifetime.throttle.policy", toml_value("", policy))]
    throttle += [("lifetime.throttle.max_delay_s", f"{MAX_DELAY_S:g}")] if bounded else []
    return throttle if reducer is None else [*throttle, ("lifetime.reduce.policy", toml_value("", reducer))]


def _multiples(resolved: str) -> list[str]:
    """Return half, one, two and four times the capacity of a resolved experiment, as far as these are whole blocks."""
    blocks = int(tomllib.loads(resolved)["drive"]["geometry"]["blocks_per_plane"])
    return [_size(stripe_bytes(resolved) * max(1, int(blocks * factor))) for factor in FACTORS]


def _size(size_bytes: int) -> str:
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit} {name}"
    return str(size_bytes)
