"""How long requests wait at the flash, and for which jobs of the drive.

A result counts the waits for all jobs together. Which job a read waited for follows from the latencies of reads during
read reclaims and of other reads, where the result has both. What is left, and the waits of writes, are split by the
flash time of the jobs, which is an estimate: one job of a second holds up more requests than many short ones.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from floatgate.base import units
from floatgate.pages.causes import BACKGROUND, READ_RECLAIM
from floatgate.report.sections import backlog, waiting
from floatgate.report.sections.limits.subject import Subject

Value = float | str | None

_PRIORITY = "drive.scheduling.priority"
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


def dies(case: Subject) -> int:
    """Return the dies of the drive."""
    geometry = case.setting("drive.geometry")
    return int(geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"])


def keeps_busy(case: Subject) -> bool:
    """Return whether a closed loop has more requests under way than there are dies: those served sooner make room."""
    if case.setting("workload.arrival") != "closed" or case.metric("mode") != "timed":
        return False
    limits = (case.setting("workload.queue_depth"), case.setting("host.outstanding_max"))
    depth = min((one for one in limits if isinstance(one, int)), default=0)
    return depth > dies(case)


def _reads_first(case: Subject) -> bool:
    """Return whether a die serves reads before writes and jobs."""
    order = case.setting(_PRIORITY) or [""]
    return bool(case.setting("drive.scheduling.policy") == "priority" and order[0] == "read")


def jobs_below_reads(case: Subject) -> tuple[str, ...]:
    """Return the reasons to wait that are jobs which a read may stop: those that rank below reads at their die.

    Jobs that hold their channel serve no read before they end, and the order ``fcfs`` has no ranks.
    """
    order = case.setting(_PRIORITY) or []
    if case.setting("drive.scheduling.policy") != "priority" or "read" not in order:
        return ("background_job",)
    below = order[order.index("read") :]
    urgent = case.setting("drive.scheduling.urgent_jobs") or "background"
    holds = case.setting("drive.scheduling.jobs_hold") != "nothing"
    foreground = urgent in below and not holds
    return ("foreground_job", "background_job") if foreground else ("background_job",)


def array_us(case: Subject, operation: str) -> Sequence[float]:
    """Return the array times of an operation in microseconds: one for all pages, or one for each type of pages."""
    key = f"drive.timing.{operation}_us"
    by_type = case.setting(f"{key}_by_page_type")
    return [float(one) for one in by_type] if by_type else [float(case.setting(key) or 0.0)]


def stoppable(case: Subject) -> float | None:
    """Return the share of the time of reads at the flash behind programs that they could suspend.

    Dies at work for other host requests and jobs that rank below reads count, by the share of programs in the time of
    the array. Where reads go first, a read waits for one program at most; a longer wait is for its own page.
    """
    waited = flash_share("read", "die", *jobs_below_reads(case))(case)
    programs, reads = array_us(case, "program"), array_us(case, "read")
    times = [
        number(case, "flash.programs.total") * statistics.mean(programs),
        number(case, "flash.reads.total") * statistics.mean(reads),
    ]
    part, mean = ratio(times[0], sum(times)), flash_mean("read")(case)
    if not isinstance(waited, float) or not isinstance(mean, float) or part is None:
        return None
    return min(waited * part, ratio(max(programs), mean) or 0.0) if _reads_first(case) else waited * part


def own_write(case: Subject) -> float | None:
    """Return the share of the time of reads at the flash that they wait for the write of their own page.

    Where reads go first, a read waits for one operation of a job at most. What it waits longer is for a write of its
    page that waits for the job. None with a buffer, which answers such reads, in another order, and in a backlog.
    """
    means = case.metric("latency_us.waiting.read")
    if backlog.spans(case.result) is not None:
        return None
    if case.metric("buffer") or not _reads_first(case) or "foreground_job" not in jobs_below_reads(case):
        return None
    if not isinstance(means, Mapping):
        return None
    longest_us = max(max(array_us(case, one)) for one in ("read", "program", "erase"))
    return ratio(max(0.0, means["foreground_job"] - longest_us), flash_mean("read")(case))


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


def counted_as(kind: str) -> Callable[[Subject], Value]:
    """Return what counts as one operation at the flash, in words: where writes gather, many are one."""

    def words(case: Subject) -> str:
        large = f"large {kind}s count once per page"
        gathered = waiting.gathering(case.result) if kind == "write" else None
        return f"writes that gather in one page count once together, and {large}" if gathered else large

    return words


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
    if not during or not others or None in total or backlog.spans(case.result) is not None:
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
    if backlog.spans(case.result) is not None:
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
