"""The defaults of settings that follow from the mode of collection, beside the values that an experiment states.

A resolved experiment states every default. Where another mode of collection is laid over it, a default of the old mode
stays as if it had been chosen, and the run is neither the one mode nor the other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from floatgate.base.errors import InputError, warn
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment
from floatgate.run.run import check

MODE = "ftl.collect.mode"
FOLLOW_MODE = ("drive.scheduling.urgent_jobs", "ftl.separate.policy")
"""Settings whose defaults follow from the mode of collection."""
LEVELS = ("ftl.collect.trigger_free_blocks", "ftl.collect.stop_free_blocks")
"""Settings whose defaults follow from the number of streams."""

Resolve = Callable[[Experiment], str]


def own_default(experiment: Experiment, key: str, resolved: Resolve = check) -> Any:
    """Return what a setting would be if the experiment did not state it.

    Args:
        experiment: the experiment.
        key: the dotted key.
        resolved: writes an experiment with all its settings.

    Returns:
        None where there is no such setting, or where other settings need the stated value.

    Raises:
        InputError: the experiment is unusable.
    """
    bare = replace(experiment, toml=without(resolved(experiment), (key, *LEVELS)), overrides=[])
    try:
        return look(tomllib.loads(resolved(bare)), *key.split("."))
    except InputError:
        return None


def left_over(before: Experiment, after: Experiment, resolved: Resolve = check) -> Mapping[str, tuple[Any, Any]]:
    """Return the settings that an experiment keeps from a former mode of collection, where they were its defaults.

    Args:
        before: the experiment under the former mode.
        after: the experiment under its own mode.
        resolved: writes an experiment with all its settings.

    Returns:
        Key -> the default under the former mode, which is the value of both, and the default of ``after``. Empty where
        one of them is unusable.
    """
    kept = {}
    try:
        values = [tomllib.loads(resolved(one)) for one in (before, after)]
        for key in FOLLOW_MODE:
            stated = {look(value, *key.split(".")) for value in values}
            old, new = (own_default(one, key, resolved) for one in (before, after))
            if None not in (old, new) and old != new and stated == {old}:
                kept[key] = (old, new)
    except InputError:
        return {}
    return kept


def warn_of_mode(experiment: Experiment) -> None:
    """Warn of defaults of a former mode of collection that an experiment states under the mode that is laid over it.

    Args:
        experiment: with its overrides.
    """
    modes = [value.strip("\"'") for key, value in experiment.overrides if key == MODE]
    if not modes:
        return
    before = replace(experiment, overrides=[(key, value) for key, value in experiment.overrides if key != MODE])
    for key, (old, new) in left_over(before, experiment).items():
        warn(f"{key} is stated as {old}; by default it would be {new} under {modes[-1]}")


def without(toml: str, keys: Iterable[str]) -> str:
    """Return a resolved experiment, which has a line for each setting, without some of them.

    Args:
        toml: the experiment.
        keys: dotted keys.
    """
    dropped = frozenset(keys)
    left = []
    table = ""
    for line in toml.splitlines():
        if line.startswith("["):
            table = f"{line.strip('[]')}."
        if f"{table}{line.partition(' = ')[0]}" not in dropped:
            left.append(line)
    return "\n".join(left)
