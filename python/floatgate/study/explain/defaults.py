"""Whether the core takes a changed experiment, and the defaults that have to change with it.

A resolved experiment states every default. Some follow from other settings: a separator with more streams needs a
higher trigger of collection. Where the core refuses a change because of one of these, its own default for the changed
experiment takes the place of the stated one, as if neither experiment had stated it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from floatgate.base.errors import FloatgateError
from floatgate.results.result_view import look
from floatgate.run.experiment import Overrides, toml_value
from floatgate.study.explain.case import Case, resolved

FOLLOWING = ("ftl.collect.trigger_free_blocks", "ftl.collect.stop_free_blocks")
"""Settings whose defaults follow from others."""

Changes = Mapping[str, Any]


def overrides_of(changes: Changes) -> Overrides:
    """Return changes as the core takes them."""
    return [(key, toml_value(key, value)) for key, value in changes.items()]


def accepted(case: Case, changes: Changes) -> dict[str, Any] | str:
    """Return the further settings with which the core takes changes, mostly none; or why it refuses them."""
    if case.refusal(overrides_of(changes)) is None:
        return {}
    changed = replace(case.experiment, toml=_without(case.toml, FOLLOWING)).with_overrides(overrides_of(changes))
    try:
        config = tomllib.loads(resolved(changed, case.kind))
    except FloatgateError as error:
        return error.message
    defaults = {key: look(config, *key.split(".")) for key in FOLLOWING}
    further = {key: value for key, value in defaults.items() if value is not None and value != case.setting(key)}
    return case.refusal(overrides_of({**changes, **further})) or further


def _without(toml: str, keys: Iterable[str]) -> str:
    """Return a resolved experiment, which has a line for each setting, without some of them."""
    left = []
    table = ""
    for line in toml.splitlines():
        if line.startswith("["):
            table = f"{line.strip('[]')}."
        if f"{table}{line.partition(' = ')[0]}" not in keys:
            left.append(line)
    return "\n".join(left)
