"""A result as one flat row: columns named by key, ``latency_us.read.p99``, typed, null where a mode cannot know.

A row has the settings of the resolved experiment under their keys, and the figures of ``result.json`` under theirs.
What differs from run to run of the same experiment (the ``run`` table: clocks, memory) is no figure; distributions and
lists of texts have no place in a flat row. An interval ``waf_95`` is two columns, ``waf_95.low`` and ``waf_95.high``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from floatgate.results import metrics

Value = int | float | bool | str | None

LEADING = metrics.leading()
"""Columns that a person looks for first; they stand before the others, which follow in alphabetical order."""

CONTRACT: Mapping[str, type] = metrics.everywhere()
"""Columns that every table has, with their types: null where a mode cannot know them, and not absent."""

_ENDS = ("_95", "_range")
"""How the names of intervals end."""


def flat(result: Mapping[str, Any]) -> dict[str, Value]:
    """Return one result as a row: the settings of its ``config``, then its figures; a figure wins over a setting."""
    row = dict(_leaves(result.get("config") or {}, texts=True))
    row.update(_leaves({key: value for key, value in result.items() if key not in ("config", "run", "schema")}))
    return row


def _leaves(table: Mapping[str, Any], prefix: str = "", *, texts: bool = False) -> Iterator[tuple[str, Value]]:
    if "from" in table and "width" in table:
        return  # a histogram
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{key}.", texts=texts)
        elif isinstance(value, list):
            if texts:
                yield key, json.dumps(value)
            elif name.endswith(_ENDS) and len(value) == 2:
                yield f"{key}.low", value[0]
                yield f"{key}.high", value[1]
        else:
            yield key, value


def figures_known(row: Mapping[str, Value]) -> list[str]:
    """Return the numbers of a row that are not null, those that people look for first."""
    known = [key for key, value in row.items() if isinstance(value, int | float) and not isinstance(value, bool)]
    return sorted(known, key=order)


def order(key: str) -> tuple[int, str]:
    """Return what figures are sorted by: the leading ones first."""
    return (LEADING.index(key) if key in LEADING else len(LEADING), key)


def plain(value: str) -> Any:
    """Return the value of a TOML text; a text that is no TOML is returned as it is."""
    try:
        parsed = tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        return value
    return json.dumps(parsed, default=str) if isinstance(parsed, list | dict) else parsed
