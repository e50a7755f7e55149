"""Dynamic program and erase scaling in words: how deeply blocks were erased, what that saved, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def line(result: dict[str, Any]) -> str | None:
    """Format as ``idle: 96 % of 412 blocks erased less deeply, 0.43 cycles of wear per erase (235 cycles saved); ...``.

    None where every erase is an ordinary one.
    """
    facts = look(result, "dpes")
    if not facts:
        return None
    erases, policy = sum(facts["erases_by_mode"]), look(result, "config", "ftl", "dpes", "policy")
    if not erases:
        return f"{policy}: no block erased"
    shallow = sum(facts["erases_by_mode"][1:])
    if not shallow:
        return f"{policy}: all {units.count(erases)} blocks erased at full depth"
    wear = f"{units.figure(facts['mean_wear'], 2)} cycles of wear per erase"
    saved = f"{units.count(round(facts['cycles_saved']))} cycles saved"
    parts = [f"{units.share(shallow / erases)} of {units.count(erases)} blocks erased less deeply, {wear} ({saved})"]
    if facts["deepened"]:
        blocks = "block" if facts["deepened"] == 1 else "blocks"
        parts.append(f"{units.count(facts['deepened'])} {blocks} erased once more for a burst")
    added = facts["time_added_s"]["total"]
    parts.append(f"programs and erases take {units.span(added)} more ({_share(facts)} of flash time)")
    return f"{policy}: {'; '.join(parts)}"


def _share(facts: dict[str, Any]) -> str:
    share = facts["time_added_share"]
    return "-" if share is None else str(units.share(share))


def remark(result: dict[str, Any]) -> str | None:
    """Say what the gain rests on, where there is one."""
    facts = look(result, "dpes")
    if not facts or not sum(facts["erases_by_mode"][1:]):
        return None
    return _RESTS_ON


_RESTS_ON = (
    "lives with modes of erases rest on the table ftl.dpes.modes; its default figures are assumed "
    "(docs/endurance.md), so enter those of your flash"
)


def remark_of_forecast(result: Mapping[str, Any]) -> str | None:
    """Say what a forecast with a mode of erases rests on; None where every erase is an ordinary one."""
    return _RESTS_ON if look(result, "config", "ftl", "dpes") else None


HEADER = ["wear/erase", "added time"]
"""Columns of a comparison: mean wear of an erase in cycles, and the share of flash time that modes add."""


def cells(result: dict[str, Any]) -> list[str]:
    """Return the cells below :data:`HEADER`."""
    facts = look(result, "dpes")
    return ["-", "-"] if not facts else [str(units.figure(facts["mean_wear"], 2)), _share(facts)]


SECTION = section.Section(
    "erase_modes",
    lines=lambda _, result: [("modes", line(result))],
    remarks=lambda result: [remark(result)],
    columns=[
        section.Columns(HEADER, lambda result, _: cells(result), applies=lambda result: bool(look(result, "dpes")))
    ],
)
