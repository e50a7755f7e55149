"""The settings that ``floatgate explain`` may suggest, each with the values to try and the figure that ranks it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.report.sections import disturb
from floatgate.report.sections.limits import closed_forms
from floatgate.report.sections.limits.rules import Condition, conditions
from floatgate.report.sections.limits.subject import Subject

Values = Callable[[Subject], Sequence[Any]]

Along = Callable[[Subject, Any], Mapping[str, Any]]

ACTS_ON, CLOSED_FORM, PROPORTION = "acts on", "by the closed form for uniform writes", "by proportion"
UNKNOWN = ""

WEAR = "wear"
"""The figure by which a trial says whether a setting saves wear."""


@dataclass(frozen=True)
class Gain:
    """What a setting may gain.

    Attributes:
        of: what becomes less, in words.
        figure: the figure that says how much of it, as a share; empty where none does.
        basis: how that is known; empty where it is not. A setting that "acts on" a share need not save all of it.
        measured: the figure that a trial compares; less is better.
        part: the part of the figure that may go.
        scale: the figure that the share is a share of.
        instead: the figure that a trial compares where ``measured`` is not known.
    """

    of: str
    figure: str
    basis: str
    measured: str
    part: float = 1.0
    scale: str = "all"
    instead: str = ""

    @property
    def saves_wear(self) -> bool:
        """Whether it saves wear, which changes nothing where the maker's rating ends the life."""
        return self.of.startswith(WEAR)


def _nothing(_case: Subject, _value: Any) -> Mapping[str, Any]:
    """Return no further settings."""
    return {}


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        name: of this row.
        key: of the setting in an experiment.
        values: to try in place of the present one.
        why: why it may help; braces name figures.
        gains: what it may gain, the one that matters first.
        when: conditions under which it is suggested at all.
        along: further settings that go with a value.
        last: whether it comes after all others: it makes another drive of this one, or trades life for service.
    """

    name: str
    key: str
    values: Values
    why: str
    gains: tuple[Gain, ...]
    when: tuple[Condition, ...] = ()
    along: Along = _nothing
    last: bool = False


def plain_text(value: Any) -> str:
    """Return a value as the command line takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def of(*values: Any) -> Values:
    """Return these values."""
    return lambda _: values


def times(key: str, factor: int, most: int) -> Values:
    """Return the present whole number times a factor, if that is not more than ``most``."""

    def multiplied(case: Subject) -> Sequence[Any]:
        now = case.setting(key)
        return [now * factor] if isinstance(now, int) and now * factor <= most else []

    return multiplied


def _more_spare(case: Subject) -> Sequence[Any]:
    more = closed_forms.more_spare(case)
    return [] if more is None else [more]


def _same_capacity(case: Subject, spare: Any) -> Mapping[str, Any]:
    """Return the blocks with which the host sees as much as before, where a trace may need all of it."""
    now, blocks = case.setting("ftl.spare_factor"), case.setting("drive.geometry.blocks_per_plane")
    if case.setting("workload.beyond") != "refuse" or now is None or not blocks:
        return {}
    return {"drive.geometry.blocks_per_plane": math.ceil(blocks * (1.0 - now) / (1.0 - spare))}


def _buffer(case: Subject) -> Sequence[Any]:
    """Return a buffer of about 1/64 of the drive, as a power of two from 1 MiB to 1 GiB."""
    logical = case.metric("drive.logical_bytes")
    if not logical:
        return []
    size = 1 << 20
    while size < (1 << 30) and 2 * size * 64 <= logical:
        size *= 2
    return [units.binary_bytes(size)]


def _larger_buffer(case: Subject) -> Sequence[Any]:
    size = case.metric("buffer.capacity_bytes")
    return [units.binary_bytes(4 * size)] if size else []


def _managers(case: Subject) -> Sequence[Any]:
    """Return the other read-disturb managers; one that moves pages by their type needs types."""
    kinds = len(case.metric("reclaim.reads_by_page_type") or ())
    own = case.setting("ftl.reclaim.policy")
    return [name for name in disturb.MANAGERS if name not in (own, "baseline") and (kinds > 1 or name != "redftl-plus")]


def _levelers(case: Subject) -> Sequence[Any]:
    own = case.setting("ftl.level.policy")
    return [name for name in ("hot-cold-swap", "swl") if name != own]


def _idle_jobs(case: Subject) -> Sequence[Any]:
    """Return jobs in idle time, by contexts too where the trace has them."""
    return ["idle", "by-context"] if "context" in (case.trace_columns or ()) else ["idle"]


def _generated_reducer(case: Subject) -> Sequence[Any]:
    """Return the reducer for the content that a generator makes up."""
    duplicates, size = case.setting("workload.duplicate_share"), case.setting("workload.compressed_share")
    compresses = size is not None and size < 1
    return ["both" if duplicates and compresses else "dedup" if duplicates else "compress"]


def _half_mapping(case: Subject) -> Sequence[Any]:
    now = case.setting("ftl.mapping_bytes")
    return [512] if now and now > 512 else []


WEAR_BY_COPIES = Gain("wear", "copy_share", ACTS_ON, WEAR)
_SPARE_WHY = (
    "With {more_spare} of spare space a collected block holds fewer valid pages: the closed form of {law} collection "
    "falls from {law_waf} to {law_waf_spare}, at an effective spare factor of {effective_spare} now and "
    "{effective_spare_more} then (free and open blocks left out)."
)

_RECLAIM_WHY = (
    "Managers differ in how often they reclaim and in what they move; {reclaimer} reclaimed {reclaimed} blocks."
)

_LIFE = (
    Setting(
        "spare",
        "ftl.spare_factor",
        _more_spare,
        _SPARE_WHY,
        (Gain("wear", "spare_saves", CLOSED_FORM, WEAR),),
        along=_same_capacity,
    ),
    Setting(
        "victims",
        "ftl.collect.policy",
        of("greedy"),
        "Greedy collection takes the block with the fewest valid pages: its closed form is {law_waf_greedy}, that of "
        "{law} {law_waf}.",
        (Gain("wear", "greedy_saves", CLOSED_FORM, WEAR),),
        conditions("collector != greedy"),
    ),
    Setting(
        "other-victims",
        "ftl.collect.policy",
        of("cost-benefit"),
        "Victims by age as well as by valid pages spare hot blocks, in which {collector} copies pages that die soon.",
        (Gain("wear", "", UNKNOWN, WEAR),),
        conditions("uniform == no", "collector == greedy"),
    ),
    Setting(
        "separate",
        "ftl.separate.policy",
        of("host-gc", "sepbit"),
        "Pages that die together in one block leave less to copy; the drive has separator {separator}.",
        (WEAR_BY_COPIES,),
        conditions("uniform == no", "separates == no", "has_contexts != yes"),
    ),
    Setting(
        "separate-contexts",
        "ftl.separate.policy",
        of("sepbit", "pds", "ids"),
        "Pages that die together in one block leave less to copy, and the trace has program contexts to separate by.",
        (WEAR_BY_COPIES,),
        conditions("has_contexts == yes", "separates == no"),
    ),
    Setting(
        "capacity",
        "drive.geometry.blocks_per_plane",
        times("drive.geometry.blocks_per_plane", 2, 1 << 24),
        "Twice the blocks carry the same writes ({capacity} now).",
        (Gain("wear", "all", PROPORTION, WEAR, 0.5),),
        last=True,
    ),
    Setting(
        "capacity-rated",
        "drive.geometry.blocks_per_plane",
        times("drive.geometry.blocks_per_plane", 2, 1 << 24),
        "Twice the capacity has twice the rated bytes ({rated_bytes} now).",
        (Gain("use of the rated bytes", "all", PROPORTION, "short_life", 0.5),),
        last=True,
    ),
    Setting(
        "buffer-writes",
        "drive.buffer.capacity",
        _buffer,
        "A DRAM buffer merges writes to the same page before they reach the flash.",
        (Gain("wear", "", UNKNOWN, WEAR),),
        conditions("uniform == no"),
    ),
    Setting(
        "buffer-partial",
        "drive.buffer.capacity",
        _buffer,
        "A DRAM buffer joins small writes to whole pages.",
        (Gain("wear", "partial_share", ACTS_ON, WEAR),),
    ),
    Setting(
        "mapping",
        "ftl.mapping_bytes",
        _half_mapping,
        "A finer map programs less around small writes, at the cost of a larger table.",
        (Gain("wear", "partial_share", ACTS_ON, WEAR),),
    ),
    Setting(
        "plp",
        "drive.plp",
        of(True),
        "With power-loss protection flash pages wait until they are full.",
        (Gain("wear", "padding_share", ACTS_ON, WEAR),),
    ),
    Setting(
        "level",
        "ftl.level.policy",
        _levelers,
        "Leveling moves cold data onto worn blocks; the drive has leveler {leveler}. "
        "With even wear the first block lasts as long as the average one.",
        (Gain("wear of the most erased block", "first_block_loss", ACTS_ON, "short_life", instead="erases_max"),),
    ),
    Setting(
        "level-less",
        "ftl.level.policy",
        of("none"),
        "Without leveling its moves go; the spread of wear grows.",
        (Gain("wear", "level_share", ACTS_ON, WEAR),),
    ),
    Setting(
        "reclaim",
        "ftl.reclaim.policy",
        _managers,
        _RECLAIM_WHY,
        (
            Gain("p99.9 of reads", "reclaim_tail_share", ACTS_ON, "read_p999_us"),
            Gain("wear", "reclaim_share", ACTS_ON, WEAR),
            Gain("longest read", "", UNKNOWN, "read_max_us"),
        ),
    ),
    Setting(
        "reclaim-at-all",
        "ftl.reclaim.policy",
        of("baseline"),
        "A manager reclaims blocks before reads disturb them beyond their limit.",
        (Gain("reads beyond the limit", "", UNKNOWN, "reads_beyond"),),
    ),
    Setting(
        "reduce",
        "lifetime.reduce.policy",
        _generated_reducer,
        "The generator makes content that reduces by {reduced_share}.",
        (Gain("wear", "reduced_share", ACTS_ON, WEAR),),
    ),
    Setting(
        "reduce-trace",
        "lifetime.reduce.policy",
        of("dedup", "both"),
        "Equal pages are stored once, and with both schemes the others are compressed.",
        (Gain("wear", "", UNKNOWN, WEAR),),
        conditions("waf_given == no"),
    ),
    Setting(
        "reduce-more",
        "lifetime.reduce.policy",
        of("both"),
        "Both schemes save what each saves; {reducer} leaves {written_ratio} of the pages.",
        (Gain("wear", "", UNKNOWN, WEAR),),
        conditions("reducer != both", "reducer != integrated"),
    ),
    Setting(
        "throttle",
        "lifetime.throttle.policy",
        of("ready-optimistic"),
        "A throttle holds writes back until the target is met; the host writes less.",
        (Gain("gap to the target", "target_loss", ACTS_ON, "target_loss"),),
        conditions("throttle == none", "flash_loss > 0"),
    ),
    Setting(
        "no-throttle",
        "lifetime.throttle.policy",
        of("none"),
        "Without the throttle {throttle} no write is held back, and the flash wears out earlier.",
        (Gain("demand held back", "unserved", ACTS_ON, "unserved"),),
        conditions("throttle != none"),
        last=True,
    ),
    Setting(
        "channels",
        "drive.geometry.channels",
        times("drive.geometry.channels", 2, 1024),
        "Twice the channels and dies work at a time, with twice the flash.",
        (Gain("latency", "", UNKNOWN, "write_mean_us"),),
        last=True,
    ),
    Setting(
        "read-balance",
        "ftl.level.policy",
        of("read-balance"),
        "Data that is read often is spread over the chips; the drive has leveler {leveler}.",
        (Gain("time of reads", "", UNKNOWN, "read_mean_us"),),
    ),
)


def _latency(kind: str) -> tuple[Setting, ...]:
    """Return the settings that change the latency of reads or of writes."""

    def at_flash(figure: str, basis: str = ACTS_ON, part: float = 1.0) -> tuple[Gain, ...]:
        return (Gain(f"time of {kind}s", figure, basis, f"{kind}_mean_us", part, f"{kind}_flash_part"),)

    def gain(figure: str, basis: str = ACTS_ON) -> tuple[Gain, ...]:
        return (Gain(f"time of {kind}s", figure, basis, f"{kind}_mean_us"),)

    saves = at_flash(f"spare_saves_{kind}", CLOSED_FORM)
    wear = Gain("wear", "spare_saves", CLOSED_FORM, WEAR)
    return (
        Setting(f"spare-{kind}", "ftl.spare_factor", _more_spare, _SPARE_WHY, (*saves, wear), along=_same_capacity),
        Setting(
            f"background-{kind}",
            "ftl.background.policy",
            _idle_jobs,
            "Dies are idle for {dies_idle} of the time, in which collection could work ahead.",
            at_flash(f"{kind}_behind_gc"),
            conditions("idle_job == none", "dies_idle >= 0.1", "arrival != closed"),
        ),
        Setting(
            f"incremental-{kind}",
            "ftl.collect.mode",
            of("incremental"),
            "Incremental collection moves a few pages per write in place of whole blocks; a plane has {spare_blocks} "
            "spare blocks for it.",
            at_flash(f"{kind}_behind_gc"),
            conditions("collect_mode == whole-block", "spare_blocks >= 16"),
        ),
        Setting(
            f"reclaim-{kind}",
            "ftl.reclaim.policy",
            _managers,
            _RECLAIM_WHY,
            at_flash(f"{kind}_behind_reclaim"),
        ),
        Setting(
            f"channels-{kind}",
            "drive.geometry.channels",
            times("drive.geometry.channels", 2, 1024),
            "Twice the channels and dies share the same requests; they hold twice the flash.",
            at_flash(f"{kind}_queued_or_channel", PROPORTION, 0.5),
        ),
        Setting(
            f"buffer-{kind}",
            "drive.buffer.capacity",
            _buffer,
            "A DRAM buffer takes writes at once and programs them later."
            if kind == "write"
            else "A DRAM buffer answers reads of pages that it holds.",
            gain("", UNKNOWN),
            conditions("buffer_stays_full == no") if kind == "write" else (),
        ),
        Setting(
            f"no-throttle-{kind}",
            "lifetime.throttle.policy",
            of("ready-optimistic", "none"),
            "Another throttle than {throttle} holds back other writes; without one none is, and the flash wears out "
            "earlier.",
            gain(f"{kind}_throttled"),
        ),
    )


_OTHERS = (
    Setting(
        "larger-buffer",
        "drive.buffer.capacity",
        _larger_buffer,
        "A buffer of four times the size has room for longer bursts; it has {buffer_bytes} now.",
        (Gain("time of writes", "write_for_buffer", ACTS_ON, "write_mean_us"),),
    ),
    Setting(
        "larger-full-buffer",
        "drive.buffer.capacity",
        _larger_buffer,
        "The buffer of {buffer_bytes} is full all the time: four times the size relieves the flash only where more "
        "writes to the same page meet in it.",
        (Gain("time of writes", "", UNKNOWN, "write_mean_us"),),
        conditions("uniform == no"),
        last=True,
    ),
    Setting(
        "buffer-own-write",
        "drive.buffer.capacity",
        _buffer,
        "A DRAM buffer answers reads of pages whose write waits for collection.",
        (Gain("time of reads", "read_own_write", ACTS_ON, "read_mean_us", 1.0, "read_flash_part"),),
    ),
    Setting(
        "priority-read",
        "drive.scheduling.policy",
        of("priority"),
        "Dies serve reads first; now the order is {scheduler}.",
        (Gain("time of reads", "read_queued", ACTS_ON, "read_mean_us", 1.0, "read_flash_part"),),
        conditions("scheduler == fcfs"),
    ),
    Setting(
        "suspend-read",
        "drive.commands.program_suspend",
        of(True),
        "Reads stop the programs of others at their die, if the flash has the command.",
        (Gain("time of reads", "read_stoppable", ACTS_ON, "read_mean_us", 1.0, "read_flash_part"),),
    ),
)

SETTINGS: Mapping[str, Setting] = {one.name: one for one in (*_LIFE, *_latency("read"), *_latency("write"), *_OTHERS)}
"""All settings by the names of their rows; rows may share a key."""
