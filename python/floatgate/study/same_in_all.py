"""One trigger of collection for all settings of a comparison, where its default follows from what varies.

Separators with several streams need two free blocks, none needs one. Where a comparison leaves each setting its own
default, a difference holds the effect of the trigger beside that of the separator; docs/decisions/0055-one-trigger.md
has figures. The stop level follows from the trigger, so it needs no value of its own.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base.errors import warn
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment
from floatgate.run.run import check
from floatgate.study.runs.plan import named_values, placed
from floatgate.study.runs.points import Points

TRIGGER = "ftl.collect.trigger_free_blocks"
_STATING = (TRIGGER, "ftl.collect.trigger_free_share")
_DRIVES = "drive.preset"
"""Drives may state a trigger of their own, on purpose."""


@dataclass(frozen=True)
class Shared:
    """A key that has one value in all settings, though its defaults differ.

    Attributes:
        key: the dotted key.
        value: its value, the largest of the defaults.
        defaults: what each setting would have by itself.
    """

    key: str
    value: int
    defaults: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``compare.json`` keeps it."""
        return {"value": self.value, "defaults": list(self.defaults)}


def shared(base: Experiment, points: Points) -> tuple[Experiment, tuple[Shared, ...]]:
    """Give all settings the largest default of the trigger, where defaults differ and nothing states a trigger.

    Args:
        base: the experiment.
        points: the settings that vary.

    Returns:
        The experiment for all settings, and what was set in it; the same experiment where nothing had to be.

    Raises:
        InputError: one of the settings is unusable.
    """
    if _DRIVES in points.keys or _stated(base, points) is not None:
        return base, ()
    defaults = []
    for point in points:
        value = look(tomllib.loads(check(base.with_overrides(placed(point, {})))), *TRIGGER.split("."))
        if not isinstance(value, int):
            return base, ()
        defaults.append(value)
    if len(set(defaults)) < 2:
        return base, ()
    largest = max(defaults)
    return base.with_overrides([(TRIGGER, str(largest))]), (Shared(TRIGGER, largest, tuple(defaults)),)


def defaults_left(base: Experiment, points: Points) -> tuple[Experiment, tuple[Shared, ...]]:
    """Leave each setting its own default, and warn where the trigger is no default; returns what :func:`shared` does.

    Args:
        base: the experiment.
        points: the settings that vary.
    """
    key = _stated(base, points)
    if key is not None:
        warn(f"{key} is stated in the experiment: --own-defaults changes nothing; leave that key out of it")
    return base, ()


def _stated(base: Experiment, points: Points) -> str | None:
    """Return the key of the trigger that the experiment or what varies states; None where it is a default."""
    stated = {*points.keys, *(key for key, _ in named_values(points)), *(key for key, _ in base.overrides)}
    # A damaged file is refused when it is checked.
    with contextlib.suppress(tomllib.TOMLDecodeError):
        table: Mapping[str, Any] = tomllib.loads(base.toml or "")
        stated.update(key for key in _STATING if look(table, *key.split(".")) is not None)
    return next((key for key in _STATING if key in stated), None)
