"""Write the tables of docs/combining.md: which policies and settings are refused together, and why.

Every pair of policies of two slots, or of a policy and a setting of the drive, goes through the check of the core in
both modes. A policy gets what it needs by itself, such as a model of read disturb.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from floatgate import _core
from floatgate.base.errors import InputError

BASE = """
[drive.geometry]
channels = 2
chips_per_channel = 2
blocks_per_plane = 512
pages_per_block = 64
page_bytes = 4096
[ftl]
spare_factor = 0.5
precondition = "none"
[workload]
file = "trace.parquet"
duplicate_share = 0.2
compressed_share = 0.6
"""
"""A drive with room for the open blocks of every separator, and a workload that has contexts, times and content."""
DISTURB = {"drive.disturb.model": "tlc-opt", "drive.disturb.max_reads": "20000"}
NEEDS = {
    "ftl.reclaim": DISTURB,
    "drive.buffer": {"drive.buffer.capacity": "64 KiB", **DISTURB},
    "lifetime.throttle": {"lifetime.throttle.target_years": "5"},
}
"""By slot, what its policies need of other keys."""
SHAPES = {
    "a DRAM buffer": {"drive.buffer.capacity": "64 KiB"},
    "superblocks": {"ftl.collect.scope": "superblock"},
    "static allocation": {"ftl.allocation.mode": "static"},
    "`drive.plp = false`": {"drive.plp": "false"},
    "several pages per flash page": {"ftl.mapping_bytes": "1024"},
    "whole-block collection": {"ftl.collect.mode": "whole-block"},
    "programs for unwritten reads": {"ftl.unwritten_reads": "program"},
    "a closed loop": {"workload.arrival": "closed"},
    "host queues": {"host.queues": "2"},
}
MODES = ("functional", "timed")


@dataclass(frozen=True)
class Choice:
    """A policy, or a setting of the drive's shape: its slot, its name, what it sets, and what it needs."""

    slot: str
    name: str
    sets: dict[str, str]
    needs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refusal:
    """A refused pair: the slots and names of both, the mode, and the reason."""

    one: Choice
    other: Choice
    mode: str
    reason: str


def choices() -> list[Choice]:
    """Return every policy that is not the default of its slot, and every shape."""
    slots = json.loads(_core.catalogue(["policies"]))["policies"]
    made = [
        Choice(slot, entry["name"], {f"{slot}.{entry['selector']}": entry["name"]}, NEEDS.get(slot, {}))
        for slot, entries in slots.items()
        for entry in entries
        if entry is not entries[0]
    ]
    return made + [Choice("", name, sets) for name, sets in SHAPES.items()]


def refusal(*chosen: Choice, mode: str) -> str | None:
    """Return why an experiment with these choices is refused; None where it is not."""
    settings: dict[str, str] = {"mode": mode}
    for one in chosen:
        settings |= one.needs
    for one in chosen:
        settings |= one.sets
    try:
        _core.check(BASE, "experiment.toml", list(settings.items()))
    except InputError as error:
        what = str(error).split(": ", 1)[-1]
        return what.split("; expected")[0]
    return None


def refusals() -> Iterator[Refusal]:
    """Yield the pairs that are refused, but not those of which one is refused by itself."""
    for mode in MODES:
        alone = [one for one in choices() if refusal(one, mode=mode) is None]
        for one, other in combinations(alone, 2):
            if one.slot and one.slot == other.slot:
                continue
            reason = refusal(one, other, mode=mode)
            if reason is not None:
                yield Refusal(one, other, mode, reason)


def alone() -> dict[str, dict[str, list[str]]]:
    """Return by reason and mode the policies that are refused by themselves, without what they need."""
    made: dict[str, dict[str, list[str]]] = {}
    for mode in MODES:
        for one in choices():
            reason = refusal(replace(one, needs={}), mode=mode)
            if reason is not None:
                reason = re.sub(rf"^{re.escape(one.name)}\b", "...", reason)
                made.setdefault(re.sub(r'"[^"]*"', "...", reason), {}).setdefault(mode, []).append(_name(one))
    return made


def tables() -> str:
    """Return the tables in Markdown."""
    pairs: dict[str, dict[str, set[tuple[str, str]]]] = {}
    for one in refusals():
        pair = (_name(one.one), _name(one.other))
        pairs.setdefault(_template(one), {}).setdefault(one.mode, set()).add(pair)
    lines = ["| setting | refused with | mode | reason |", "|---|---|---|---|"]
    for reason in sorted(pairs):
        by_mode = pairs[reason]
        same = len(by_mode) == len(MODES) and len({frozenset(refused) for refused in by_mode.values()}) == 1
        for mode, refused in {"both": by_mode[MODES[0]]}.items() if same else by_mode.items():
            lines += [f"| {firsts} | {others} | {mode} | {reason} |" for firsts, others in _rows(refused)]
    lines += ["", "Refused by themselves:", "", "| setting | mode | reason |", "|---|---|---|"]
    for reason, by_names in alone().items():
        lines += [f"| {_joined(names)} | {mode} | {reason} |" for mode, names in by_names.items()]
    return "\n".join(lines)


def _template(one: Refusal) -> str:
    """Return the reason with dots for the names of policies, and N for numbers."""
    text = one.reason
    for choice in (one.one, one.other):
        if choice.slot:
            text = re.sub(rf"(?<![\w-]){re.escape(choice.name)}(?![\w-])", "...", text)
    return re.sub(r"\d+", "N", text)


def _rows(pairs: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the settings of either side, joined where all of them are refused with all of the other side."""
    order = {_name(one): i for i, one in enumerate(choices())}
    others: dict[str, list[str]] = {}
    for one, other in sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]])):
        others.setdefault(one, []).append(other)
    firsts: dict[tuple[str, ...], list[str]] = {}
    for one, theirs in others.items():
        firsts.setdefault(tuple(theirs), []).append(one)
    for theirs, ones in firsts.items():
        yield _joined(ones), _joined(theirs)


def _name(one: Choice) -> str:
    if not one.slot:
        return one.name
    ((key, value),) = one.sets.items()
    return f"{key} = {value}"


def _joined(names: Iterable[str]) -> str:
    """Join settings: those of one key as `` `KEY`: A, B ``."""
    by_key: dict[str, list[str]] = {}
    for name in names:
        key, _, value = name.partition(" = ") if not name.startswith("`") else (name, "", "")
        by_key.setdefault(key, []).append(value)
    return "; ".join(f"`{key}`: {', '.join(values)}" if values != [""] else key for key, values in by_key.items())


if __name__ == "__main__":
    print(tables())
