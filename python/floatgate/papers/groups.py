"""Groups of names in a paper's files: what differs only in a name is written once.

Groups
    ``[group]`` of ``paper.toml`` has lists of names, ``few = ["a", "b"]``, or tables of a value by name,
    ``label = { a = "A", b = "B" }``, whose names are the keys.
Lists of names
    In a list of names ``"@few"`` stands for the names of the group, and ``"x-{a,b}"`` or ``"x-{@few}"`` for ``x-a`` and
    ``x-b``; of several braces the first varies slowest. Lists of names are those of groups, ``workloads`` and
    ``variants`` of a batch, ``each`` and ``values`` of a claim, and ``ours`` of a table's row. A table
    ``[workload."@few"]`` makes a workload of each name, with ``{}`` for the name.
Repeated entries
    An entry (a claim, a row, a batch, a workload or a variant) with ``for = { NAME = [...], ... }`` is one entry for
    each combination of names, of which the first list varies slowest. ``{NAME}`` stands for the name in keys and texts
    of the entry, ``{label[NAME]}`` for its value in the group ``label``, and ``{label[A][B]}`` for the value of two
    names in a table of tables. A text that is one placeholder becomes the value itself, be it a figure, a list or a
    table. An entry may have groups of its own: ``group = { label = { a = "A" } }``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from floatgate.base.errors import quote, quoted

Name = str | int
Groups = Mapping[str, Sequence[Name] | Mapping[str, Any]]
MARK = "@"

_CHOICE = re.compile(r"\{([^{}]*[,@][^{}]*)\}")
"""``{a,b}`` or ``{@group}`` in a name."""
_KEY = r"[A-Za-z_][\w-]*"
_PLACEHOLDER = re.compile(rf"\{{({_KEY})((?:\[{_KEY}\])*)\}}")
"""``{name}``, ``{group[name]}`` or ``{group[name][name]}``."""


def groups_of(table: Mapping[str, Any], known: Groups | None = None) -> dict[str, Any]:
    """Return the groups by name, beside those that are known already.

    Raises:
        ValueError: a group is neither a list of names nor a table, or names an unknown group.
    """
    groups: dict[str, Any] = dict(known or {})
    for name, names in table.items():
        if isinstance(names, Mapping) and names:
            groups[name] = names
            continue
        if not isinstance(names, list) or not names:
            raise ValueError(
                f"group {quote(name)} has no names; expected a list of names, or a table of values by name"
            )
        groups[name] = expanded(names, groups)
    return groups


def expanded(names: Any, groups: Groups) -> list[Any]:
    """Return the names of a list, or of one text, with groups and choices in braces written out.

    Raises:
        ValueError: a group is unknown, or something is no name.
    """
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, list) or not all(type(name) in (str, int) for name in listed):
        raise ValueError(f"{quote(names)} is not a list of names; expected texts, such as ['a', '@group', 'x-{{a,b}}']")
    return [one for name in listed for one in (_choices(name, groups) if isinstance(name, str) else [name])]


def _choices(name: str, groups: Groups) -> Iterable[Name]:
    if name.startswith(MARK):
        return _group(name, groups)
    match = _CHOICE.search(name)
    if match is None:
        return [name]
    before, after = name[: match.start()], name[match.end() :]
    options = expanded([option.strip() for option in match[1].split(",")], groups)
    return [one for option in options for one in _choices(f"{before}{option}{after}", groups)]


def _group(name: str, groups: Groups) -> Iterable[Name]:
    if name[len(MARK) :] not in groups:
        raise ValueError(f"unknown group {quote(name)}; expected one of {quoted([MARK + one for one in groups])}")
    return groups[name[len(MARK) :]]


@dataclass
class _Combination:
    """One combination of the names of ``for``, and which of them texts have used."""

    names: Mapping[str, Name]
    groups: Groups
    used: set[str] = field(default_factory=set)

    def filled(self, content: Any) -> Any:
        """Return texts, lists and tables with names and values in place of placeholders."""
        if isinstance(content, str):
            whole = _PLACEHOLDER.fullmatch(content)
            return self._value(whole) if whole else _PLACEHOLDER.sub(self._text, content)
        if isinstance(content, list):
            return [self.filled(one) for one in content]
        if isinstance(content, Mapping):
            return {str(self.filled(key)): self.filled(one) for key, one in content.items()}
        return content

    def _text(self, match: re.Match[str]) -> str:
        value = self._value(match)
        if isinstance(value, list | Mapping):
            raise ValueError(f"{quote(match[0])} is a list or a table; expected it as a text of its own")
        return str(value)

    def _value(self, match: re.Match[str]) -> Any:
        keys = re.findall(_KEY, match[2])
        if not keys:
            return self._name(match[1], match)
        names = [self._name(key, match) for key in keys]
        tables = [name for name, group in self.groups.items() if isinstance(group, Mapping)]
        if match[1] not in tables:
            raise ValueError(
                f"{quote(match[0])}: no group {quote(match[1])} of values by name; expected one of {quoted(tables)}"
            )
        value: Any = self.groups[match[1]]
        for name in names:
            if not isinstance(value, Mapping) or str(name) not in value:
                raise ValueError(f"{quote(match[0])}: group {quote(match[1])} has no value for {quote(name)}")
            value = value[str(name)]
        # A value may hold names, but no values of other groups: they could refer to each other for ever.
        return _Combination(self.names, {}, self.used).filled(value)

    def _name(self, key: str, match: re.Match[str]) -> Name:
        if key not in self.names:
            raise ValueError(f"unknown placeholder {quote(match[0])}; 'for' has {quoted(list(self.names))}")
        self.used.add(key)
        return self.names[key]


def repeated(entry: Mapping[str, Any], groups: Groups) -> list[dict[str, Any]]:
    """Return the entries that one stands for: itself, or one for each combination of the names in ``for``.

    Raises:
        ValueError: a group, a placeholder or a value is missing, or nothing uses a name.
    """
    if "for" not in entry:
        if "group" in entry:
            raise ValueError("'group' without 'for'; expected both, or neither")
        return [dict(entry)]
    lists = entry["for"]
    if not isinstance(lists, Mapping) or not lists:
        raise ValueError(f"'for' is {quote(lists)}; expected lists of names, for = {{ name = ['a', 'b'] }}")
    known = groups_of(entry.get("group", {}), groups)
    names = [expanded(one, known) for one in lists.values()]
    rest = {key: value for key, value in entry.items() if key not in ("for", "group")}
    used: set[str] = set()
    made = [
        _Combination(dict(zip(lists, combination, strict=True)), known, used).filled(rest)
        for combination in itertools.product(*names)
    ]
    unused = [key for key in lists if key not in used]
    if unused:
        raise ValueError(f"nothing uses '{{{unused[0]}}}' of 'for'; expected it in a text of the entry")
    return made


def entries(
    listed: Sequence[Mapping[str, Any]], groups: Groups, kind: str, title: str, lists: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return all entries that those of a file stand for.

    Args:
        listed: the entries.
        groups: the groups of the paper.
        kind: what messages call an entry.
        title: its key by which messages name it.
        lists: its keys that hold lists of names.

    Raises:
        ValueError: as of :func:`repeated`, with the entry.
    """
    made: list[dict[str, Any]] = []
    for entry in listed:
        try:
            made += [
                one | {key: expanded(one[key], groups) for key in lists if key in one}
                for one in repeated(entry, groups)
            ]
        except ValueError as error:
            raise ValueError(f"{kind} {called(entry.get(title, '?'))}: {error}") from None
    return made


def called(title: Any) -> str:
    """Return what messages call an entry: its title in quotes, of a row its keys."""
    return quote(", ".join(map(str, title)) if isinstance(title, list) else title)


def named(table: Mapping[str, Any], groups: Groups, kind: str) -> dict[str, Any]:
    """Return tables by name, where the name may be of a group, or the entry be repeated.

    Raises:
        ValueError: as of :func:`repeated`, with the name; or a name comes twice.
    """
    made: dict[str, Any] = {}
    listed = [{"": name, **entry} for name, entry in table.items()]
    for entry in entries(listed, groups, kind, "", [""]):
        settings = {key: value for key, value in entry.items() if key != ""}
        for name in entry[""]:
            if name in made:
                raise ValueError(f"{kind} {quote(name)} is there twice; expected each once")
            made[name] = _with_name(settings, name)
    return made


def _with_name(content: Any, name: str) -> Any:
    """Return a table or list with the name in place of ``{}``."""
    if isinstance(content, str):
        return content.replace("{}", name)
    if isinstance(content, list):
        return [_with_name(one, name) for one in content]
    if isinstance(content, Mapping):
        return {key: _with_name(one, name) for key, one in content.items()}
    return content
