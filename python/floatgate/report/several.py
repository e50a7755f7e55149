"""Caveats for a reader of several results side by side: each names the settings that it is on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.report.sections import orders, section

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
"""Remarks on two settings are the same but for their numbers."""


def notes(results: Mapping[str, Mapping[str, Any]], runs: Mapping[str, dict[str, Any]] | None = None) -> list[str]:
    """Return the notes of the sections, and their remarks that are on some of the settings alone.

    Args:
        results: by the labels of their settings; with several seeds their means.
        runs: the result of one run of each, for remarks; None without remarks, as from the columns of a flat table.
    """
    phrases: list[str] = []
    for one in orders.REMARKS:
        phrases += one.notes(results) if one.notes is not None else _remarks(one, runs or {})
    return phrases


def _remarks(one: section.Section, runs: Mapping[str, dict[str, Any]]) -> Sequence[str]:
    """Return the remarks of a section that some of the runs have, each with the settings of these runs."""
    groups: dict[str, dict[str, str]] = {}
    for label, result in runs.items():
        for remark in one.remarks(result):
            if remark:
                groups.setdefault(_NUMBER.sub("0", remark), {})[label] = remark
    named = [group for group in groups.values() if len(group) < len(runs)]
    return [f"{section.which(list(group), len(runs), section.LISTED_MAX)}: {_text(group)}." for group in named]


def _text(group: Mapping[str, str]) -> str:
    """Return the remark of a group; where its numbers differ, that of the first setting, which it then names."""
    label, remark = next(iter(group.items()))
    return remark if len(set(group.values())) == 1 else f"{remark} (under {label})"
