"""The headline lifetime of a run: whatever wears out first, and only if the run is long enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.report.sections import backlog, section
from floatgate.results.result_view import look

Facts = Mapping[str, Any]

YEARS = "lifetime.years"
"""Key of the life of the average block."""
FIRST_BLOCK = "lifetime.years_first_block"
"""Key of the life until the first block wears out."""
BLOCKS = ("average block", "first block")
"""Whose lives these are, in the names of both where a comparison shows both."""
DECIDES = ("wear.max_over_mean", "lifetime.tbw_bytes", "lifetime.tbw_first_block_bytes")
"""Columns of flat tables that say whether wear is uneven."""
TBW, FIRST_TBW = "lifetime.tbw_bytes", "lifetime.tbw_first_block_bytes"
"""Keys of both lives in bytes that the host writes."""
FIRST_OF = {YEARS: FIRST_BLOCK, TBW: FIRST_TBW}
"""Keys of lives of the average block, and those until the first block wears out."""
PACE = ("mode", *backlog.COLUMNS)
"""Columns of flat tables that say whether the drive sets the rate of a run."""
_OWN_PACE = frozenset({"closed", "think"})
"""Values of ``workload.arrival`` under which a request waits for earlier ones: the faster the drive, the more a day."""
OWN_PACE_NOTE = (
    "Lives are bytes that the host writes until wear-out (TBW): in a closed loop, and where the drive cannot keep up, "
    "a faster setting writes more per day, and days would count against it."
)
"""How to read lives of runs whose rate the drive sets."""
INSTEAD = {TBW: YEARS}
"""Metrics that are drawn only where another is not known, and that other."""
ENOUGH = "evidence.enough"
"""Column of flat tables that says whether a run was long enough to estimate a life."""
REASON = "evidence.why"
"""Column of flat tables that says why not."""
WORN_IN = "precondition.wear_in_passes"
"""Column of flat tables with the passes over a trace that wore the drive in."""

UNEVEN = 1.5
"""Erases of the most erased block over those of the mean one beyond which the life of the average block misleads."""
_TELLING = 1.1
"""Factor by which the average block must outlast the first one before the latter becomes the headline."""
_SURE = 0.05
"""A range of lives that is narrower than this share of its figure is left out."""


_ROUNDING = 1e-6
"""Part of a pass that is not worth another one."""
_NOT_STATIONARY = "not stationary"
"""The reason of a result whose write amplification still changes."""


@dataclass(frozen=True)
class Shortage:
    """Why a run tells no life, and what would mend it.

    Attributes:
        steady: whether the run is steady but for its beginning, which ``setting`` leaves out.
        text: the reason in words.
        setting: the key to set and its value; None where none is known.
    """

    steady: bool
    text: str
    setting: tuple[str, int] | None

    def __str__(self) -> str:
        if self.setting is None:
            return self.text
        key, value = self.setting
        return f"{self.text} ({key} = {value}{' leaves it out' if self.steady else ''})"

    def text_for_all(self) -> str:
        """Format it where the setting is to serve other runs too, which need less of it."""
        key, value = self.setting or ("", 0)
        return f"{self.text} ({key} = {value} {'leaves it out of all' if self.steady else 'serves all'})"


def shortage(result: Facts | None) -> Shortage | None:
    """Return why a run tells no life; None if it does."""
    facts = look(result, "evidence") or {}
    if facts.get("enough") is not False:
        return None
    if beginning := _without_transient(result):
        return Shortage(True, f"{facts['why']}: only the beginning differs", beginning)
    written, needed = facts["drive_writes"], facts["drive_writes_needed"]
    text = f"{facts['why']}: {units.figure(written, 2)} drive writes"
    if needed is None:
        # Nothing was programmed: all that the host wrote is still in the buffer, or in unfinished chunks.
        return Shortage(False, text, None)
    text += f", at least {units.figure(math.ceil(10 * needed) / 10, 2)} needed"
    times = math.ceil(needed / written) if written else 0
    return Shortage(False, text, _longer(result, times))


def unsteady(result: Facts | None) -> bool:
    """Return whether write amplification still changes within a run."""
    return unsteady_row({REASON: look(result, *REASON.split("."))})


def unsteady_row(row: Mapping[str, Any]) -> bool:
    """Return the same of a flat row with the column :data:`REASON`."""
    return row.get(REASON) == _NOT_STATIONARY


def too_short(result: Facts | None) -> str | None:
    """Format as ``too short: 0.31 drive writes, at least 1 needed (workload.repeat = 4)``; None if the run suffices."""
    short = shortage(result)
    return None if short is None else str(short)


def shortages(results: Mapping[str, Facts]) -> list[str]:
    """Say which of several settings tell no life, why, and the setting that mends it for all of them.

    Settings whose reasons have the same key share a note, with the largest value: it serves each of them.

    Args:
        results: the results by the labels of their settings.
    """
    groups: dict[tuple[bool, str], dict[str, Shortage]] = {}
    for label, result in results.items():
        short = shortage(result)
        if short is not None:
            key = short.text.split(":")[0] if short.setting is None else short.setting[0]
            groups.setdefault((short.steady, key), {})[label] = short
    phrases = []
    for group in groups.values():
        worst = max(group.values(), key=lambda one: one.setting[1] if one.setting else 0)
        which = section.which(list(group), len(results))
        lacks = "no steady WAF and no life yet" if worst.text.startswith(_NOT_STATIONARY) else "no life yet"
        alike = worst.setting is None or len({one.setting for one in group.values()}) == 1
        phrases.append(f"{which}: {lacks}; {worst if alike else worst.text_for_all()}.")
    return phrases


def _without_transient(result: Facts | None) -> tuple[str, int] | None:
    """Return the setting that leaves out the requests before the steady state; None where a longer run is needed."""
    facts = look(result, "evidence") or {}
    transient = facts.get("transient_requests")
    if facts["why"] != _NOT_STATIONARY or not transient:
        return None
    before = look(result, "config", "workload", "warmup_requests") or 0
    if look(result, "workload", "kind") == "trace":
        return _passes_before(result, before, transient)
    return "workload.warmup_requests", before + transient


def _passes_before(result: Facts | None, before: int, transient: int) -> tuple[str, int] | None:
    """Return the whole passes over a trace that hold the requests before its steady state.

    Where the only pass is served by a drive that has served it before, its beginning differs from the rest of the
    trace: more passes before it would not mend that.

    Args:
        result: of a run on a trace.
        before: ``workload.warmup_requests``.
        transient: counted requests before the steady state.
    """
    counted, passes = (look(result, "workload", key) for key in ("requests", "passes"))
    stated = look(result, "config", "workload", "warmup_passes") or 0
    served = max(stated, look(result, *WORN_IN.split(".")) or 0)
    if not counted or not passes or (passes == 1 and (served or before)):
        return None
    # The warm-up of requests may end within a counted pass, or before one.
    each = max(counted / passes, (counted + before) / (passes + served))
    return "workload.warmup_passes", math.ceil((max(before, served * each) + transient) / each - _ROUNDING)


def is_life(key: str) -> bool:
    """Return whether a metric is a lifetime of the drive; these are left out if the run is too short."""
    return key.startswith("lifetime.")


def _longer(result: Facts | None, times: int) -> tuple[str, int] | None:
    """Return the setting that makes the workload so many times as long."""
    passes = look(result, "workload", "passes")
    if look(result, "workload", "kind") == "trace":
        return ("workload.repeat", times * (passes or 1)) if 1 < times < 1_000_000 else None
    requests = look(result, "config", "workload", "requests")
    return ("workload.requests", times * requests) if requests and times > 1 else None


def uneven(result: Facts | None) -> bool:
    """Return whether some blocks wear so much faster than the mean that they decide how long the drive lasts."""
    ratio = look(result, "wear", "max_over_mean")
    if ratio is None or ratio <= UNEVEN:
        return False
    # In years a wear-leveler may prevent wear that it has not yet seen in a run.
    average, first = (_number(result, f"tbw{block}_bytes") for block in ("", "_first_block"))
    return average is None or first is None or average > _TELLING * first


def uneven_row(row: Mapping[str, Any]) -> bool:
    """Return the same of a flat row with the columns :data:`DECIDES`."""
    facts: dict[str, dict[str, Any]] = {}
    for key in DECIDES:
        group, name = key.split(".")
        facts.setdefault(group, {})[name] = row.get(key)
    return uneven(facts)


def own_pace(result: Facts | None) -> bool:
    """Return whether the drive sets the rate of a run: days of its life measure speed too.

    It does in a closed loop, and where it falls behind the stamps of the requests.
    """
    if look(result, "mode") != "timed":
        return False
    return look(result, "config", "workload", "arrival") in _OWN_PACE or backlog.spans(result) is not None


def own_pace_row(row: Mapping[str, Any]) -> bool:
    """Return the same of a flat row with the columns :data:`PACE`."""
    if row.get("mode") != "timed":
        return False
    return row.get("workload.arrival") in _OWN_PACE or backlog.spans_of_row(row) is not None


def warning(result: Facts | None) -> str | None:
    """Note that wear is uneven, and what to do about it."""
    if not uneven(result) or look(result, "evidence", "enough") is False:
        return None
    ratio = look(result, "wear", "max_over_mean")
    text = f"wear is uneven: the most erased block has {units.figure(ratio)} times the erases of the mean block"
    if look(result, "config", "ftl", "level", "policy") == "none":
        text += ' (ftl.level.policy = "hot-cold-swap" levels it)'
    return text


def years(result: Facts | None) -> float | None:
    """Return the headline years: of the first block if wear is uneven, else of the average block; None if unknown."""
    if look(result, "evidence", "enough") is False:
        return None
    return _number(result, "years_first_block" if uneven(result) else "years")


def tbw_bytes(result: Facts | None) -> float | None:
    """Return the host bytes that may be written until then."""
    if look(result, "evidence", "enough") is False:
        return None
    return _number(result, "tbw_first_block_bytes" if uneven(result) else "tbw_bytes")


def _number(result: Facts | None, key: str) -> float | None:
    value = look(result, "lifetime", key)
    return None if value is None else float(value)


def line(result: Facts | None) -> str | None:
    """Format as ``4.1 years at this rate (first block 3.9 years; 3000 P/E cycles; 194 TBW; 0.56 drive writes ...)``."""
    facts = look(result, "lifetime")
    if not facts or (look(result, "evidence", "enough") is None and "evidence" in (result or {})):
        return None
    short = too_short(result)
    if short:
        return f"no figure yet: {short}"
    lead, tbw = years(result), tbw_bytes(result)
    if lead is None and tbw is None:
        return None
    cycles = [] if facts.get("pe_cycles") is None else [cycles_text(facts, look(result, "dpes", "mean_wear"))]
    if lead is None:
        sentence = f"{tbw_text(tbw or 0.0)}{' until the first block wears out' if uneven(result) else ''}"
        average = [f"average block {tbw_text(facts['tbw_bytes'])}"] if uneven(result) else []
        rated = [text for text in (beside_rating(result),) if text]
        return f"{sentence} ({'; '.join([*rated, *average, *cycles, 'no years, since the workload has no time span'])})"
    others = _others(result, facts)
    written = [] if tbw is None else [tbw_text(tbw), *(text for text in (beside_rating(result),) if text)]
    pace = [] if facts.get("dwpd") is None else [f"{units.figure(facts['dwpd'], 2)} drive writes per day"]
    until = " until the first block wears out" if uneven(result) else " at this rate"
    return f"{units.years(lead)}{until} ({'; '.join([*others, *cycles, *written, *pace])})"


def beside_rating(result: Facts | None) -> str | None:
    """Format as ``86 % of the rated drive writes``, for a drive that runs scaled; None without a rating."""
    rated, visible = look(result, "drive", "rated", "drive_writes"), look(result, "drive", "logical_bytes")
    tbw = tbw_bytes(result)
    if not rated or not visible or tbw is None:
        return None
    ratio = tbw / visible / rated
    times = f"{units.figure(ratio)} times" if ratio >= 2 else f"{100 * ratio:.0f} % of"
    return f"{times} the rated drive writes"


def _others(result: Facts | None, facts: Facts) -> list[str]:
    """List the lives beside the headline."""
    spare, first = facts.get("years_spare_blocks"), facts.get("years_first_block")
    if uneven(result):
        phrases = [] if spare is None else [f"{units.years(spare)} until spare blocks run out"]
        return [*phrases, f"{units.years(facts['years'])} for the average block"]
    if first is None:
        return []
    low, high = facts.get("years_first_block_range") or (first, first)
    wide = high - low > _SURE * first
    return [f"first block {units.years(first)}" + (f", {units.years(low)} to {units.years(high)}" if wide else "")]


_RECOVERS = 1e-6
"""Relative difference to the nominal cycles from which on rest adds to them."""


def other_cycles(facts: Facts) -> bool:
    """Return whether blocks endure another number of erases than nominal cycles: they rest, or erases wear less."""
    return facts.get("pe_cycles_achievable") not in (None, facts.get("pe_cycles"))


def cycles_text(facts: Facts, wear: float | None = None) -> str:
    """Format as ``3000 P/E cycles``, or ``8615 P/E cycles at 5.1 hours of rest, 3000 nominal`` if rest adds to them.

    Where an erase wears a block by ``wear`` cycles, as ``7500 erases of 0.4 cycles each, 3000 nominal``.
    """
    if not other_cycles(facts):
        return f"{facts['pe_cycles']:g} P/E cycles"
    achievable = f"{facts['pe_cycles_achievable']:.0f}"
    what = f"{achievable} P/E cycles" if wear is None else f"{achievable} erases of {units.figure(wear, 2)} cycles each"
    hours = facts.get("mean_idle_h")
    adds = abs(facts["pe_cycles_achievable"] * (wear or 1.0) / facts["pe_cycles"] - 1.0) > _RECOVERS
    rest = f" at {units.span(3600.0 * hours)} of rest" if adds and hours is not None else ""
    return f"{what}{rest}, {facts['pe_cycles']:g} nominal"


def tbw_text(tbw_bytes: float) -> str:
    """Format as ``194 TBW``: host writes until wear-out in TB, as drive makers state it."""
    terabytes = tbw_bytes / 1e12
    if terabytes >= 1e6:
        return f"{units.figure(terabytes / 1e6)} million TBW"
    return f"{units.figure(terabytes)} TBW"


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the headline life, or why it is not known."""
    made = []
    life = look(result, "lifetime") or {}
    short = too_short(result)
    lead, tbw = years(result), tbw_bytes(result)
    first = uneven(result)
    if short:
        made.append(("life", "no figure yet", short))
    elif lead is not None:
        below = [f"average block: {units.years(life['years'])}"] if first else []
        below += [tbw_text(tbw)] if tbw is not None else []
        below += [f"{units.figure(life['dwpd'], 2)} drive writes per day"] if life.get("dwpd") is not None else []
        below += [cycles_text(life, look(result, "dpes", "mean_wear"))] if other_cycles(life) else []
        name = "life until the first block wears out" if first else "life at this rate"
        made.append((name, units.years(lead), ", ".join(below)))
    elif tbw is not None:
        made.append(("life", tbw_text(tbw), "no years, since the workload has no time span"))
    return made


def cell(result: Facts) -> str:
    """Format as ``4.1 years``, ``194 TBW (first block)``, ``too short``; in TBW where the drive sets the rate."""
    if too_short(result):
        return "too short"
    life, tbw = None if own_pace(result) else years(result), tbw_bytes(result)
    mark = " (first block)" if uneven(result) else ""
    if life is not None:
        return units.years(life) + mark
    return "-" if tbw is None else f"{units.figure(tbw / 1e12)} TBW{mark}"


def of_several(results: Sequence[Facts]) -> section.Columns:
    """Return the columns of the lives of several results: one definition and one unit for all of them.

    A result by itself leads with its first block if wear is uneven. Beside others that would compare one definition
    with another: where one of them is uneven, all have both lives. Where the drive sets the rate of one of them, all
    lives are in bytes.
    """
    known = [result for result in results if not too_short(result)]
    both, in_bytes = any(map(uneven, known)), any(map(own_pace, known))
    keys = _keys(known)[: 2 if both else 1]
    text = _text_of(known, keys)

    def cells(result: Facts, _difference: section.Difference | None) -> list[str]:
        if too_short(result):
            return ["too short"] * len(keys)
        return [_cell(result, key, text) for key in keys]

    pace = [OWN_PACE_NOTE] if in_bytes else []
    if not both:
        return section.Columns(["life"], cells, note=" ".join(pace))
    note = (
        "Life: until the average block and until the first block have used up their cycles. Both are shown, since wear "
        "is uneven under a setting at least."
    )
    return section.Columns([f"life, {block}" for block in BLOCKS], cells, note=" ".join([note, *pace]))


def _keys(known: Sequence[Facts]) -> tuple[str, str]:
    """Return the names of the lives of the average and of the first block, in the unit that can be compared."""
    return ("tbw_bytes", "tbw_first_block_bytes") if any(map(own_pace, known)) else ("years", "years_first_block")


def _text_of(known: Sequence[Facts], keys: Sequence[str]) -> Callable[[float], str]:
    """Return what formats lives of results in one unit."""
    if any(map(own_pace, known)):
        return tbw_text
    return units.in_one_unit([life for result in known for key in keys if (life := _number(result, key)) is not None])


def _cell(result: Facts, key: str, text: Callable[[float], str]) -> str:
    life = _number(result, key)
    if life is not None:
        return text(life)
    tbw = _number(result, f"{key.replace('years', 'tbw')}_bytes")
    return "-" if tbw is None else f"{units.figure(tbw / 1e12)} TBW"


def in_order(results: Sequence[Facts]) -> list[str]:
    """Return the lives that are known, the shortest first, by one definition and in one unit.

    They are those of the first block if wear is uneven in a result, and in TBW if the drive sets the rate of one.
    """
    known = [result for result in results if not too_short(result)]
    average, first = _keys(known)
    key = first if any(map(uneven, known)) else average
    lives = (_number(result, key) for result in known)
    return list(map(_text_of(known, [key]), sorted(life for life in lives if life is not None)))


def texts_of(rows: Sequence[Mapping[str, Any]]) -> Callable[[float], str]:
    """Return what formats the lives of rows with :data:`YEARS`, and :data:`FIRST_BLOCK` where wear is uneven."""
    return units.in_one_unit(
        [life for row in rows for key in (YEARS, FIRST_BLOCK) if (life := row.get(key)) is not None]
    )


SECTION = section.Section(
    "life",
    lines=lambda _, result: [("life", line(result))],
    cards=cards,
    remarks=lambda result: [warning(result)],
    notes=shortages,
    columns=[section.Columns(["life"], lambda result, _: [cell(result)], fitted=of_several)],
)
