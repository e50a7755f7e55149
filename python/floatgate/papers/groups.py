"""Groups of names in a paper's files, so that forty workloads need not be written out wherever they are meant.

``[group]`` of ``paper.toml`` holds them: ``NAME = ["one", "two"]``, or ``NAME = [["a", "b"], ["x", "y"]]`` for all
combinations, joined with hyphens (``a-x, a-y, b-x, b-y``). Where a list of names is expected, ``"@NAME"`` stands for
those of the group: in ``workloads`` and ``variants`` of a batch and in ``each`` of claims and tables. A table
``[workload."@NAME"]`` makes a workload of each name; ``{}`` in its settings stands for the name. A row of a table with
``each`` is a row for each name.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.base.errors import quote, quoted

Groups = Mapping[str, Sequence[str]]
MARK = "@"


def groups_of(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """The groups by name.

    Raises:
        ValueError: a group is neither a list of names nor one of lists of parts.
    """
    return {name: _names(name, given) for name, given in table.items()}


def _names(name: str, given: Any) -> list[str]:
    if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
        return given
    if isinstance(given, list) and given and all(_is_names(part) for part in given):
        return ["-".join(parts) for parts in itertools.product(*given)]
    raise ValueError(f"group {quote(name)} has no names; expected a list of names, or lists of their parts")


def _is_names(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(one, str) for one in part)


def expanded(names: Sequence[str], groups: Groups) -> list[str]:
    """The names with those of groups in their place.

    Raises:
        ValueError: there is no such group.
    """
    return [one for name in names for one in (_group(name, groups) if name.startswith(MARK) else [name])]


def _group(name: str, groups: Groups) -> Sequence[str]:
    if name[len(MARK) :] not in groups:
        raise ValueError(f"unknown group {quote(name)}; expected one of {quoted([MARK + one for one in groups])}")
    return groups[name[len(MARK) :]]


def filled_in(given: Any, name: str) -> Any:
    """A table or list with the name where its texts have ``{}``."""
    if isinstance(given, str):
        return given.replace("{}", name)
    if isinstance(given, list):
        return [filled_in(one, name) for one in given]
    if isinstance(given, Mapping):
        return {key: filled_in(one, name) for key, one in given.items()}
    return given


def entries(table: Mapping[str, Any], groups: Groups) -> dict[str, Any]:
    """Tables by name, where one of a group stands for one of each of its names.

    Raises:
        ValueError: there is no such group.
    """
    return {one: filled_in(entry, one) for name, entry in table.items() for one in expanded([name], groups)}


def rows(given: Sequence[Mapping[str, Any]], groups: Groups) -> list[dict[str, Any]]:
    """Rows, where one with ``each`` stands for one of each of its names.

    Raises:
        ValueError: there is no such group.
    """
    made: list[dict[str, Any]] = []
    for row in given:
        own = {key: value for key, value in row.items() if key != "each"}
        made += [filled_in(own, name) for name in expanded(row["each"], groups)] if "each" in row else [own]
    return made
