"""Columns of flat tables: their types from the values in them, and rows as Arrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.results import arrays

if TYPE_CHECKING:
    import pyarrow as pa

_INT64_MAX = 2**63 - 1


class Large(int):
    """A whole number that takes 64 bits without a sign."""


def kind_of(value: Any) -> type:
    """Return the type of a value as columns know it."""
    return Large if type(value) is int and value > _INT64_MAX else type(value)


def arrow_type(kinds: set[type]) -> pa.DataType:
    """Return the type of a column with values of these types; of one without any, a float."""
    import pyarrow as pa

    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, Large}:
        return pa.uint64()
    if kinds <= {int, float, Large}:
        return pa.float64()
    return pa.string()


def types_of(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, pa.DataType]]:
    """Return names and types of the columns of some rows, in the order in which they come."""
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for key, value in row.items():
            of = kinds.setdefault(key, set())
            if value is not None:
                of.add(kind_of(value))
    return [(key, arrow_type(of)) for key, of in kinds.items()]


def written(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; what a row does not have is null."""
    import pyarrow as pa

    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if pa.types.is_string(field.type):
            values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
        elif pa.types.is_floating(field.type):
            values = [None if value is None else float(value) for value in values]
        columns.append(arrays.of_values(values, field.type))
    return pa.table(columns, schema=schema)
