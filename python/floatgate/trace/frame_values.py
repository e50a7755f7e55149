"""Values of the columns of a dataframe as those of a trace: whole bytes, nanoseconds, operations; each row checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import InputError, input_error, quote, quoted
from floatgate.trace.frame_names import DATED, NO_TIME, byte_unit, time_unit
from floatgate.trace.parquet_trace import OPERATIONS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from floatgate.trace.frame_names import Role

SKIP = "skip"
"""Rows that are no requests."""
RWBS = "rwbs"
"""Operations are letters of the Linux kernel."""
ANY = "*"
"""Any other value."""

_LETTERS = {
    "r": "read",
    "w": "write",
    # Discard, trim, unmap; flush, sync, none.
    **dict.fromkeys("dtu", "trim"),
    **dict.fromkeys("fsn", SKIP),
}
_KERNEL = re.compile(r"(F?)([RWD])(F?)")
_KERNEL_WORDS = {"R": "read", "W": "write", "D": "trim"}
_FUA, _FLUSH = 1, 2
_FLAGS = "expected 1 for FUA, 2 for a flush before it, 3 for both, 0 or none"
_SKIPPED = 255
_INT64_MAX = (1 << 63) - 1
_UINT64_MAX = (1 << 64) - 1
_EXACT_MAX = 1 << 53


@dataclass(frozen=True)
class Column:
    """One column of a frame.

    Attributes:
        name: in the frame.
        values: of those rows that are looked at.
        rows: their numbers in the frame.
    """

    name: str
    values: pa.Array
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, values: pa.ChunkedArray, rows: NDArray[np.int64]) -> Column:
        """Return a column, with its values in one piece and without a dictionary, as far as these rows go."""
        import pyarrow as pa

        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # too long for one piece, or with no piece at all
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
        if pa.types.is_dictionary(values.type):
            values = pa.DictionaryArray.from_arrays(values.indices, _plain(values.dictionary)).dictionary_decode()
        values = _plain(values)
        return cls(name, values if len(rows) == len(values) else values.take(pa.array(rows)), rows)

    def bad(self, place: int, what: str, expected: str) -> InputError:
        """Return the error of the value at a place among the rows that are looked at."""
        row = int(self.rows[place])
        return input_error(f"frame: row {row} (from 0), column {quote(self.name)}: {what}; {expected}")

    def refuse(self, wrong: NDArray[np.bool_], expected: str, what: str = "") -> None:
        """Refuse the first of some values.

        Raises:
            InputError: one is wrong; the message quotes it, behind ``what`` where the value itself does not show why.
        """
        import numpy as np

        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            value = self.values[place].as_py()
            text = "is missing" if value is None else f"{value} {what or 'does not fit'}"
            raise self.bad(place, text, expected)

    def must_be_complete(self, expected: str) -> None:
        """Refuse a row without a value.

        Raises:
            InputError: with the first one.
        """
        if self.values.null_count:
            self.refuse(self.values.is_null().to_numpy(zero_copy_only=False), expected)

    def of_type(self, expected: str) -> InputError:
        """Return the error of a column of an unsuitable type."""
        return input_error(f"frame: column {quote(self.name)} is of type {self.values.type}; {expected}")


def _plain(values: pa.Array) -> pa.Array:
    """Return texts that Arrow does not compute with in a form that it does."""
    import pyarrow as pa

    return values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values


def whole(column: Column, kind: str, expected: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column as whole numbers of a NumPy type, and where there are some; a missing one is 0.

    Raises:
        InputError: a value is negative without need, no whole number, or too large.
    """
    import numpy as np
    import pyarrow as pa

    values, limits = column.values, np.iinfo(kind)
    if pa.types.is_null(values.type):
        return np.zeros(len(values), kind), np.zeros(len(values), bool)
    there = values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_integer(values.type):
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        if limits.min == 0 and pa.types.is_signed_integer(values.type):
            column.refuse(numbers < 0, expected, "is negative")
        high = numbers > limits.max if np.iinfo(numbers.dtype).max > limits.max else np.zeros(len(numbers), bool)
        low = numbers < limits.min if np.iinfo(numbers.dtype).min < limits.min else np.zeros(len(numbers), bool)
        column.refuse(high | low, expected, f"does not fit into {kind}")
        return numbers.astype(kind), there
    if not pa.types.is_floating(values.type):
        raise column.of_type(expected)
    floats = values.fill_null(0.0).to_numpy(zero_copy_only=False).astype("f8")
    column.refuse(~np.isfinite(floats), expected, "is no number")
    column.refuse(np.trunc(floats) != floats, expected, "is not whole")
    if limits.min == 0:
        column.refuse(floats < 0, expected, "is negative")
    column.refuse((floats > limits.max) | (floats < limits.min), expected, f"does not fit into {kind}")
    # A missing value makes floats of whole numbers in pandas, and large ones are then others.
    column.refuse(np.abs(floats) > _EXACT_MAX, f"{expected}, of a type of whole numbers", "is a rounded float")
    return floats.astype(kind), there


def byte_column(column: Column, role: Role, unit: str | int | None) -> NDArray[np.uint64]:
    """Return addresses or sizes in bytes.

    Raises:
        InputError: one is missing, negative or too large; or the unit is not known.
    """
    unit_bytes = byte_unit(role, column.name, unit)
    expected = f"expected the {role.name} of each request, a whole number from 0"
    column.must_be_complete(expected)
    numbers, _ = whole(column, "uint64", expected)
    beyond = numbers > _UINT64_MAX // unit_bytes
    column.refuse(beyond, "expected less than 2^64 bytes", f"x {unit_bytes} bytes is too large")
    made: NDArray[np.uint64] = numbers * numbers.dtype.type(unit_bytes)
    return made


def must_end(offsets: Column, offset: NDArray[np.uint64], size: NDArray[np.uint64]) -> None:
    """Refuse requests that end beyond 2^64 bytes.

    Raises:
        InputError: with the first one.
    """
    offsets.refuse(
        offset > _UINT64_MAX - size, "expected an end below 2^64 bytes", "and the size together are too large"
    )


def time_column(column: Column, unit: str | None) -> NDArray[np.int64]:
    """Return times in nanoseconds since that of the first row.

    Raises:
        InputError: a time is missing or no number, times are too far apart, or the unit is not known.
    """
    import numpy as np
    import pyarrow as pa

    expected = f"expected a time in each row, or time_unit={quote(NO_TIME)}"
    column.must_be_complete(expected)
    kind = column.values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = Column(column.name, _parsed(column), column.rows)
        kind = column.values.type
    if pa.types.is_temporal(kind):
        if unit not in (None, DATED):
            raise input_error(f"time_unit: column {quote(column.name)} is of type {kind}; expected no unit")
        numbers, step_ns = _ticks(column)
    else:
        step_ns = time_unit(column.name, unit)
        if pa.types.is_floating(kind):
            return _float_times(column, step_ns, expected)
        numbers, _ = whole(column, "int64", "expected a time")
    first = int(numbers[0])
    # In Python's own numbers, which do not overflow.
    most = _INT64_MAX // step_ns
    if int(numbers.max()) - first > most or int(numbers.min()) - first < -most:
        far = np.array([abs(int(number) - first) > most for number in numbers])
        column.refuse(far, "expected times within 292 years of the first", "is too far away")
    times: NDArray[np.int64] = (numbers - numbers.dtype.type(first)) * numbers.dtype.type(step_ns)
    return times


def _float_times(column: Column, step_ns: int, expected: str) -> NDArray[np.int64]:
    import numpy as np

    floats = column.values.to_numpy(zero_copy_only=False).astype("f8")
    column.refuse(~np.isfinite(floats), expected, "is no number")
    with np.errstate(over="ignore"):
        times: NDArray[np.float64] = np.rint((floats - floats[0]) * step_ns)
    column.refuse(np.abs(times) >= 2.0**63, "expected times within 292 years of the first", "is too far away")
    return times.astype(np.int64)


def _ticks(column: Column) -> tuple[NDArray[np.int64], int]:
    """Return dates, datetimes, durations or times of day as numbers, and the nanoseconds of one."""
    import pyarrow as pa

    values = column.values
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("ms"))
    if not hasattr(values.type, "unit"):
        raise column.of_type("expected datetimes, durations or numbers")
    wide = values.type.bit_width == 64
    numbers = values.cast(pa.int64() if wide else pa.int32()).to_numpy(zero_copy_only=False)
    return numbers.astype("i8"), TIME_STEPS[values.type.unit]


TIME_STEPS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Nanoseconds by Arrow's units."""


def _parsed(column: Column) -> pa.Array:
    """Parse times of ISO 8601; with an offset from UTC in the first one, all need one."""
    import pyarrow as pa

    if not len(column.values):
        return column.values.cast(pa.timestamp("ns"))
    zoned = re.search(r"\d(?:[Zz]|[+-]\d\d(?::?\d\d)?)$", column.values[0].as_py()[10:]) is not None
    kind = pa.timestamp("ns", "UTC" if zoned else None)

    def parses(count: int) -> bool:
        try:
            column.values.slice(0, count).cast(kind)
        except pa.ArrowInvalid:
            return False
        return True

    if parses(len(column.values)):
        return column.values.cast(kind)
    place = _first(len(column.values), lambda row: not parses(row + 1))
    expected = "expected YYYY-MM-DDTHH:MM:SS.ffffff" + (" with an offset from UTC, as the first row" if zoned else "")
    raise column.bad(place, f"{quote(column.values[place].as_py())} is not a time", expected)


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """Return the first of some numbers that something holds for, where it holds for all after that one."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


@dataclass(frozen=True)
class Operations:
    """Operations of all rows of a frame.

    Attributes:
        codes: of the requests, as places in :data:`OPERATIONS`.
        rows: of the frame that are requests.
        flags: of the requests, where kernel letters have them; else None.
    """

    codes: NDArray[np.uint8]
    rows: NDArray[np.int64]
    flags: NDArray[np.uint8] | None = None


def constant(name: str, rows: int) -> Operations:
    """Return one operation for all rows."""
    import numpy as np

    return Operations(np.full(rows, OPERATIONS.index(name), "u1"), np.arange(rows))


def operations(column: Column, spelling: Mapping[object, str] | str | None) -> Operations:
    """Return the operations of a column.

    Args:
        column: of all rows.
        spelling: values with their operations, ``rwbs``, or None for words of which the first letter counts.

    Raises:
        InputError: an operation is missing or unknown, or the spelling is none.
    """
    import numpy as np

    _must_be_spelling(spelling)
    expected = "expected an operation in each row"
    column.must_be_complete(expected)
    encoded = column.values.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
    read = [_operation(name, spelling) for name in names]
    for number, meaning in enumerate(read):
        if meaning is None:
            place = int(np.flatnonzero(indices == number)[0])
            raise column.bad(place, f"{quote(names[number])} is not an operation", _spellings(names[number], spelling))
    words = [meaning for meaning, _ in (one for one in read if one is not None)]
    codes = np.array([_SKIPPED if word == SKIP else OPERATIONS.index(word) for word in words], "u1")
    flags = np.array([flag for _, flag in (one for one in read if one is not None)], "u1")
    of_row = codes[indices] if len(names) else np.zeros(0, "u1")
    rows = np.flatnonzero(of_row != _SKIPPED)
    return Operations(of_row[rows], rows, flags[indices][rows] if spelling == RWBS and len(names) else None)


def flag_column(column: Column) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return flags, and where there are some.

    Raises:
        InputError: one is none of the format's.
    """
    flags, there = whole(column, "uint8", _FLAGS)
    column.refuse(flags > (_FUA | _FLUSH), _FLAGS, "is no flag")
    return flags, there


def _must_be_spelling(spelling: Mapping[object, str] | str | None) -> None:
    if isinstance(spelling, str) and spelling != RWBS:
        raise input_error(f"operations: {quote(spelling)} is no spelling; expected {quote(RWBS)}, or a dict of words")
    words = [*OPERATIONS, SKIP]
    for value, word in spelling.items() if isinstance(spelling, Mapping) else ():
        if word not in words:
            raise input_error(f"operations: {quote(value)} is {quote(word)}; expected one of {quoted(words)}")


def _operation(value: object, spelling: Mapping[object, str] | str | None) -> tuple[str, int] | None:
    """Return what a value means, with its flags; None for nothing."""
    if isinstance(value, float) and math.isnan(value):
        return None
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if isinstance(spelling, Mapping):
        words = {str(key).casefold(): word for key, word in spelling.items()}
        word = spelling.get(value, words.get(text.casefold(), spelling.get(ANY)))
        return None if word is None else (word, 0)
    if not isinstance(value, str | bytes):
        return None
    if spelling == RWBS:
        match = _KERNEL.match(text)
        if match is None:
            return SKIP, 0
        flush, letter, fua = match.groups()
        return _KERNEL_WORDS[letter], (_FLUSH if flush else 0) | (_FUA if fua else 0)
    word = _LETTERS.get(text.strip()[:1].lower())
    return None if word is None else (word, 0)


def _spellings(value: object, spelling: Mapping[object, str] | str | None) -> str:
    if isinstance(spelling, Mapping):
        return f"expected one of {quoted([str(key) for key in spelling])}"
    shown = repr(value) if isinstance(value, int | float | str) else quote(value)
    return f"expected a word that begins with R, W or D, or operations={{{shown[:40]}: 'write', ...}}"
