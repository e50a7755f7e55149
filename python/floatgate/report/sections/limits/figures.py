"""The figures that rules and settings of ``floatgate explain`` speak of, each computed from metrics of one result.

A share is a number from 0 to 1. A figure that a result does not know is None: no rule that needs it applies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.pages.causes import READ_RECLAIM
from floatgate.report.sections import backlog as behind_arrivals
from floatgate.report.sections import disturb, forced, lifetime_headline, rating
from floatgate.report.sections.amplification import amplification
from floatgate.report.sections.forecast import ends, entry, life_range, lines, load, written_part
from floatgate.report.sections.limits import closed_forms, waits
from floatgate.report.sections.limits.subject import Subject
from floatgate.report.sections.limits.waits import Value, behind, flash_mean, flash_share, number, ratio

IDLE = 0.1
"""Share of the time of dies from which on they are idle between bursts."""


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        of: computes it; None where it is not known.
        format: how a sentence shows it.
        about: what it is, with the metrics that it comes from.
    """

    of: Callable[[Subject], Value]
    format: Callable[[Any], str]
    about: str

    def text(self, value: Value) -> str:
        """Return the value as a sentence shows it."""
        return self.format(value)


def metric(key: str) -> Callable[[Subject], Value]:
    """Return the metric of that key."""
    return lambda case: case.metric(key)


def setting(key: str) -> Callable[[Subject], Value]:
    """Return the setting of that key."""
    return lambda case: case.setting(key)


def page_share(*causes: str) -> Callable[[Subject], Value]:
    """Return the share of the programmed pages that some causes have; of a forecast from its write amplification."""

    def share(case: Subject) -> float | None:
        table = "waf_bytes_parts" if case.is_forecast else "flash.pages_written"
        return ratio(sum(number(case, f"{table}.{cause}") for cause in causes), case.metric(f"{table}.total"))

    return share


# Wear


def wear(case: Subject) -> float | None:
    """Return the erases of the mean block; of a forecast for each TB that the host writes."""
    if not case.is_forecast:
        mean: float | None = case.metric("wear.erases_mean")
        return mean
    waf, size = case.metric("waf_bytes"), case.metric("drive.physical_bytes")
    return None if waf is None else ratio(1e12 * waf, size)


def copy_share(case: Subject) -> float | None:
    """Return the share of the programmed pages that collection copies."""
    value = page_share("gc")(case)
    return value if isinstance(value, float) else None


def amplification_error(case: Subject) -> float | None:
    """Return half of the 95 % interval of write amplification; None where it is not known."""
    value, interval = amplification(case.result)
    if case.is_forecast:
        error = case.metric("method.waf_error")
        return None if value is None or error is None else float(value * error)
    return None if not interval else abs(interval[1] - interval[0]) / 2


def partial_share(case: Subject) -> float | None:
    """Return the share of the programmed bytes that fill up pages of which the host wrote a part."""
    parts = case.metric("waf_bytes_parts")
    if not parts:
        return None
    return ratio(max(0.0, parts["host"] + parts["partial"] - 1.0), parts["total"])


def victim_valid_share(case: Subject) -> float | None:
    """Return the share of a victim's pages that were valid, on average."""
    blocks = ratio(case.metric("flash.erases.gc"), case.metric("gc.victims"))
    pages = closed_forms.pages_per_block(case)
    return None if blocks is None or pages is None else ratio(case.metric("gc.copied_pages_per_victim"), blocks * pages)


def first_block_loss(case: Subject) -> float | None:
    """Return the share of the average block's life that the first block does not reach; 0 where wear is even."""
    if case.is_forecast:
        first, average = entry.first_block_years(case.result), entry.years(case.result)
    elif lifetime_headline.uneven(case.result):
        first, average = case.metric("lifetime.tbw_first_block_bytes"), case.metric("lifetime.tbw_bytes")
    else:
        return 0.0
    part = ratio(first, average)
    return 0.0 if part is None else max(0.0, 1.0 - part)


def _life(years: str, tbw: str) -> Callable[[Subject], Value]:
    """Return a life in words: in years, or in bytes of a workload without time."""

    def text(case: Subject) -> str | None:
        value, written = case.metric(f"lifetime.{years}"), case.metric(f"lifetime.{tbw}")
        if value is not None:
            return units.years(value)
        return None if written is None else lifetime_headline.tbw_text(written)

    return text


def headline(case: Subject) -> str | None:
    """Return the life that counts, in words; None where the run is too short for one."""
    if case.is_forecast:
        _, years = entry.earliest(case.result)
        return None if years is None else units.life(years, entry.target_years(case.result))
    years, tbw = lifetime_headline.years(case.result), lifetime_headline.tbw_bytes(case.result)
    if years is not None:
        return units.years(years)
    return None if tbw is None else lifetime_headline.tbw_text(tbw)


def short_life(case: Subject) -> str | None:
    """Return the same as a table has it, marked where it is that of the first block."""
    return headline(case) if case.is_forecast or headline(case) is None else lifetime_headline.cell(case.result)


def life_value(case: Subject) -> float | None:
    """Return the life that counts as a number: years, or bytes of host writes.

    Bytes stand where the workload has no time, and where the drive sets its rate: there a faster one has fewer years.
    """
    if case.is_forecast:
        return entry.earliest(case.result)[1]
    years = None if lifetime_headline.own_pace(case.result) else lifetime_headline.years(case.result)
    return lifetime_headline.tbw_bytes(case.result) if years is None else years


def lasting(case: Subject) -> str | None:
    """Return how long the drive lasts, with what ends it."""
    life = headline(case)
    if life is None:
        return None
    measured = f"{life} of host writes" if lifetime_headline.years(case.result) is None else f"{life} at this rate"
    return f"{measured}, until the first block wears out" if lifetime_headline.uneven(case.result) else measured


def held_back_us(case: Subject) -> float | None:
    """Return how long the throttle holds a page write back, delays and waits, as a mean over all."""
    if case.is_forecast:
        delay, wait = case.metric("throttle.delay_us_mean"), case.metric("throttle.wait_us_mean")
        return None if delay is None or wait is None else float(delay + wait)
    mean = ratio(case.metric("throttle.held_back_s"), case.metric("host.page_writes"))
    return None if mean is None else 1e6 * mean


def rated_first(case: Subject) -> float | None:
    """Return when the rated bytes are written, where that is before the flash is worn out."""
    life = entry.life_that_counts(case.result) if case.is_forecast else lifetime_headline.years(case.result)
    return None if life is None else rating.first_to_end(case.result, life)


def rated_early(case: Subject) -> str:
    """Return ``yes`` where the rated bytes are written before the target is reached."""
    after, target = rated_first(case), case.metric("lifetime.target_years")
    return yes(after is not None and target is not None and after < target)


def target_loss(case: Subject) -> float | None:
    """Return the share of the target that a forecast life misses; 0 where it is reached, to a thousandth."""
    return _missed(case, entry.earliest(case.result)[1])


def interval_below(case: Subject) -> str:
    """Return the interval of a life that meets its target, in words, if its lower end misses it; ``none`` else."""
    interval = ends.interval_below(case.result) if case.is_forecast else None
    return "none" if interval is None else interval.text


def flash_loss(case: Subject) -> float | None:
    """Return the share of the target that the flash of a forecast misses, whatever the rating is."""
    return _missed(case, entry.life_that_counts(case.result))


def _missed(case: Subject, years: float | None) -> float | None:
    target = entry.target_years(case.result)
    if not case.is_forecast or years is None or not target:
        return None
    missed = 1.0 - years / target
    return missed if missed > life_range.SLACK else 0.0


def reduced_share(case: Subject) -> float | None:
    """Return the share of page writes that reduction saves, by the shares that the workload is generated with."""
    duplicates, size = case.setting("workload.duplicate_share"), case.setting("workload.compressed_share")
    if duplicates is None and size is None:
        return None
    return 1.0 - (1.0 - (duplicates or 0.0)) * (1.0 if size is None else size)


def _column(name: str) -> Callable[[Subject], Value]:
    """Return whether the trace has a column: ``yes``, ``no``, or ``none`` without a trace that can be read."""

    def known(case: Subject) -> str:
        columns = case.trace_columns
        return "none" if columns is None else yes(name in columns)

    return known


def is_uniform(case: Subject) -> str:
    """Return ``yes`` where the generator writes all pages equally often, which no separation can use."""
    one = case.setting("workload.pattern") in ("uniform", "sequential") and not case.setting("workload.trim_share")
    return "yes" if one else "no"


# Time


def flash_part(kind: str) -> Callable[[Subject], Value]:
    """Return the time of an operation at the flash as a share of the latency of reads or writes, at most 1."""

    def part(case: Subject) -> float | None:
        share = ratio(flash_mean(kind)(case), case.metric(f"latency_us.{kind}.mean"))
        return None if share is None else min(1.0, share)

    return part


def before_share(wait: str, kind: str) -> Callable[[Subject], Value]:
    """Return a wait before the flash as a share of the mean latency of reads or writes, at most 1."""

    def share(case: Subject) -> float | None:
        part = ratio(case.metric(f"latency_us.{wait}"), case.metric(f"latency_us.{kind}.mean"))
        return None if part is None else min(1.0, part)

    return share


def dies_idle(case: Subject) -> float | None:
    """Return the share of the span in which dies had nothing to do, by the nominal time of all operations."""
    span = case.metric("span_s")
    if not span or case.metric("mode") != "timed":
        return None
    return max(0.0, 1.0 - number(case, "flash.time_s.total") / float(waits.dies(case) * span))


def stays_full(case: Subject) -> str:
    """Return ``yes`` where the buffer never empties: in a closed loop, or where dies have no idle time.

    In a closed loop requests follow as fast as the drive ends them, and fill a buffer of any size.
    """
    idle = dies_idle(case)
    waits_for_it = before_share("buffer_wait.write.place", "write")(case)
    if idle is None or not waits_for_it:
        return "no"
    return yes(case.setting("workload.arrival") == "closed" or idle < IDLE)


def read_waits_saved(case: Subject) -> Value:
    """Return the share of the time of reads at the flash that they wait for collection, and would not without it.

    A closed loop with more requests under way than dies does other work instead: only reads that wait for the write of
    their own page would be faster.
    """
    return waits.own_write(case) if waits.keeps_busy(case) else behind("read", "gc")(case)


def backlog(case: Subject) -> float | None:
    """Return how much longer than its arrivals the service of an open workload took, as a factor."""
    if behind_arrivals.spans(case.result) is None:
        return None
    return ratio(case.metric("span_s"), case.metric("latency_us.arrivals_s"))


def spare_blocks(case: Subject) -> float:
    """Return the spare blocks of a plane."""
    return float(case.setting("ftl.spare_factor") * case.setting("drive.geometry.blocks_per_plane"))


def text(value: Any) -> str:
    """Return a text as it is."""
    return str(value)


def micros(value: float) -> str:
    """Format microseconds as people read them."""
    return units.span(value * 1e-6)


def two(value: float) -> str:
    """Format with two decimals."""
    return f"{value:.2f}"


def yes(value: object) -> str:
    """Return ``yes`` or ``no``."""
    return "yes" if value else "no"


def _flag(of: Callable[[Subject], object]) -> Callable[[Subject], Value]:
    """Return a condition as ``yes`` or ``no``; None where it is not known."""

    def known(case: Subject) -> str | None:
        value = of(case)
        return None if value is None else yes(value)

    return known


_SHARE, _COUNT = units.share, units.count
_PAGES, _OF_FORECASTS = "flash.pages_written", "; of a forecast waf_bytes_parts"
_RECLAIM_ABOUT = "jobs, by reclaim.response_us (reads) or by the part of read reclaim in their flash.time_s"


def _classes() -> dict[str, Figure]:
    """Return the figures on latency that reads and writes share."""
    made: dict[str, Figure] = {}
    for kind in ("read", "write"):
        waiting = f"latency_us.waiting.{kind}"
        shares = {
            "jobs": (flash_share(kind, "foreground_job", "background_job"), "foreground_job and background_job"),
            "behind_gc": (behind(kind, "gc"), "jobs, less read reclaim, by the part of collection"),
            "behind_reclaim": (behind(kind, *sorted(READ_RECLAIM)), _RECLAIM_ABOUT),
            "behind_level": (behind(kind, "level"), "jobs, by the part of wear-leveling"),
            "queued": (flash_share(kind, "die"), "die"),
            "queued_or_channel": (flash_share(kind, "die", "channel"), "die and channel"),
            "channel": (flash_share(kind, "channel"), "channel"),
            "own": (flash_share(kind, "service", "suspended"), "service and suspended"),
        }
        named = {name: (of, _SHARE, f"share of {waiting}: {about}") for name, (of, about) in shares.items()}
        named |= {
            "mean_us": (metric(f"latency_us.{kind}.mean"), micros, f"latency_us.{kind}.mean"),
            "p99_us": (metric(f"latency_us.{kind}.p99"), micros, f"latency_us.{kind}.p99"),
            "tail": (waits.tail(kind), text, "p99.9, where it or the mean lies far above p99; else nothing"),
            "p999_us": (metric(f"latency_us.{kind}.p999"), micros, f"latency_us.{kind}.p999"),
            "slow_requests": (waits.few_slow(kind, 0), _SHARE, f"{kind}s slower than the mean, where it is above p99"),
            "slow_time": (waits.few_slow(kind, 1), _SHARE, f"their share of the time of all {kind}s"),
            "gc_basis": (waits.basis(kind, "gc"), text, "how the waits for collection are known"),
            "reclaim_basis": (waits.basis(kind, *sorted(READ_RECLAIM)), text, "how those for read reclaim are known"),
            "level_basis": (waits.basis(kind, "level"), text, "how those for wear-leveling are known"),
            "operation": (waits.operation(kind), text, "a page operation, or with a buffer a flush of a page"),
            "counted_as": (waits.counted_as(kind), text, "what counts as one page operation"),
            "flash_us": (flash_mean(kind), micros, f"sum of {waiting}"),
            "flash_part": (flash_part(kind), _SHARE, f"sum of {waiting} / latency_us.{kind}.mean, at most 1"),
            "host_queue": (before_share(f"queue_wait.{kind}", kind), _SHARE, f"latency_us.queue_wait.{kind} / mean"),
            "throttled": (
                before_share(f"throttle_wait.{kind}", kind),
                _SHARE,
                f"latency_us.throttle_wait.{kind} / mean",
            ),
        }
        made |= {f"{kind}_{name}": Figure(*row) for name, row in named.items()}
    return made


FIGURES: Mapping[str, Figure] = {
    # the run
    "kind": Figure(lambda case: case.kind, text, "run or lifetime"),
    "mode": Figure(setting("mode"), text, "functional or timed"),
    "host_bytes": Figure(metric("host.write_bytes"), units.decimal_bytes, "host.write_bytes"),
    "drive_writes": Figure(
        metric("evidence.drive_writes"), lambda value: units.figure(value, 2), "evidence.drive_writes"
    ),
    "enough": Figure(_flag(metric("evidence.enough")), text, "evidence.enough"),
    "too_short": Figure(
        lambda case: lifetime_headline.too_short(case.result),
        text,
        "evidence.why, drive_writes and drive_writes_needed",
    ),
    "full": Figure(
        lambda case: yes(case.metric("drive.effective_spare_factor") is not None),
        text,
        "whether drive.effective_spare_factor is known",
    ),
    "unwritten": Figure(
        lambda case: ratio(case.metric("flash.unmapped_reads"), case.metric("host.page_reads")),
        _SHARE,
        "flash.unmapped_reads / host.page_reads",
    ),
    "uniform": Figure(is_uniform, text, "whether a generator writes all pages alike"),
    # wear
    "amplification": Figure(lambda case: amplification(case.result)[0], two, "waf_bytes"),
    "amplification_error": Figure(
        amplification_error, two, "half of waf_bytes_95; of a forecast method.waf_error * waf_bytes"
    ),
    "all": Figure(lambda _: 1.0, _SHARE, "all of it"),
    "wear": Figure(wear, units.figure, "wear.erases_mean; of a forecast waf_bytes / drive.physical_bytes"),
    "victims": Figure(metric("gc.victims"), _COUNT, "gc.victims"),
    "copied": Figure(metric("gc.copied_pages"), _COUNT, "gc.copied_pages"),
    "victim_valid": Figure(victim_valid_share, _SHARE, "gc.copied_pages_per_victim / pages of a victim"),
    "copy_share": Figure(copy_share, _SHARE, f"{_PAGES}.gc / total{_OF_FORECASTS}"),
    "host_share": Figure(page_share("host", "partial"), _SHARE, f"{_PAGES}.host and partial / total{_OF_FORECASTS}"),
    "level_share": Figure(page_share("level"), _SHARE, f"{_PAGES}.level / total{_OF_FORECASTS}"),
    "reclaim_share": Figure(
        page_share(*sorted(READ_RECLAIM)), _SHARE, f"{_PAGES}.reclaim, replica / total{_OF_FORECASTS}"
    ),
    "unwritten_reads": Figure(setting("ftl.unwritten_reads"), text, "ftl.unwritten_reads"),
    "padding_share": Figure(page_share("padding"), _SHARE, f"{_PAGES}.padding / total{_OF_FORECASTS}"),
    "partial_share": Figure(partial_share, _SHARE, "waf_bytes_parts: host and partial beyond 1 / total"),
    "separator": Figure(setting("ftl.separate.policy"), text, "ftl.separate.policy"),
    "separates": Figure(
        lambda case: yes(case.setting("ftl.separate.policy") not in ("none", "host-gc")),
        text,
        "whether ftl.separate.policy tells host writes apart",
    ),
    "collector": Figure(setting("ftl.collect.policy"), text, "ftl.collect.policy"),
    "forced": Figure(
        lambda case: forced.forced(case.result), _COUNT, "gc.forced; of incremental collection, which should need none"
    ),
    "collect_mode": Figure(setting("ftl.collect.mode"), text, "ftl.collect.mode"),
    "leveler": Figure(setting("ftl.level.policy"), text, "ftl.level.policy"),
    "more_spare": Figure(closed_forms.more_spare, units.percent1, "twice ftl.spare_factor, at most 50 %"),
    "spare_blocks": Figure(spare_blocks, _COUNT, "spare blocks per plane"),
    "law": Figure(closed_forms.law, text, "the victim policy whose closed form applies"),
    "effective_spare": Figure(
        closed_forms.effective, lambda value: units.figure(value, 2), "drive.effective_spare_factor"
    ),
    "effective_spare_more": Figure(
        closed_forms.effective_with_more,
        lambda value: units.figure(value, 2),
        "the same with more_spare; free and open blocks take as much as before",
    ),
    "law_waf": Figure(closed_forms.waf_now, two, "closed form at the effective spare factor"),
    "law_waf_spare": Figure(closed_forms.waf_with_more, two, "closed form with the larger spare factor"),
    "law_waf_greedy": Figure(closed_forms.waf_greedy, two, "closed form of greedy collection"),
    "spare_saves": Figure(
        lambda case: closed_forms.saved(copy_share(case), case, closed_forms.waf_with_more),
        _SHARE,
        "copies that the closed form saves, of all programs",
    ),
    "greedy_saves": Figure(
        lambda case: closed_forms.saved(copy_share(case), case, closed_forms.waf_greedy),
        _SHARE,
        "copies that greedy collection saves by the closed form, of all programs",
    ),
    "spare_saves_read": Figure(
        lambda case: closed_forms.saved(read_waits_saved(case), case, closed_forms.waf_with_more),
        _SHARE,
        "waits of reads for collection that the closed form saves; of read_own_write in a closed loop deeper than dies",
    ),
    "spare_saves_write": Figure(
        lambda case: closed_forms.saved(behind("write", "gc")(case), case, closed_forms.waf_with_more),
        _SHARE,
        "waits of writes for collection that the closed form saves",
    ),
    "erases_mean": Figure(metric("wear.erases_mean"), units.figure, "wear.erases_mean"),
    "erases_max": Figure(metric("wear.erases_max"), _COUNT, "wear.erases_max"),
    "unevenness": Figure(metric("wear.max_over_mean"), units.figure, "wear.max_over_mean"),
    "first_block_loss": Figure(first_block_loss, _SHARE, "1 - life of the first block / of the average one"),
    "first_life": Figure(_life("years_first_block", "tbw_first_block_bytes"), text, "life of the first block"),
    "average_life": Figure(_life("years", "tbw_bytes"), text, "life of the average block"),
    "life": Figure(headline, text, "the life that counts"),
    "short_life": Figure(short_life, text, "the life that counts, for a table"),
    "life_value": Figure(life_value, units.figure, "the life that counts, in years or bytes"),
    "lasts": Figure(lasting, text, "the life that counts, with what ends it"),
    "rated_years": Figure(rated_first, units.years, "when the rated bytes are written, before the flash wears out"),
    "rated_early": Figure(rated_early, text, "whether they are written before lifetime.target_years"),
    "rated_bytes": Figure(lambda case: rating.tbw_bytes(case.result), units.decimal_bytes, "drive.rated"),
    "dwpd": Figure(metric("lifetime.dwpd"), lambda value: units.figure(value, 2), "lifetime.dwpd"),
    "dwpd_for_target": Figure(
        metric("lifetime.dwpd_for_target"), lambda value: units.figure(value, 2), "lifetime.dwpd_for_target"
    ),
    "pace": Figure(
        lambda case: ratio(case.metric("lifetime.dwpd"), case.metric("lifetime.dwpd_for_target")),
        units.figure,
        "dwpd / dwpd_for_target",
    ),
    "target": Figure(metric("lifetime.target_years"), units.target_years, "lifetime.target_years"),
    # reads that disturb
    "reclaimer": Figure(setting("ftl.reclaim.policy"), text, "ftl.reclaim.policy"),
    "max_reads": Figure(metric("reclaim.max_reads"), _COUNT, "reclaim.max_reads"),
    "reads_beyond": Figure(metric("reclaim.reads_beyond_max"), _COUNT, "reclaim.reads_beyond_max"),
    "reclaimed": Figure(lambda case: disturb.blocks(dict(case.result)), _COUNT, "flash.erases.reclaim"),
    "reclaim_erases": Figure(
        lambda case: ratio(case.metric("flash.erases.reclaim"), case.metric("flash.erases.total")),
        _SHARE,
        "flash.erases.reclaim / total",
    ),
    "read_max_us": Figure(metric("latency_us.read.max"), micros, "latency_us.read.max"),
    "reclaim_tail_share": Figure(
        waits.reclaim_tail_share, _SHARE, "1 - p999 of reclaim.response_us.otherwise / latency_us.read.p999"
    ),
    "reclaim_tail": Figure(waits.reclaim_tail, units.figure, "reclaim.response_us: p99 during / otherwise"),
    "reclaim_p99_us": Figure(metric("reclaim.response_us.during.p99"), micros, "reclaim.response_us.during.p99"),
    "other_p99_us": Figure(metric("reclaim.response_us.otherwise.p99"), micros, "reclaim.response_us.otherwise.p99"),
    # content
    "reducer": Figure(setting("lifetime.reduce.policy"), text, "lifetime.reduce.policy"),
    "written_ratio": Figure(metric("reduce.written_ratio"), _SHARE, "reduce.written_ratio"),
    "reduced_share": Figure(reduced_share, _SHARE, "workload.duplicate_share and compressed_share"),
    "has_content": Figure(_column("content"), text, "whether the trace has a column of contents"),
    "trace_file": Figure(setting("workload.file"), text, "workload.file"),
    "has_contexts": Figure(_column("context"), text, "whether the trace has a column of program contexts"),
    # time
    "arrival": Figure(setting("workload.arrival"), text, "workload.arrival"),
    "dies_idle": Figure(dies_idle, _SHARE, "1 - flash.time_s.total / (dies * span_s)"),
    "buffer_stays_full": Figure(
        stays_full,
        text,
        f"yes where writes wait for space, and workload.arrival is closed or dies_idle below {IDLE}",
    ),
    "backlog": Figure(backlog, units.figure, "span_s / latency_us.arrivals_s, where it exceeds 1.1"),
    "arrivals_s": Figure(metric("latency_us.arrivals_s"), units.span, "latency_us.arrivals_s"),
    "span_s": Figure(metric("span_s"), units.span, "span_s"),
    "hot_chip": Figure(metric("hot_reads.max_over_mean"), units.figure, "hot_reads.max_over_mean"),
    "idle_job": Figure(setting("ftl.background.policy"), text, "ftl.background.policy"),
    "buffer_bytes": Figure(metric("buffer.capacity_bytes"), units.binary_bytes, "buffer.capacity_bytes"),
    "scheduler": Figure(setting("drive.scheduling.policy"), text, "drive.scheduling.policy"),
    **_classes(),
    "read_stoppable": Figure(
        waits.stoppable,
        _SHARE,
        "share of latency_us.waiting.read: die and jobs that rank below reads, by the part of programs in array time; "
        "of a drive that serves reads first at most a program each",
    ),
    "read_own_write": Figure(
        waits.own_write,
        _SHARE,
        "share of latency_us.waiting.read: foreground_job beyond the longest operation; of a drive without a buffer "
        "that serves reads first",
    ),
    "write_for_buffer": Figure(
        before_share("buffer_wait.write.place", "write"), _SHARE, "latency_us.buffer_wait.write.place / mean latency"
    ),
    # throttles and forecasts
    "throttle": Figure(setting("lifetime.throttle.policy"), text, "lifetime.throttle.policy"),
    "held_share": Figure(metric("throttle.held_share"), _SHARE, "throttle.held_share"),
    "held_back_us": Figure(held_back_us, micros, "throttle: delays and waits of a page write, mean"),
    "served": Figure(lambda case: entry.served(case.result), _SHARE, "throttle.demand_share"),
    "unserved": Figure(
        lambda case: None if (share := entry.served(case.result)) is None else max(0.0, 1.0 - share),
        _SHARE,
        "1 - throttle.demand_share",
    ),
    "target_loss": Figure(target_loss, _SHARE, "1 - life / lifetime.target_years, from a thousandth on"),
    "flash_loss": Figure(flash_loss, _SHARE, "the same of the flash, whatever the rating is"),
    "life_interval": Figure(
        interval_below, text, "lifetime.years_range, where the target is met and the lower end misses it; or none"
    ),
    "basis_has_margin": Figure(
        lambda case: yes(written_part.states_margin(case.result)),
        text,
        "whether the basis of the forecast states up_to_waf",
    ),
    "up_to_waf": Figure(
        lambda case: written_part.up_to_waf(case.result) if case.is_forecast else None,
        lambda value: units.figure(value, 2),
        "waf_bytes * life of the flash / lifetime.target_years, where the target is met without a throttle",
    ),
    "waf_settled": Figure(
        lambda case: yes(not lines.unsettled(case.result)) if case.is_forecast else None, text, "method.stationary"
    ),
    "waf_in_words": Figure(
        lambda case: lines.waf(case.result) if case.is_forecast else None, text, "waf_bytes and method in words"
    ),
    "waf_given": Figure(lambda case: yes(case.metric("method.waf_given")), text, "method.waf_given"),
    "overloaded": Figure(
        lambda case: yes(load.overloaded(case.result)) if case.is_forecast else None, text, "close_up"
    ),
    "load": Figure(lambda case: load.card(case.result) if case.is_forecast else None, text, "close_up in words"),
    "capacity": Figure(metric("drive.physical_bytes"), units.binary_bytes, "drive.physical_bytes"),
}
"""By name, as sentences have them in braces."""
