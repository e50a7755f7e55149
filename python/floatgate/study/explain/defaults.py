"""Whether the core takes a changed experiment, and the defaults that have to change with it.

A resolved experiment states every default. Some follow from other settings: a separator with more streams needs a
higher trigger of collection. Where the core refuses a change because of one of these, its own default for the changed
experiment takes the place of the stated one, as if neither experiment had stated it. Where the mode of collection
changes, the core takes the defaults of the old mode without a word: they change with it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from floatgate.base.errors import FloatgateError
from floatgate.results.result_view import look
from floatgate.run.experiment import Experiment, Overrides, toml_value
from floatgate.study import own_defaults
from floatgate.study.explain.case import Case, resolved

Changes = Mapping[str, Any]


def overrides_of(changes: Changes) -> Overrides:
    """Return changes as the core takes them."""
    return [(key, toml_value(key, value)) for key, value in changes.items()]


def accepted(case: Case, changes: Changes) -> dict[str, Any] | str:
    """Return the further settings with which the core takes changes, mostly none; or why it refuses them."""
    along = _of_mode(case, changes)
    changes = {**changes, **along}
    if case.refusal(overrides_of(changes)) is None:
        return along
    bare = own_defaults.without(case.toml, own_defaults.LEVELS)
    changed = replace(case.experiment, toml=bare).with_overrides(overrides_of(changes))
    try:
        config = tomllib.loads(resolved(changed, case.kind))
    except FloatgateError as error:
        return error.message
    levels = {key: look(config, *key.split(".")) for key in own_defaults.LEVELS}
    further = {key: value for key, value in levels.items() if value is not None and value != case.setting(key)}
    return case.refusal(overrides_of({**changes, **further})) or {**along, **further}


def _of_mode(case: Case, changes: Changes) -> dict[str, Any]:
    """Return the defaults that change with the mode of collection, where changes have another one."""
    if own_defaults.MODE not in changes:
        return {}

    def as_toml(experiment: Experiment) -> str:
        return resolved(experiment, case.kind)

    after = case.experiment.with_overrides(overrides_of(changes))
    kept = own_defaults.left_over(case.experiment, after, as_toml)
    return {key: new for key, (_, new) in kept.items() if key not in changes}
