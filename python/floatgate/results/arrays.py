"""Arrow arrays from values and back, without pandas.

``pyarrow.array``, ``fill_null`` and ``to_numpy`` ask whether something is of pandas, and import pandas for that, which
takes longer than a small run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


_TEXTS_MAX = 2**31 - 1
"""Bytes of the texts of one array."""


def of_numbers(values: np.ndarray[Any, Any], null: np.ndarray[Any, Any] | None = None) -> pa.Array:
    """Return whole numbers or floats as an array of their type, null where ``null`` says so."""
    import numpy as np
    import pyarrow as pa

    there = None if null is None else _bits(~null)
    buffers = [there, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def of_values(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return values as ``pyarrow.array`` does; None is null.

    Args:
        values: of the type in Python; ``pyarrow.array`` converts others, or refuses them.
        kind: of truth values, whole numbers, floats or texts.
    """
    import numpy as np
    import pyarrow as pa

    is_bool, is_text = pa.types.is_boolean(kind), pa.types.is_string(kind)
    wanted = bool if is_bool else str if is_text else float if pa.types.is_floating(kind) else int
    if not all(value is None or type(value) is wanted for value in values):
        return pa.array(values, kind)
    absent = np.array([value is None for value in values], dtype=bool)
    null = absent if absent.any() else None
    there = None if null is None else _bits(~null)
    if is_bool:
        flags = np.array([value is True for value in values], dtype=bool)
        return pa.Array.from_buffers(kind, len(values), [there, _bits(flags)])
    if is_text:
        texts = [b"" if value is None else value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)])
        if ends[-1] > _TEXTS_MAX:
            return pa.array(values, kind)
        offsets = pa.py_buffer(ends.astype("<i4"))
        return pa.Array.from_buffers(kind, len(values), [there, offsets, pa.py_buffer(b"".join(texts))])
    try:
        numbers = [0 if value is None else value for value in values]
        return of_numbers(np.array(numbers, dtype=kind.to_pandas_dtype()), null)
    except OverflowError:
        return pa.array(values, kind)


def numbers_of(array: pa.Array, null: int = 0) -> np.ndarray[Any, Any]:
    """Return an array of whole numbers or floats as numbers of its type.

    Args:
        array: the array.
        null: what stands for values that are missing.
    """
    import numpy as np

    kind = array.type.to_pandas_dtype()
    values = array.buffers()[1]
    if values is None:
        return np.full(len(array), null, kind)
    numbers = np.frombuffer(values, kind)[array.offset : array.offset + len(array)]
    return np.where(flags_of(array.is_valid()), numbers, kind(null)) if array.null_count else numbers


def flags_of(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return an array of truth values that has them all."""
    import numpy as np

    bits = array.buffers()[1]
    if bits is None:
        return np.zeros(len(array), bool)
    flags = np.unpackbits(np.frombuffer(bits, "u1"), bitorder="little")
    return flags[array.offset : array.offset + len(array)].astype(bool)


def _bits(flags: np.ndarray[Any, Any]) -> pa.Buffer:
    """Return a bitmap as Arrow has it."""
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))
