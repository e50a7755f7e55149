"""Resolved settings that differ between compared runs besides those that vary: a default may follow from a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.results.flat import flat

if TYPE_CHECKING:
    from floatgate.run.experiment import Overrides
    from floatgate.study.compare import Comparison
    from floatgate.study.same_in_all import Shared

SHOWN_MAX = 5
"""Keys that a note names."""
_LABELS_MAX = 3
"""Settings with one value that are named; of more, the first ones and how many others."""
ONE_VICTIM = (
    "Under {labels} collection then takes one victim at a time; by default it frees several at once there, which can "
    "lower WAF much. floatgate run gives another figure there unless {key} = {value} is set."
)
"""What a trigger above the default means where moved pages share blocks with those of the host."""
_IN_ANY_CASE = ("seed",)
_SETS = ("policies", "drive.preset")
"""Keys whose values stand for many settings, which differ on purpose."""

Values = Mapping[str, Sequence[Any]]
"""Key -> the value of each setting, None where it has no such key or no result."""


def of_comparison(comparison: Comparison) -> Values:
    """Return the settings that differ, less the keys that vary and the parameters of what they choose."""
    if any(key in _SETS for key in comparison.keys):
        return {}
    configs = [None if one.run is None else flat({"config": one.run.result.to_dict()["config"]}) for one in comparison]
    known = [config for config in configs if config is not None]
    own = {key.rpartition(".")[0] for key in comparison.keys}
    differing = {}
    for key in dict.fromkeys(key for config in known for key in config):
        if key in comparison.keys or key in _IN_ANY_CASE:
            continue
        values = [config.get(key) for config in known]
        if all(value == values[0] for value in values):
            continue
        # A parameter of one policy is absent under the others.
        if not (None in values and key.rpartition(".")[0] in own):
            differing[key] = [None if config is None else config.get(key) for config in configs]
    return differing


def notes(comparison: Comparison) -> list[str]:
    """Format as ``also differs: ftl.collect.stop_free_blocks 1 under a, 2 under the others``; nothing if none does.

    Args:
        comparison: the settings.
    """
    same = same_notes(comparison.same_in_all, comparison.keys, [setting.overrides for setting in comparison])
    points = [setting.overrides for setting in comparison]
    return [*same, *differing_notes(of_comparison(comparison), comparison.keys, points)]


def differing_notes(differing: Values, keys: Sequence[str], points: Sequence[Overrides]) -> list[str]:
    """Say which settings differ besides those that vary; nothing if none does.

    Args:
        differing: such settings.
        keys: those that vary.
        points: the values of these.
    """
    if not differing:
        return []
    parts = [f"{key} {_by_value(keys, points, values)}" for key, values in list(differing.items())[:SHOWN_MAX]]
    more = len(differing) - SHOWN_MAX
    key, values = next(iter(differing.items()))
    stated = next((value for value in values if value is not None), None)
    remedy = (
        ""
        if stated is None
        else f" (--set {key}={stated if isinstance(stated, str) else json.dumps(stated)} gives all the same)"
    )
    return [f"also differs: {'; '.join(parts)}{f'; and {more} more settings' if more > 0 else ''}{remedy}"]


def same_notes(same: Sequence[Shared], keys: Sequence[str], points: Sequence[Overrides]) -> list[str]:
    """Say which keys have one value in all settings, what their defaults would be, and what follows.

    Args:
        same: such keys.
        keys: those that vary.
        points: the settings.
    """
    phrases = []
    for one in same:
        defaults = f"by default it would be {_by_value(keys, points, one.defaults)}"
        if one.stated:
            phrases.append(f"{one.key} is stated as {one.value}, in all settings; {defaults}")
            continue
        own = "--own-defaults leaves each its own, as floatgate run has it"
        phrases.append(f"{one.key} is {one.value} in all settings; {defaults} ({own})")
        if any(one.one_victim):
            labels = _labels(keys, points, list(map(str, one.one_victim)))
            few = dict.fromkeys(label for label, alone in zip(labels, one.one_victim, strict=True) if alone)
            phrases.append(ONE_VICTIM.format(labels=_joined(list(few)), key=one.key, value=one.value))
    return phrases


def by_value(comparison: Comparison, values: Sequence[Any]) -> str:
    """Format as ``1 under none, 2 under the others``: each value with the settings that have it.

    Args:
        comparison: the settings.
        values: one for each of them.
    """
    return _by_value(comparison.keys, [setting.overrides for setting in comparison], values)


def _by_value(keys: Sequence[str], points: Sequence[Overrides], values: Sequence[Any]) -> str:
    shown = ["-" if value is None else value if isinstance(value, str) else json.dumps(value) for value in values]
    groups: dict[str, list[str]] = {value: [] for value in shown}
    for value, label in zip(shown, _labels(keys, points, shown), strict=True):
        if label not in groups[value]:
            groups[value].append(label)
    others = max(reversed(groups), key=lambda value: len(groups[value]))
    if len(groups[others]) == 1 or len(groups) == 1:
        return ", ".join(f"{value} under {_joined(labels)}" for value, labels in groups.items())
    named = [f"{value} under {_joined(labels)}" for value, labels in groups.items() if value != others]
    return ", ".join([*named, f"{others} under the others"])


def _labels(keys: Sequence[str], points: Sequence[Overrides], values: Sequence[str]) -> list[str]:
    """Name settings: by the values of the key that decides, the one with the fewest; else by the values of all."""
    columns = [[point[place][1].strip("\"'") for point in points] for place in range(len(keys))]
    deciding = [own for own in columns if len(set(zip(own, values, strict=True))) == len(set(own))]
    if deciding:
        return min(deciding, key=lambda own: len(set(own)))
    return [", ".join(value.strip("\"'") for _, value in point) or "as given" for point in points]


def _joined(labels: Sequence[str]) -> str:
    shown = labels if len(labels) <= _LABELS_MAX else [*labels[: _LABELS_MAX - 1], f"{len(labels) - 2} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
