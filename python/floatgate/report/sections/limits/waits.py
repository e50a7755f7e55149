"""How long requests wait at the flash, and for which jobs of the drive.

A result counts the waits for all jobs together. Which job a read waited for follows from the latencies of reads during
read reclaims and of other reads, where the result has both. What is left, and the waits of writes, are split by the
flash time of the jobs, which is an estimate: one job of a second holds up more requests than many short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from floatgate.base import units
from floatgate.pages.causes import BACKGROUND, READ_RECLAIM
from floatgate.report.sections import latency, waiting
from floatgate.report.sections.limits.subject import Subject

Value = float | str | None

LONG_TAIL = 10.0
"""Times p99 from which on p99.9 stands beside it."""

_ONLY = "the drive had no other jobs"
_MEASURED = "by how much longer reads during reclaims take than others"
_LEFT = "what remains beside read reclaim, by flash time"
_ESTIMATED = "an estimate by flash time: the result does not say which job each waited for"


def ratio(part: Value, whole: Value) -> float | None:
    """Return part / whole; None where one is not known or the whole is nought."""
    if not isinstance(part, int | float) or not isinstance(whole, int | float) or not whole:
        return None
    return part / whole


def number(case: Subject, key: str) -> float:
    """Return a metric; 0 where it is not known."""
    return float(case.metric(key) or 0.0)


def flash_share(kind: str, *reasons: str) -> Callable[[Subject], Value]:
    """Return the share of the time of host reads or writes at the flash that they spend for some reasons."""

    def share(case: Subject) -> float | None:
        means = case.metric(f"latency_us.waiting.{kind}")
        if not isinstance(means, Mapping):
            return None
        parts = {key: value for key, value in means.items() if key != "operations"}
        return ratio(sum(parts[reason] for reason in reasons), sum(parts.values()))

    return share


def few_slow(kind: str, place: int) -> Callable[[Subject], Value]:
    """Return one of the two shares of :func:`floatgate.report.sections.waiting.few_slow`, by its place."""

    def share(case: Subject) -> float | None:
        slow = waiting.few_slow(case.result, kind)
        return None if slow is None else slow[place]

    return share


def flash_mean(kind: str) -> Callable[[Subject], Value]:
    """Return the mean time of host reads or writes at the flash, in microseconds."""

    def mean(case: Subject) -> float | None:
        means = case.metric(f"latency_us.waiting.{kind}")
        if not isinstance(means, Mapping):
            return None
        return float(sum(value for key, value in means.items() if key != "operations"))

    return mean


def operation(kind: str) -> Callable[[Subject], Value]:
    """Return what reads or writes are at the flash: behind a buffer the writes are flushes of pages."""

    def name(case: Subject) -> str:
        waiters = waiting.flush_waiters(dict(case.result)) if kind == "write" else None
        return f"flush of a page from the buffer, {waiters}," if waiters else "page operation"

    return name


def jobs_of(*causes: str) -> Callable[[Subject], Value]:
    """Return the share of some causes in the nominal time of jobs that move data."""

    def share(case: Subject) -> float | None:
        return ratio(
            sum(number(case, f"flash.time_s.{cause}") for cause in causes),
            sum(number(case, f"flash.time_s.{cause}") for cause in sorted(BACKGROUND)),
        )

    return share


def jobs_share(kind: str) -> Callable[[Subject], Value]:
    """Return the share of the time at the flash that requests wait for jobs of the drive."""
    return flash_share(kind, "foreground_job", "background_job")


def reclaim_excess(case: Subject) -> float | None:
    """Return the part of the latency of all reads by which those during reclaims exceed the mean of the others.

    None where the result lacks one of them, or the drive could not keep up: then reads queue behind one another, and
    those during reclaims are those of the busiest time.
    """
    during, others = (case.metric(f"reclaim.response_us.{when}") for when in ("during", "otherwise"))
    total = case.metric("latency_us.read.count"), case.metric("latency_us.read.mean")
    if not during or not others or None in total or latency.backlog(dict(case.result)) is not None:
        return None
    means = during.get("mean"), others.get("mean")
    if not during.get("count") or None in means:
        return None
    return ratio(during["count"] * max(0.0, means[0] - means[1]), total[0] * total[1])


def behind(kind: str, *causes: str) -> Callable[[Subject], Value]:
    """Return the share of the time at the flash that requests wait for jobs of some causes.

    That of reads for read reclaim comes from their latencies where the result has them; the rest is split by flash
    time.
    """

    def share(case: Subject) -> float | None:
        waited, part = jobs_share(kind)(case), jobs_of(*causes)(case)
        if not isinstance(waited, float) or not isinstance(part, float):
            return None
        excess = reclaim_excess(case) if kind == "read" else None
        if excess is None:
            return waited * part
        reclaimed = min(excess, waited)
        if READ_RECLAIM.issuperset(causes):
            return reclaimed
        others = jobs_of(*sorted(BACKGROUND - READ_RECLAIM))(case)
        return (waited - reclaimed) * (ratio(part, others) or 0.0)

    return share


def basis(kind: str, *causes: str) -> Callable[[Subject], Value]:
    """Return how :func:`behind` knows its share, in words."""

    def words(case: Subject) -> str | None:
        part = jobs_of(*causes)(case)
        if not isinstance(part, float):
            return None
        if part > 1.0 - 1e-9:
            return _ONLY
        if kind == "read" and reclaim_excess(case) is not None:
            return _MEASURED if READ_RECLAIM.issuperset(causes) else _LEFT
        return _ESTIMATED

    return words


def reclaim_tail(case: Subject) -> float | None:
    """Return p99 of the reads during reclaims / p99 of the others."""
    return ratio(case.metric("reclaim.response_us.during.p99"), case.metric("reclaim.response_us.otherwise.p99"))


def reclaim_tail_share(case: Subject) -> float | None:
    """Return the part of p99.9 of all reads that goes if reads during reclaims are left out; None in a backlog."""
    if latency.backlog(dict(case.result)) is not None:
        return None
    rest = ratio(case.metric("reclaim.response_us.otherwise.p999"), case.metric("latency_us.read.p999"))
    return None if rest is None else max(0.0, 1.0 - rest)


def tail(kind: str) -> Callable[[Subject], Value]:
    """Return what p99 leaves out, in words that follow it: p99.9 and how few requests take most of the time.

    Empty where p99.9 is at most :data:`LONG_TAIL` times p99 and the mean does not exceed p99.
    """

    def words(case: Subject) -> str | None:
        mean, *known = (case.metric(f"latency_us.{kind}.{name}") for name in ("mean", "p50", "p90", "p99", "p999"))
        if mean is None or None in known:
            return ""
        p50, p90, p99, p999 = known
        if p999 <= LONG_TAIL * p99 and mean <= p99:
            return ""
        # Each request below a quantile takes at most as long as it.
        slow = 1.0 - (0.5 * p50 + 0.4 * p90 + 0.09 * p99) / mean
        few = (
            f"; few requests take most of the time: the slowest 1 % at least {units.share(slow)}" if slow > 0.5 else ""
        )
        return f", p99.9 {units.span(p999 * 1e-6)}{few}"

    return words
