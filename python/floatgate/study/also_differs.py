"""Resolved settings that differ between compared runs besides those that vary: a default may follow from a policy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.results.flat import flat

if TYPE_CHECKING:
    from floatgate.study.compare import Comparison

SHOWN_MAX = 5
"""Keys that a note names."""
_VALUES_MAX = 8
"""Settings whose values are listed one by one."""
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
    """Format as ``also differs: ftl.collect.trigger_free_blocks 1, 2, 2``; nothing where no other setting differs."""
    differing = of_comparison(comparison)
    if not differing:
        return []
    parts = [f"{key} {_text(values)}" for key, values in list(differing.items())[:SHOWN_MAX]]
    more = len(differing) - SHOWN_MAX
    return [f"also differs: {'; '.join(parts)}{f'; and {more} more settings' if more > 0 else ''}"]


def _text(values: Sequence[Any]) -> str:
    shown = ["-" if value is None else value if isinstance(value, str) else json.dumps(value) for value in values]
    return ", ".join(shown) if len(shown) <= _VALUES_MAX else " or ".join(dict.fromkeys(shown))
