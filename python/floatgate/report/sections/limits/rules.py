"""The rules of ``floatgate explain``: a condition on figures, a sentence that states them, settings to try.

A rule applies where all figures of its conditions and of its sentence are known and all conditions hold. Braces in a
sentence name figures (:data:`~.figures.FIGURES`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.report.sections.forecast.life_range import BELOW
from floatgate.report.sections.forecast.written_part import WAF_MAX

_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_BRACES = re.compile(r"\{(\w+)\}")

NOTABLE = 0.05
"""Share of programs or of time from which on a cause is named as a limit: what is below gains less than 5 %."""
LONG = 0.1
"""The same for shares of latencies, which vary more from run to run."""
MOST = 0.5
"""Share of latencies from which on a reason is the main one."""


@dataclass(frozen=True)
class Condition:
    """A figure compared with a limit."""

    figure: str
    test: str
    limit: float | str

    @classmethod
    def of(cls, condition: str) -> Condition:
        """Read ``copy_share >= 0.05`` or ``mode == timed``."""
        figure, test, limit = condition.split(maxsplit=2)
        return cls(figure, test, float(limit) if limit[0].isdigit() else limit)

    def holds(self, value: float | str | None) -> bool:
        """Return whether it holds; of a figure that is not known it does not."""
        return value is not None and _TESTS[self.test](value, self.limit)


def conditions(*texts: str) -> tuple[Condition, ...]:
    """Read several conditions, all of which must hold."""
    return tuple(map(Condition.of, texts))


def names_in(template: str) -> list[str]:
    """Return the figures that a sentence names."""
    return _BRACES.findall(template)


def filled(template: str, texts: Mapping[str, str]) -> str:
    """Return the sentence with its figures."""
    return _BRACES.sub(lambda match: texts[match[1]], template)


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        name: of the rule.
        about: ``evidence`` (what the run cannot show), ``life`` or ``latency``.
        when: conditions that all must hold.
        sentence: what is true then.
        settings: names of settings (:data:`~.settings.SETTINGS`) that would change it.
    """

    name: str
    about: str
    when: tuple[Condition, ...]
    sentence: str
    settings: tuple[str, ...] = ()

    @property
    def figures(self) -> list[str]:
        """The figures that it needs."""
        return list(dict.fromkeys([*(one.figure for one in self.when), *names_in(self.sentence)]))


EVIDENCE = (
    Rule(
        "nothing-written",
        "evidence",
        conditions("kind == run", "host_bytes == 0"),
        "The host wrote {host_bytes} in this run: nothing can be said about wear and collection.",
    ),
    Rule(
        "nothing-collected",
        "evidence",
        conditions("kind == run", "host_bytes > 0", "victims == 0"),
        "This run wrote only {drive_writes} of the drive's capacity and collected no block: nothing can be said about "
        "collection.",
    ),
    Rule(
        "little-written",
        "evidence",
        conditions("kind == run", "victims > 0", "drive_writes < 1"),
        "This run wrote only {drive_writes} of the drive's capacity: what follows about wear holds for its {victims} "
        "collected blocks alone.",
    ),
    Rule(
        "not-full",
        "evidence",
        conditions("kind == run", "victims > 0", "full == no"),
        "The drive was not full in this run, which wrote {drive_writes} of its capacity: collection had more free "
        "space than on a used drive.",
    ),
    Rule(
        "unwritten-reads",
        "evidence",
        conditions("kind == run", "unwritten >= 0.5"),
        "{unwritten} of the page reads are of pages that were never written: they cost no flash read.",
    ),
    Rule("too-short", "evidence", conditions("kind == run", "enough == no"), "No life can be stated yet: {too_short}."),
    Rule(
        "no-time",
        "evidence",
        conditions("kind == run", "mode == functional"),
        "The run has no time (mode = {mode}), so it says nothing about latency; --set mode=timed measures it.",
    ),
    Rule(
        "from-a-pipe",
        "evidence",
        conditions("trace_file == -"),
        "The trace came from standard input (workload.file = {trace_file}): the commands need it as a file, "
        "--trace FILE.",
    ),
    Rule(
        "waf-given",
        "evidence",
        conditions("kind == lifetime", "waf_given == yes"),
        "Write amplification was given ({amplification}), so nothing can be said about what causes it.",
    ),
    Rule(
        "waf-unsettled",
        "evidence",
        conditions("kind == lifetime", "waf_given == no", "waf_settled == no"),
        "Write amplification still changes from pass to pass, and the life is as uncertain: {waf_in_words}. More laps "
        "(lifetime.forecast.laps_max) may settle it.",
    ),
)

LIFE = (
    Rule(
        "life",
        "life",
        conditions("kind == run", "enough == yes"),
        "The drive lasts {lasts}. The mean block was erased {erases_mean} times, the most erased one "
        "{erases_max} times.",
    ),
    Rule(
        "pace-too-high",
        "life",
        conditions("kind == run", "enough == yes", "pace > 1"),
        "The host writes {dwpd} drive writes per day, {pace} times what the flash takes for {target} at even wear.",
        ("capacity",),
    ),
    Rule(
        "pace-fine",
        "life",
        conditions("kind == run", "enough == yes", "pace <= 1", "rated_early == no"),
        "The host writes {dwpd} drive writes per day and the flash takes {dwpd_for_target} for {target} at even wear: "
        "nothing limits life below {target} but uneven wear.",
    ),
    Rule(
        "rating",
        "life",
        conditions("rated_years > 0"),
        "The maker's rating ends first: the host has written the rated {rated_bytes} after {rated_years}. Only fewer "
        "host writes or a drive with more rated bytes change that; floatgate plan compares drives.",
        ("capacity-rated",),
    ),
    Rule(
        "partial-pages",
        "life",
        conditions(f"partial_share >= {NOTABLE}"),
        "Writes that are smaller than a page or not aligned cost {partial_share} of all programmed bytes, for the rest "
        "of their pages.",
        ("buffer-partial", "mapping"),
    ),
    Rule(
        "collection",
        "life",
        conditions("kind == run", f"copy_share >= {NOTABLE}"),
        "Garbage collection makes {copy_share} of all programs (write amplification {amplification}): a collected "
        "block still held {victim_valid} valid pages, {copied} pages copied in all.",
        ("spare", "victims", "other-victims", "separate", "separate-contexts"),
    ),
    Rule(
        "collection-forecast",
        "life",
        conditions("kind == lifetime", f"copy_share >= {NOTABLE}"),
        "Garbage collection makes {copy_share} of all programs over the life (write amplification {amplification}).",
        ("spare", "victims", "other-victims", "separate", "separate-contexts"),
    ),
    Rule(
        "little-collection",
        "life",
        conditions("drive_writes >= 1", "victims > 0", "copy_share > 0", f"copy_share < {NOTABLE}"),
        "Garbage collection hardly matters: it makes {copy_share} of all programs, {copied} pages copied.",
    ),
    Rule(
        "no-copies",
        "life",
        conditions("drive_writes >= 1", "victims > 0", "copy_share == 0"),
        "Garbage collection costs no programs: none of the {victims} collected blocks held a valid page.",
    ),
    Rule(
        "host-writes",
        "life",
        conditions("drive_writes >= 1", "victims > 0", f"host_share > {1 - NOTABLE}", f"partial_share < {NOTABLE}"),
        "The host's own writes make {host_share} of all programs: wear falls only with fewer writes or more flash.",
        ("capacity", "buffer-writes"),
    ),
    Rule(
        "padding",
        "life",
        conditions(f"padding_share >= {NOTABLE}", "unwritten_reads == nothing"),
        "Padding makes {padding_share} of all programs: flash pages are programmed before they are full.",
        ("plp",),
    ),
    Rule(
        "uneven-wear",
        "life",
        conditions("kind == run", "enough == yes", f"first_block_loss >= {NOTABLE}"),
        "Wear is uneven: the most erased block has {unevenness} times the erases of the mean one. The first block "
        "lasts {first_life}, the average block {average_life}.",
        ("level",),
    ),
    Rule(
        "uneven-wear-forecast",
        "life",
        conditions("kind == lifetime", f"first_block_loss >= {NOTABLE}"),
        "Wear is uneven: the first block lasts {first_life}, the average block {average_life}.",
        ("level",),
    ),
    Rule(
        "leveling-cost",
        "life",
        conditions(f"level_share >= {NOTABLE}"),
        "Wear-leveling ({leveler}) makes {level_share} of all programs.",
        ("level-less",),
    ),
    Rule(
        "reclaim-wear",
        "life",
        conditions("kind == run", "reclaimed > 0", f"reclaim_share >= {NOTABLE}"),
        "Read reclaim ({reclaimer}) makes {reclaim_share} of all programs and {reclaim_erases} of all erases: a block "
        "endures {max_reads} reads.",
        ("reclaim",),
    ),
    Rule(
        "reclaim-wear-forecast",
        "life",
        conditions("kind == lifetime", f"reclaim_share >= {NOTABLE}"),
        "Read reclaim ({reclaimer}) makes {reclaim_share} of all programs over the life.",
    ),
    Rule(
        "disturbed",
        "life",
        conditions("kind == run", "reclaimer == none", "reads_beyond > 0"),
        "{reads_beyond} reads went to blocks beyond the {max_reads} reads that one endures, and nothing reclaims them: "
        "their data is at risk.",
        ("reclaim-at-all",),
    ),
    Rule(
        "content",
        "life",
        conditions("reducer == none", f"reduced_share >= {NOTABLE}"),
        "The content of the writes could be stored in {reduced_share} fewer pages (duplicates and compression), and "
        "the drive programs them all.",
        ("reduce",),
    ),
    Rule(
        "content-unknown",
        "life",
        conditions("reducer == none", "has_content == yes"),
        "The trace says what its writes hold and the drive reduces nothing (lifetime.reduce.policy = {reducer}): what "
        "reduction would save is known only once it runs.",
        ("reduce-trace",),
    ),
    Rule(
        "reduced",
        "life",
        conditions("reducer != none", "written_ratio < 1"),
        "Reduction ({reducer}) programs {written_ratio} of the host's pages.",
        ("reduce-more",),
    ),
    Rule(
        "contexts-missing",
        "life",
        conditions("has_contexts == no", f"copy_share >= {NOTABLE}"),
        "The trace has no program contexts (column context: {has_contexts}), so policies that use them are not "
        "suggested; floatgate trace record takes them down.",
    ),
)

FORECASTS = (
    Rule(
        "waf-margin",
        "life",
        conditions("kind == lifetime", "overloaded == no", "basis_has_margin == no", f"up_to_waf <= {WAF_MAX:g}"),
        "The flash meets the target up to a write amplification of {up_to_waf}.",
    ),
    Rule(
        "overloaded",
        "life",
        conditions("kind == lifetime", "overloaded == yes"),
        "The host requests more than this drive can do ({load}): its life is not known.",
        ("channels",),
    ),
    Rule(
        "target-met",
        "life",
        conditions(
            *("kind == lifetime", "overloaded == no", "target_loss == 0", "rated_early == no", "throttle == none"),
            "life_interval == none",
        ),
        "Nothing limits life below the target: the drive lasts {life}, the target is {target}.",
    ),
    Rule(
        "target-uncertain",
        "life",
        conditions("kind == lifetime", "overloaded == no", "target_loss == 0", "life_interval != none"),
        f"The drive lasts {{life}}. The target of {{target}} is {BELOW}: {{life_interval}}.",
    ),
    Rule(
        "target-missed",
        "life",
        conditions("kind == lifetime", "overloaded == no", "target_loss > 0"),
        "The drive lasts {life} and misses the target of {target}.",
        ("throttle", "capacity"),
    ),
    Rule(
        "target-by-throttle",
        "life",
        conditions("kind == lifetime", "overloaded == no", "target_loss == 0", "throttle != none"),
        "The drive lasts {life} under the throttle {throttle}; the target is {target}.",
    ),
    Rule(
        "throttle-refuses",
        "life",
        conditions("kind == lifetime", "throttle != none", f"unserved >= {1 / 100}"),
        "The throttle {throttle} lets the host write only {served} of its demand until the target: endurance is the "
        "limit, which shows as writes held back.",
        ("capacity", "no-throttle"),
    ),
)


_AT_FLASH = "Of this time at the flash KINDs spend"
_OF_A_KIND = (
    Rule(
        "KIND-latency",
        "latency",
        conditions("kind == run", "KIND_mean_us > 0"),
        "A host KIND takes {KIND_mean_us} on average (p99 {KIND_p99_us}{KIND_tail}); the mean {KIND_operation} spends "
        "{KIND_flash_us} at the flash, where {KIND_counted_as}.",
    ),
    Rule(
        "KIND-latency-forecast",
        "latency",
        conditions("kind == lifetime", "KIND_mean_us > 0"),
        "In the busiest part of the workload, without a throttle, a host KIND takes {KIND_mean_us} on average (p99 "
        "{KIND_p99_us}{KIND_tail}).",
    ),
    Rule(
        "KIND-few-slow",
        "latency",
        conditions("kind == run", "KIND_slow_time > 0"),
        "The slowest {KIND_slow_requests} of KINDs take {KIND_slow_time} of the time of all KINDs: their mean lies "
        "above p99, and mean waits say little about p99.",
    ),
    Rule(
        "KIND-behind-collection",
        "latency",
        conditions(f"KIND_jobs >= {LONG}", f"KIND_behind_gc >= {LONG}"),
        f"{_AT_FLASH} {{KIND_behind_gc}} behind collection ({{KIND_gc_basis}}).",
        ("spare-KIND", "background-KIND", "incremental-KIND", "suspend-read", "buffer-write"),
    ),
    Rule(
        "KIND-behind-reclaim",
        "latency",
        conditions(f"KIND_jobs >= {LONG}", f"KIND_behind_reclaim >= {LONG}"),
        f"{_AT_FLASH} {{KIND_behind_reclaim}} behind read reclaim ({{KIND_reclaim_basis}}).",
        ("reclaim-KIND",),
    ),
    Rule(
        "KIND-behind-leveling",
        "latency",
        conditions(f"KIND_jobs >= {LONG}", f"KIND_behind_level >= {LONG}"),
        f"{_AT_FLASH} {{KIND_behind_level}} behind wear-leveling ({{KIND_level_basis}}).",
        ("level-less",),
    ),
    Rule(
        "KIND-queued",
        "latency",
        conditions(f"KIND_queued >= {2 * LONG}"),
        f"{_AT_FLASH} {{KIND_queued}} queued at dies that work for other host requests.",
        ("channels-KIND", "priority-read", "suspend-read"),
    ),
    Rule(
        "KIND-channel",
        "latency",
        conditions(f"KIND_channel >= {2 * LONG}"),
        f"{_AT_FLASH} {{KIND_channel}} waiting for the channel.",
        ("channels-KIND",),
    ),
    Rule(
        "KIND-own-work",
        "latency",
        conditions(f"KIND_own > {MOST}"),
        f"{_AT_FLASH} {{KIND_own}} on the operation itself: the times of the flash are the limit.",
        ("buffer-KIND",),
    ),
    Rule(
        "KIND-host-queue",
        "latency",
        conditions(f"KIND_host_queue >= {LONG}"),
        "{KIND_host_queue} of the latency of KINDs is the host queue, before the drive takes them.",
        ("channels-KIND",),
    ),
    Rule(
        "KIND-throttled",
        "latency",
        conditions(f"KIND_throttled >= {LONG}"),
        "{KIND_throttled} of the latency of KINDs is the throttle {throttle}, which holds them back.",
        ("no-throttle-KIND",),
    ),
)
"""Rules that stand once for reads and once for writes."""


def _latency(kind: str, other: str) -> tuple[Rule, ...]:
    """Return the rules on the latency of reads or of writes, without settings that act on the others."""

    def named(text: str) -> str:
        return text.replace("KIND", kind)

    return tuple(
        Rule(
            named(rule.name),
            rule.about,
            tuple(Condition(named(one.figure), one.test, one.limit) for one in rule.when),
            named(rule.sentence),
            tuple(named(name) for name in rule.settings if not name.endswith(f"-{other}")),
        )
        for rule in _OF_A_KIND
    )


LATENCY = (
    Rule(
        "throttle-delays",
        "latency",
        conditions("throttle != none", f"held_share >= {1 / 100}"),
        "The throttle {throttle} holds back {held_share} of the page writes, by {held_back_us} on average over all.",
        ("no-throttle", "capacity"),
    ),
    *_latency("read", "write"),
    *_latency("write", "read"),
    Rule(
        "read-own-write",
        "latency",
        conditions(f"read_own_write >= {LONG}"),
        "Of this time at the flash reads spend {read_own_write} longer behind collection than any single operation "
        "takes: they read pages whose own write waits for it.",
        ("buffer-own-write",),
    ),
    Rule(
        "forced-collection",
        "latency",
        conditions("kind == run", "forced > 0"),
        "Host writes waited {forced} times until whole blocks were collected: the spare space is too small for "
        "incremental collection beside the open blocks of the separator ({separator}).",
        ("spare-write",),
    ),
    Rule(
        "write-for-buffer",
        "latency",
        conditions(f"write_for_buffer >= {LONG}", "buffer_stays_full == no"),
        "{write_for_buffer} of the latency of writes is the wait for space in the buffer of {buffer_bytes}.",
        ("larger-buffer",),
    ),
    Rule(
        "write-for-flash",
        "latency",
        conditions(f"write_for_buffer >= {LONG}", "buffer_stays_full == yes"),
        "{write_for_buffer} of the latency of writes is the wait for space in the buffer of {buffer_bytes}, which "
        "stays full because the flash is busy: a larger one helps only as far as it merges writes.",
        ("larger-full-buffer",),
    ),
    Rule(
        "backlog",
        "latency",
        conditions("backlog > 1"),
        "The drive could not keep up: requests that arrived within {arrivals_s} took {span_s}, {backlog} times as "
        "long. Latencies include the growing queue.",
        ("channels-write", "channels-read"),
    ),
    Rule(
        "reclaim-tail",
        "latency",
        conditions("reclaim_tail > 2"),
        "Reads during reclaims have a p99 of {reclaim_p99_us}, {reclaim_tail} times that of other reads "
        "({other_p99_us}).",
        ("reclaim",),
    ),
    Rule(
        "hot-chip",
        "latency",
        conditions("hot_chip > 1.5", f"read_queued >= {LONG}"),
        "One chip serves {hot_chip} times as many hot reads as the mean chip, and reads spend {read_queued} of their "
        "time at the flash queued.",
        ("read-balance",),
    ),
)

RULES: tuple[Rule, ...] = (*EVIDENCE, *FORECASTS, *LIFE, *LATENCY)
"""All rules, in the order in which their sentences stand."""
