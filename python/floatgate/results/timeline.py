"""The operations of every die and channel of a timed run in a chosen interval.

A timeline is a table with a row per span: ``resource`` (0 a die, 1 a channel), ``index`` (its number), ``kind``,
``cause`` (a place in :data:`CAUSES`), ``job`` (0 a host request, 1 a foreground job, 2 a background job), ``slot``
(of its request among those under way, :data:`NO_SLOT` for none), ``from_ns`` and ``to_ns`` since the first counted
request. A slot belongs to one request at a time, and to the next one after that; it is no number of a request.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import input_error, quote
from floatgate.pages.causes import NUMBERED
from floatgate.results.arrays import of_numbers

if TYPE_CHECKING:
    import pyarrow as pa

NO_SLOT = 0xFFFF_FFFF
"""``slot`` of operations that belong to no host request."""

RESOURCES = ("die", "channel")
KINDS = ("read", "program", "erase", "copy", "transfer", "suspended")
CAUSES = NUMBERED
JOBS = ("host", "foreground job", "background job")
READ, PROGRAM, ERASE, COPY, TRANSFER, SUSPENDED = range(len(KINDS))

DEFAULT_NS = (0, 20_000_000)
"""The interval that is recorded by default."""

SPANS_MAX = 20_000
"""Spans recorded at most; the interval ends where more would be needed."""

COLUMNS = {
    "resource": "u1",
    "index": "u4",
    "kind": "u1",
    "cause": "u1",
    "job": "u1",
    "slot": "u4",
    "from_ns": "i8",
    "to_ns": "i8",
}
"""Columns and the type of their values; times are signed, which lets SQL subtract any two of them."""

_CORE = {"slot": "request"}
"""Columns by another name in the core, and in files of earlier builds."""

_UNITS = {"ns": 1e0, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9}
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)")
_EXPECTED = "expected FROM..TO such as 0..20ms or 1.5s..1.52s, counted from the first counted request"


def interval(text: str) -> tuple[int, int]:
    """Parse ``0..20ms`` or ``1.5s..1.52s`` into nanoseconds; a start without a unit has that of the end.

    Raises:
        InputError: it is no interval, or an empty one.
    """
    start, dots, end = (part.strip() for part in text.partition(".."))
    matches = _TIME.fullmatch(start), _TIME.fullmatch(end)
    if not dots or matches[0] is None or matches[1] is None:
        raise input_error(f"--timeline: {quote(text)} is not an interval; {_EXPECTED}")
    (first, first_unit), (last, last_unit) = (match.groups() for match in matches if match is not None)
    ends = []
    for number, unit in ((first, first_unit or last_unit), (last, last_unit)):
        if unit not in _UNITS:
            named = f"{quote(unit)} is not a unit of time" if unit else f"{quote(text)} has no unit"
            raise input_error(f"--timeline: {named}; expected one of {', '.join(_UNITS)}, such as 0..20ms")
        ends.append(float(number) * _UNITS[unit])
    if not all(math.isfinite(value) and value < 2**63 for value in ends) or round(ends[1]) <= round(ends[0]):
        raise input_error(f"--timeline: {quote(text)} holds no time; {_EXPECTED}")
    return round(ends[0]), round(ends[1])


def moment(option: str, text: str) -> float:
    """Parse ``1.5s`` into seconds; zero needs no unit.

    Raises:
        InputError: it is no time.
    """
    match = _TIME.fullmatch(text.strip())
    number, unit = match.groups() if match is not None else ("", "")
    if match is None or (unit not in _UNITS and not (unit == "" and float(number) == 0)):
        raise input_error(f"{option}: {quote(text)} is not a time; expected one such as 1.5s or 20ms")
    return float(number) * _UNITS.get(unit, 0.0) / _UNITS["s"]


def table(columns: Mapping[str, bytes], interval_ns: tuple[int, int]) -> pa.Table:
    """Return the spans as a table; the interval stands in its metadata.

    Args:
        columns: name -> little-endian values of the types of :data:`COLUMNS`.
        interval_ns: the recorded interval.
    """
    import numpy as np
    import pyarrow as pa

    arrays = {
        name: of_numbers(np.frombuffer(columns[_CORE.get(name, name)], dtype=f"<{kind}"))
        for name, kind in COLUMNS.items()
    }
    metadata = {"from_ns": str(interval_ns[0]), "to_ns": str(interval_ns[1])}
    return pa.table(arrays).replace_schema_metadata(metadata)


def renamed(spans: pa.Table) -> pa.Table:
    """Return a table as it was kept, with the present names of its columns.

    Args:
        spans: of this build or an earlier one.
    """
    names = {before: name for name, before in _CORE.items()}
    columns = [names.get(name, name) for name in spans.column_names]
    return spans.rename_columns(columns).replace_schema_metadata(spans.schema.metadata)


def interval_of(spans: pa.Table) -> tuple[int, int]:
    """Return the interval that a table was recorded for; that of its spans where it does not say."""
    facts = spans.schema.metadata or {}
    if b"from_ns" in facts and b"to_ns" in facts:
        return int(facts[b"from_ns"]), int(facts[b"to_ns"])
    if spans.num_rows == 0:
        return DEFAULT_NS
    return min(spans["from_ns"].to_pylist()), max(spans["to_ns"].to_pylist())


def spans_of(spans: pa.Table) -> list[dict[str, Any]]:
    """Return the spans in the order of time, cut to the interval; those of no length in it are left out.

    A transfer of a host request has the kind of its operation in ``of``: the die's operation for the same slot
    that is nearest in time.
    """
    start, end = interval_of(spans)
    rows = []
    for row in spans.to_pylist():
        row["from_ns"], row["to_ns"] = max(row["from_ns"], start), min(row["to_ns"], end)
        if row["to_ns"] > row["from_ns"]:
            rows.append(row)
    rows.sort(key=lambda row: (row["resource"], row["index"], row["from_ns"], row["to_ns"]))
    owners: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["resource"] == 0 and row["kind"] in (READ, PROGRAM) and row["slot"] != NO_SLOT:
            owners.setdefault(row["slot"], []).append(row)
    for row in rows:
        row["of"] = row["kind"]
        if row["kind"] == TRANSFER:
            near = min(owners.get(row["slot"], []), key=lambda other: _apart(row, other), default=None)
            row["of"] = near["kind"] if near else TRANSFER
    return rows


def _apart(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Time between two spans; less than 0 where they overlap."""
    apart: int = max(one["from_ns"], other["from_ns"]) - min(one["to_ns"], other["to_ns"])
    return apart
