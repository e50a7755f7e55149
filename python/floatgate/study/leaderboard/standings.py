"""The standings of a leaderboard: means, ranks and tests over the results of its runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from floatgate.results.seed_stats import Mean
from floatgate.study.leaderboard import ranking

if TYPE_CHECKING:
    from floatgate.study.leaderboard.request import Board

COUNTS_FROM = 1.05
"""WAF of the baseline from which on a field counts: below, all policies are alike."""
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Cell:
    """A policy on a field.

    Attributes:
        waf: of each seed.
        cpu_ns: processor time per page that the host writes, the least over the seeds; None where it is not known.
        reason: why it could not run; None where it ran.
        failed: whether a run failed, which is no matter of the field.
    """

    waf: tuple[float, ...] = ()
    cpu_ns: float | None = None
    reason: str | None = None
    failed: bool = False

    @property
    def mean(self) -> Mean | None:
        """The mean over the seeds."""
        return Mean.of(self.waf) if self.waf else None


@dataclass(frozen=True)
class Test:
    """A policy beside another one: the traces that both share, the ratio of WAF over them, and p after correction."""

    other: str
    traces: int
    ratio: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether chance alone would hardly make the difference."""
        return self.p < SIGNIFICANT

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**vars(self), "significant": self.significant}


@dataclass
class Standing:
    """A policy in the standings.

    Attributes:
        policy: its name.
        label: with its parameters.
        own: whether it was loaded from outside.
        knows_future: whether it has no rank, because no drive can have it.
        ratio: WAF over that of the baseline: the geometric mean, adjusted to all fields that count; None without one.
        ratio_95: its interval by resampling the traces.
        rank: by ratio, from 1.
        rank_95: its interval, likewise.
        traces: that it ran on, of those that count.
        memory_bytes: per logical page.
        cpu_ns: per page that the host writes.
        front: whether no other ranked policy needs less memory (without it: time) at no more WAF.
        against: tests against the baseline and against the policy of interest.
        missing: reasons by trace where it could not run.
    """

    policy: str
    label: str
    own: bool
    knows_future: bool
    ratio: float | None = None
    ratio_95: tuple[float, float] | None = None
    rank: int | None = None
    rank_95: tuple[int, int] | None = None
    traces: int = 0
    memory_bytes: float | None = None
    cpu_ns: float | None = None
    front: bool = False
    against: dict[str, Test] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        tests = {name: test.to_dict() for name, test in self.against.items()}
        return {**vars(self), "against": tests}


Cells = Mapping[tuple[str, str, float], Cell]
"""By policy, trace and spare factor."""


@dataclass(frozen=True)
class Standings:
    """All policies of a leaderboard, the ranked ones first.

    Attributes:
        rows: the policies.
        counted: the fields that count, as trace and spare factor.
        traces: of these fields.
        reference: the policy of interest, which the others are tested against.
        failures: runs that failed, in words.
    """

    rows: tuple[Standing, ...]
    counted: tuple[tuple[str, float], ...]
    traces: tuple[str, ...]
    reference: str | None
    failures: tuple[str, ...]


def standings(
    board: Board, cells: Cells, memory_bytes: Mapping[str, float], more_failures: Sequence[str] = ()
) -> Standings:
    """Rank the policies of a leaderboard.

    Args:
        board: what was compared.
        cells: the results.
        memory_bytes: of a policy per logical page, where it is known.
        more_failures: runs that failed beside those of cells, in words.
    """
    slot = board.slot
    rows = [Standing(name, board.labels[name], name in board.own, name in slot.knowing) for name in board.policies]
    counted = [
        (trace.name, spare)
        for trace, spare in board.fields
        if (mean := cells[slot.baseline, trace.name, spare].mean) is not None and mean.mean >= COUNTS_FROM
    ]
    traces = list(dict.fromkeys(trace for trace, _ in counted))
    for row in rows:
        _missing(row, board, cells)
        row.memory_bytes = memory_bytes.get(row.policy)
        row.traces = sum(any(cells[row.policy, *each].waf for each in counted if each[0] == trace) for trace in traces)
    _times(rows, board, cells)
    reference = None
    if counted:
        reference = _ranked(rows, board, cells, counted)
    _front([row for row in rows if row.rank is not None])
    order = sorted(rows, key=lambda row: (row.rank is None, row.ratio is None, row.ratio or 0.0))
    failures = [
        f"{policy} on {trace}, {spare:.0%} spare: {cell.reason}"
        for (policy, trace, spare), cell in cells.items()
        if cell.failed
    ]
    return Standings(tuple(order), tuple(counted), tuple(traces), reference, (*failures, *more_failures))


def _missing(row: Standing, board: Board, cells: Cells) -> None:
    """Collect why a policy did not run on some traces."""
    for trace, spare in board.fields:
        cell = cells[row.policy, trace.name, spare]
        if cell.reason is not None and not cell.failed:
            row.missing.setdefault(trace.name, cell.reason)


def _times(rows: Sequence[Standing], board: Board, cells: Cells) -> None:
    """Average the time over all fields, adjusted as WAF is: fields take more or less time under any policy."""
    import numpy as np

    base = next(number for number, row in enumerate(rows) if row.policy == board.slot.baseline)

    def time(row: Standing, place: int) -> float:
        trace, spare = board.fields[place]
        return cells[row.policy, trace.name, spare].cpu_ns or math.nan

    there = [place for place in range(len(board.fields)) if not math.isnan(time(rows[base], place))]
    if not there:
        return
    values = np.log(np.array([[time(row, place) for place in there] for row in rows]))
    ratios = np.exp(ranking.adjusted_means(values, base))
    mean = math.exp(math.fsum(values[base]) / len(there))
    for row, ratio in zip(rows, ratios, strict=True):
        row.cpu_ns = None if math.isnan(ratio) else mean * float(ratio)


def _ranked(rows: list[Standing], board: Board, cells: Cells, counted: list[tuple[str, float]]) -> str:
    """Fill in means, ranks, their intervals and tests; returns the policy of interest."""
    import numpy as np

    def value(row: Standing, each: tuple[str, float]) -> float:
        mean = cells[row.policy, *each].mean
        return math.nan if mean is None else math.log(mean.mean)

    values = np.array([[value(row, each) for each in counted] for row in rows])
    base = next(number for number, row in enumerate(rows) if row.policy == board.slot.baseline)
    names = list(dict.fromkeys(trace for trace, _ in counted))
    trace_of = [names.index(trace) for trace, _ in counted]
    means = ranking.adjusted_means(values, base)
    in_ranks = [number for number, row in enumerate(rows) if not row.knows_future and not math.isnan(means[number])]
    for number, row in enumerate(rows):
        row.ratio = None if math.isnan(means[number]) else math.exp(means[number])
    for number, rank in zip(in_ranks, ranking.ranks(means[in_ranks]), strict=True):
        rows[number].rank = rank
    reference = board.against or _first(rows, in_ranks, board)
    if len(names) < ranking.TRACES_MIN:
        return reference
    _intervals(rows, ranking.resampled_means(values, base, trace_of), in_ranks)
    places = {row.policy: number for number, row in enumerate(rows)}
    for other in dict.fromkeys([board.slot.baseline, reference]):
        _tests(rows, values, trace_of, places[other], in_ranks)
    return reference


def _first(rows: list[Standing], in_ranks: list[int], board: Board) -> str:
    """Return the first in rank; the baseline among equals."""
    ranked = [rows[number] for number in in_ranks]
    return min(ranked, key=lambda row: (row.rank or 0, row.policy != board.slot.baseline)).policy


def _intervals(rows: list[Standing], samples: Any, in_ranks: list[int]) -> None:
    for number, row in enumerate(rows):
        ends = ranking.middle_95(samples[:, number].tolist())
        row.ratio_95 = None if ends is None else (math.exp(ends[0]), math.exp(ends[1]))
    by_sample = [ranking.ranks(sample[in_ranks]) for sample in samples]
    for place, number in enumerate(in_ranks):
        drawn = [ranks[place] for ranks in by_sample]
        ends = ranking.middle_95([math.nan if rank is None else rank for rank in drawn])
        rows[number].rank_95 = None if ends is None else (int(ends[0]), int(ends[1]))


def _tests(rows: list[Standing], values: Any, trace_of: list[int], other: int, in_ranks: list[int]) -> None:
    """Test each ranked policy against another one, with one difference per trace that both ran on."""
    tested: list[tuple[int, int, float, float]] = []
    for number in in_ranks:
        if number == other:
            continue
        by_trace: dict[int, list[float]] = {}
        for trace, mine, its in zip(trace_of, values[number], values[other], strict=True):
            if not math.isnan(mine) and not math.isnan(its):
                by_trace.setdefault(trace, []).append(mine - its)
        differences = [math.fsum(each) / len(each) for each in by_trace.values()]
        if differences:
            ratio = math.exp(math.fsum(differences) / len(differences))
            tested.append((number, len(differences), ratio, ranking.signed_rank_p(differences)))
    corrected = ranking.holm([p for *_, p in tested])
    for (number, traces, ratio, _), p in zip(tested, corrected, strict=True):
        rows[number].against[rows[other].policy] = Test(rows[other].policy, traces, ratio, p)


def _front(rows: list[Standing]) -> None:
    """Mark the front of WAF and memory; of WAF and time where no policy states its memory."""
    by_memory = any(row.memory_bytes for row in rows)
    costs = [row.memory_bytes if by_memory else row.cpu_ns for row in rows]
    known = [(row, (row.ratio, cost)) for row, cost in zip(rows, costs, strict=True) if row.ratio and cost is not None]
    for (row, _), first in zip(known, ranking.front([pair for _, pair in known]), strict=True):
        row.front = first
