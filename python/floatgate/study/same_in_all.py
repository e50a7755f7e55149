"""One trigger of collection for all settings of a comparison, where its default follows from what varies.

Separators with several streams need two free blocks, none needs one. Where a comparison leaves each setting its own
default, a difference holds the effect of the trigger beside that of the separator; docs/decisions/0055-one-trigger.md
has figures. The stop level follows from the trigger, so it needs no value of its own.

Where the mode of collection varies, settings whose defaults follow from it stay as the experiment states them: a
resolved one states the defaults of its own mode. Nothing is changed then, and a note says so.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base.errors import InputError, warn
from floatgate.report.sections import streams
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import check
from floatgate.study.own_defaults import FOLLOW_MODE, MODE, own_default
from floatgate.study.runs.plan import named_values, placed
from floatgate.study.runs.points import Points

TRIGGER = "ftl.collect.trigger_free_blocks"
_STATING = (TRIGGER, "ftl.collect.trigger_free_share")
_CHECKED_MAX = 1000
"""Points of a sweep whose default triggers are looked at; of a larger one, those are spread evenly."""
_DRIVES = "drive.preset"
"""Drives may state a trigger of their own, on purpose."""


@dataclass(frozen=True)
class Shared:
    """A key that has one value in all settings, though its defaults differ.

    Attributes:
        key: the dotted key.
        value: its value, the largest of the defaults.
        defaults: what each setting would have by itself.
        stated: whether the experiment states the value; else the comparison chose it.
        one_victim: whether each setting collects one victim at a time under the value, yet several by default.
    """

    key: str
    value: int | str
    defaults: tuple[int | str, ...]
    stated: bool = False
    one_victim: tuple[bool, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``compare.json`` keeps it."""
        entry: dict[str, Any] = {"value": self.value, "defaults": list(self.defaults)}
        entry |= {"stated": True} if self.stated else {}
        return entry | ({"one_victim": list(self.one_victim)} if any(self.one_victim) else {})


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
    if _DRIVES in points.keys or _stating(base, points) is not None:
        return base, ()
    return _largest(base, list(points))


def shared_in_sweep(base: Experiment, points: Points) -> tuple[Experiment, tuple[Shared, ...], list[Overrides]]:
    """Give all points of a sweep or a search one trigger, by the rule of :func:`shared`.

    Of many points, some are checked that are spread evenly; unusable points become rows and do not count.

    Args:
        base: the experiment.
        points: the settings that vary.

    Returns:
        What :func:`shared` returns, and the points whose defaults were looked at.

    Raises:
        InputError: the largest default is unusable in a point that can be used by itself.
    """
    if _DRIVES in points.keys or _stating(base, points) is not None:
        return base, (), []
    usable: list[Overrides] = []
    for number in range(0, len(points), max(1, len(points) // _CHECKED_MAX) | 1):
        point = points.at(number)
        with contextlib.suppress(InputError):
            check(base.with_overrides(placed(point, {})))
            usable.append(point)
    return *_largest(base, usable), usable


def _largest(base: Experiment, points: Sequence[Overrides]) -> tuple[Experiment, tuple[Shared, ...]]:
    """Set the largest default of the trigger, where the defaults of some usable points differ."""
    levels = [_levels(base, point) for point in points]
    defaults = [trigger for trigger, _ in levels if trigger is not None]
    if len(defaults) < len(levels) or len(set(defaults)) < 2:
        return base, ()
    largest = max(defaults)
    made = base.with_overrides([(TRIGGER, str(largest))])
    one_victim = [several and not _levels(made, point)[1] for (_, several), point in zip(levels, points, strict=True)]
    return made, (Shared(TRIGGER, largest, tuple(defaults), one_victim=tuple(one_victim)),)


def _levels(base: Experiment, point: Overrides) -> tuple[int | None, bool]:
    """Return the trigger of a point, and whether blocks are shared there and collected several at a time."""
    config = tomllib.loads(check(base.with_overrides(placed(point, {}))))
    trigger = look(config, *TRIGGER.split("."))
    return trigger if isinstance(trigger, int) else None, streams.batched({"config": config}) is not None


def defaults_left(base: Experiment, points: Points) -> tuple[Experiment, tuple[Shared, ...]]:
    """Leave each setting its own default, and warn where the trigger is no default; returns what :func:`shared` does.

    Args:
        base: the experiment.
        points: the settings that vary.
    """
    key = _stating(base, points)
    if key is not None:
        warn(f"{key} is stated in the experiment: --own-defaults changes nothing; leave that key out of it")
    return base, ()


def stated(base: Experiment, points: Points) -> tuple[Shared, ...]:
    """Return the settings that an experiment states as the default of one mode of collection, where modes vary.

    Args:
        base: the experiment.
        points: the settings that vary.

    Raises:
        InputError: one of the settings is unusable.
    """
    if MODE not in points.keys:
        return ()
    experiments = [base.with_overrides(placed(point, {})) for point in points]
    configs = [tomllib.loads(check(one)) for one in experiments]
    kept = []
    for key in FOLLOW_MODE:
        values = {look(config, *key.split(".")) for config in configs}
        if key in points.keys or len(values) > 1 or None in values:
            continue
        defaults = [own_default(one, key) for one in experiments]
        if None not in defaults and len(set(defaults)) > 1 and values.issubset(defaults):
            kept.append(Shared(key, values.pop(), tuple(defaults), stated=True))
    return tuple(kept)


def _stating(base: Experiment, points: Points) -> str | None:
    """Return the key of the trigger that the experiment or what varies states; None where it is a default."""
    keys = {*points.keys, *(key for key, _ in named_values(points)), *(key for key, _ in base.overrides)}
    # A damaged file is refused when it is checked.
    with contextlib.suppress(tomllib.TOMLDecodeError):
        table: Mapping[str, Any] = tomllib.loads(base.toml or "")
        keys.update(key for key in _STATING if look(table, *key.split(".")) is not None)
    return next((key for key in _STATING if key in keys), None)
