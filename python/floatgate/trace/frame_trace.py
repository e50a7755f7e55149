"""Traces made from dataframes (docs/formats.md).

The columns of a frame become those of our own format, which the core then reads, checks and writes as it does for
``floatgate trace convert``.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from floatgate.base import unfinished_files
from floatgate.base.arguments import Whole, checked
from floatgate.base.errors import InputError, RunError, input_error, meant, quote
from floatgate.results.folder import must_be_file_place
from floatgate.trace import frame_names as names
from floatgate.trace import frame_values as cells
from floatgate.trace.conversion import PARQUET, convert, unwritable
from floatgate.trace.frame_values import Column, Operations
from floatgate.trace.metadata import KEY, described
from floatgate.trace.parquet_columns import SCHEMA
from floatgate.trace.parquet_trace import OPERATIONS, REQUIRED
from floatgate.trace.writers import FIELDS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

CONTENT = ("fingerprints", "compressed_bytes")
NUMBERS = {"context": "uint64", **FIELDS, "predicted_life": "uint32", "flags": "uint8"}
"""Optional columns of the format with one number per request, and their types."""
OPTIONAL = ("device", *NUMBERS, *CONTENT)
_NAMED = ("context", "stream", "process", "thread", "file")
"""Those that may be names in a frame, which are numbered as they first appear."""
_FILE = "frame.parquet"
_EXPECTED = "a file that can be written, such as trace.parquet"


class ArrowStream(Protocol):
    """A frame of any library with Arrow's PyCapsule interface: pandas, polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the frame as a stream of batches."""


class ArrowArray(Protocol):
    """A single batch with Arrow's PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return schema and batch."""


Frame: TypeAlias = "ArrowStream | ArrowArray | Mapping[str, Collection[object]]"
"""A table: a frame of pandas or polars, an Arrow table or batch, or arrays and sequences by name of the column."""


class TraceFile(os.PathLike[str]):
    """A trace that was made from a frame: a path, which everything that reads traces accepts.

    Attributes:
        path: the file, Parquet. Without a path of the caller's it is removed once this object is gone.
        requests: how many it has.
    """

    def __init__(self, path: Path, requests: int, room: Path | None = None) -> None:
        """Use :func:`floatgate.trace_from`.

        Args:
            path: the file.
            requests: how many it has.
            room: the folder to remove with this object, if the file is a temporary one.
        """
        self.path = path
        self.requests = requests
        if room is not None:
            weakref.finalize(self, _remove, room, os.getpid())
        self._temporary = room is not None

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<floatgate.TraceFile {self.path}: {self.requests} requests>"

    def __reduce__(self) -> tuple[type[TraceFile], tuple[Path, int]]:
        """Refuse to copy a temporary trace, whose file would go with the first of the copies."""
        if self._temporary:
            raise RunError(f"{self.path}: a temporary trace has no copies; expected trace_from(frame, path)")
        return TraceFile, (self.path, self.requests)


def _remove(room: Path, process: int) -> None:
    """Remove a folder, unless this is a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(room, ignore_errors=True)


@checked
def trace_from(
    frame: Frame,
    path: str | os.PathLike[str] | None = None,
    *,
    time: str | None = None,
    time_unit: str | None = None,
    op: str | None = None,
    operations: Mapping[object, str] | str | None = None,
    offset: str | None = None,
    offset_unit: str | Annotated[int, Whole(1, names.UNIT_MAX)] | None = None,
    size: str | Annotated[int, Whole(1)] | None = None,
    size_unit: str | Annotated[int, Whole(1, names.UNIT_MAX)] | None = None,
    device: str | None = None,
    stream: str | None = None,
    context: str | None = None,
    others: Mapping[str, str] | None = None,
) -> TraceFile:
    """Make a trace from a dataframe with a row per request.

    A column that is not named is the one with a usual name (``timestamp``, ``op``, ``offset``, ``size``, ...). A unit
    that is not named is that of the column's name (``time_ms``, ``sector``, ``bytes``); ``offset``, ``address``,
    ``size`` and ``length`` mean bytes. ``docs/formats.md`` lists the names.

    Args:
        frame: of pandas or polars, an Arrow table or batch, any object with Arrow's PyCapsule interface, or a dict of
            arrays or sequences.
        path: the Parquet file to write, whole or not at all; an existing one is replaced. None for a temporary file,
            which is removed once the returned object is gone.
        time: the column of times: datetimes, texts of ISO 8601, durations, or numbers. They count from the first row.
        time_unit: of numbers: ``ns``, ``us``, ``ms``, ``s``, ``filetime``; ``none`` for a frame without times.
        op: the column of operations, or ``read``, ``write`` or ``trim`` for all rows.
        operations: values with their operations, ``{0: "read", 1: "write", "*": "skip"}``; ``rwbs`` for letters of the
            Linux kernel. None for words of which the first letter counts: R reads, W writes; D, T and U trim; rows with
            F, S and N are no requests.
        offset: the column of addresses.
        offset_unit: ``bytes``, ``sectors`` (512), ``KiB``, ``pages`` (4096), ``MiB``, or a number of bytes.
        size: the column of sizes, or a number for all rows.
        size_unit: likewise.
        device: the column with the device of each request.
        stream: the column of streams: numbers, or names, which are numbered.
        context: the column of program contexts: numbers, 0 or missing for none, or names.
        others: further columns of the format by its names: ``{"process": "pid", "predicted_life": "life"}``.

    Returns:
        The trace; ``floatgate.run(trace=...)`` and whatever else reads traces accepts it.

    Raises:
        InputError: a column is not found, or a row does not fit; the message has row, column and cause.

    Examples:
        >>> import floatgate
        >>> log = {"time_ms": [0, 3, 9], "op": ["write", "read", "write"], "lba": [8, 8, 16], "size": [4096] * 3}
        >>> trace = floatgate.trace_from(log, offset_unit="sectors")
        >>> trace.requests, floatgate.trace_info(trace).write_bytes
        (3, 8192)
        >>> run = floatgate.run(trace=trace, set={"drive.capacity": "64 MiB", "ftl.precondition": "none"})
        >>> run.host.write_requests
        2
    """
    if path is not None:
        must_be_file_place(os.fspath(path), _EXPECTED)
    table = _table(frame)
    more = {**(others or {}), **_named_columns(device=device, stream=stream, context=context)}
    made = _Columns(table, more)
    requests = made.operations(op, operations)
    made.bytes(requests, (offset, offset_unit), (size, size_unit))
    made.times(requests, time, time_unit)
    made.optional(requests)
    return _written(made.table(requests), None if path is None else Path(path), requests.rows)


def _named_columns(**columns: str | None) -> dict[str, str]:
    return {name: column for name, column in columns.items() if column is not None}


def _table(frame: object) -> pa.Table:
    """Return a frame as an Arrow table.

    Raises:
        InputError: it is none, or Arrow has no type for one of its columns.
    """
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    try:
        if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
            return pa.Table.from_pandas(frame)  # with its index, where that has a name
        if isinstance(frame, Mapping):
            return _of_arrays(frame)
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(frame).read_all()
        if hasattr(frame, "__arrow_c_array__"):
            return pa.Table.from_batches([pa.record_batch(frame)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = "; ".join(str(part) for part in error.args).split("\n", 1)[0]
        raise input_error(f"frame: is no Arrow table ({reason}); expected columns of one type each") from None
    raise input_error(
        f"frame: is of type {type(frame).__name__}; expected a frame of pandas or polars, an Arrow table, an object "
        "with __arrow_c_stream__, or a dict of arrays"
    )


def _of_arrays(columns: Mapping[object, object]) -> pa.Table:
    """Return arrays and sequences of equal length as a table."""
    import pyarrow as pa

    arrays: dict[str, Any] = {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise input_error(f"frame: {quote(name)} is no name of a column; expected texts")
        if isinstance(values, str | bytes) or not isinstance(values, Collection):
            raise input_error(f"frame: column {quote(name)} is of type {type(values).__name__}; expected an array")
        arrays[name] = _array(name, values)
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{quote(name)} {count}" for name, count in lengths.items())
        raise input_error(f"frame: columns differ in length ({counts}); expected as many values in each")
    return pa.table(arrays)


def _array(name: str, values: Collection[object]) -> pa.Array:
    """Return values of one type as an Arrow array.

    Raises:
        InputError: they are not of one type, or a whole number has more than 64 bits.
    """
    import pyarrow as pa

    listed = values if hasattr(values, "__getitem__") else list(values)
    try:
        return pa.array(listed)
    except OverflowError:
        # Arrow takes whole numbers of Python for signed ones.
        with contextlib.suppress(pa.ArrowException, OverflowError):
            return pa.array(listed, pa.uint64())
        large = (
            row for row, value in enumerate(values) if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63
        )
        where = f"frame: row {next(large, 0)} (from 0), column {quote(name)}"
        raise input_error(f"{where}: the number is too large; expected whole numbers of 64 bits") from None
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise input_error(f"frame: column {quote(name)}: {reason}; expected values of one type") from None


class _Columns:
    """The columns of the format, as far as they are made from a frame."""

    def __init__(self, frame: pa.Table, named: Mapping[str, str]) -> None:
        """Begin with none.

        Args:
            frame: with a row per request.
            named: optional columns of the format, with those of the frame.

        Raises:
            InputError: the frame has no rows, or not these columns.
        """
        if not frame.num_rows:
            raise input_error("frame: has no rows; expected a row for each request")
        self._frame = frame
        self._names: list[str] = frame.schema.names
        self._own = set(REQUIRED) <= set(self._names)
        self._named = self._optional(named)
        self._made: dict[str, pa.Array] = {}
        self._contexts: dict[str, dict[str, str]] = {}
        if self._own:
            of_contexts = described(frame.schema.metadata, "frame").get("contexts")
            self._contexts = dict(of_contexts) if isinstance(of_contexts, dict) else {}

    def operations(self, named: str | None, spelling: Mapping[object, str] | str | None) -> Operations:
        """Return the operations of all rows."""
        if named in OPERATIONS and named not in self._names:
            return cells.constant(named, self._frame.num_rows)
        words = " or 'read', 'write' or 'trim' for all rows"
        name = names.find(names.OP, self._names, named, words)
        is_kernel = spelling is None and names.stem_and_unit(name, names.OP)[0] == cells.RWBS
        requests = cells.operations(self._column(name), cells.RWBS if is_kernel else spelling)
        if not len(requests.rows):
            raise input_error("frame: none of its rows is a request; expected at least one read, write or TRIM")
        return requests

    def bytes(
        self, requests: Operations, offset: tuple[str | None, str | int | None], size: tuple[Any, str | int | None]
    ) -> None:
        """Make offsets and sizes, each from a column or a constant and its unit."""
        import numpy as np
        import pyarrow as pa

        starts = self._column(names.find(names.OFFSET, self._names, offset[0]), requests.rows)
        offsets = cells.byte_column(starts, names.OFFSET, offset[1])
        if size[0] is None or isinstance(size[0], str):
            name = names.find(names.SIZE, self._names, size[0], " or a number of bytes for all rows")
            sizes = cells.byte_column(self._column(name, requests.rows), names.SIZE, size[1])
        else:
            size_bytes = int(size[0]) * names.byte_unit(names.SIZE, None, size[1])
            if size_bytes >= 1 << 64:
                raise input_error(f"size: {size[0]} units of this size are too large; expected less than 2^64 bytes")
            sizes = np.full(len(requests.rows), size_bytes, "u8")
        cells.must_end(starts, offsets, sizes)
        self._made |= {"offset": pa.array(offsets), "bytes": pa.array(sizes)}

    def times(self, requests: Operations, named: str | None, unit: str | None) -> None:
        """Make the times, if the frame has some."""
        import pyarrow as pa

        if unit == names.NO_TIME:
            if named is not None:
                raise input_error(f"time_unit: is 'none', and time is {quote(named)}; expected one of the two")
            return
        remedy = f", or time_unit={quote(names.NO_TIME)}"
        column = self._column(names.find(names.TIME, self._names, named, remedy), requests.rows)
        self._made["time_ns"] = pa.array(cells.time_column(column, unit))

    def optional(self, requests: Operations) -> None:
        """Make the columns that a trace may have."""
        import pyarrow as pa

        for kind, name in self._named.items():
            column = self._column(name, requests.rows)
            if kind == "device":
                column.must_be_complete("expected a device in each row")
                self._made[kind] = column.values.cast(pa.string())
            elif kind in CONTENT:
                self._made[kind] = column.values
            elif kind in _NAMED and (
                pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type)
            ):
                self._made[kind] = self._numbered(kind, column.values)
            else:
                expected = f"expected a number of {NUMBERS[kind]}, or none"
                made = cells.flag_column(column) if kind == "flags" else cells.whole(column, NUMBERS[kind], expected)
                self._made[kind] = pa.array(made[0], mask=~made[1])
        if requests.flags is not None and "flags" not in self._made:
            self._made["flags"] = pa.array(requests.flags)

    def table(self, requests: Operations) -> pa.Table:
        """Return the requests in our own format."""
        import pyarrow as pa

        codes = pa.array(requests.codes.astype("i1"))
        self._made["op"] = pa.DictionaryArray.from_arrays(codes, pa.array(OPERATIONS, pa.string()))
        metadata = {"schema": SCHEMA, "contexts": self._contexts}
        return pa.table(self._made).replace_schema_metadata({KEY: json.dumps(metadata)})

    def _column(self, name: str, rows: NDArray[np.int64] | None = None) -> Column:
        import numpy as np

        every = np.arange(self._frame.num_rows) if rows is None else rows
        return Column.of(name, self._frame.column(name), every)

    def _optional(self, named: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of the frame that become optional ones.

        Raises:
            InputError: the format has no such column, or the frame has not.
        """
        for kind, name in named.items():
            if kind not in OPTIONAL:
                raise input_error(f"others: a trace has no column {quote(kind)}; {meant(kind, OPTIONAL)}")
            names.must_have(kind, self._names, name)
        usual = {kind: kind for kind in OPTIONAL if kind in self._names} if self._own else {}
        devices = names.usual_columns(names.DEVICE, self._names)
        if not {"device"} & (named.keys() | usual.keys()) and devices:
            usual["device"] = names.find(names.DEVICE, self._names, None)
        return {**usual, **named}

    def _numbered(self, kind: str, values: pa.Array) -> pa.Array:
        """Number names as they first appear: contexts from 1, which have the names in the metadata, others from 0."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = values.dictionary_encode()
        first = 1 if kind == "context" else 0
        if kind == "context":
            numbered = enumerate(encoded.dictionary.to_pylist(), start=first)
            self._contexts = {str(number): {"name": name} for number, name in numbered}
        return pc.add(encoded.indices.cast(pa.int64()), first).cast(NUMBERS[kind])


def _written(table: pa.Table, path: Path | None, rows: NDArray[np.int64]) -> TraceFile:
    """Have the core write a trace; nothing is left of one that it refuses.

    Raises:
        InputError: the core refuses a row, or the file cannot be written.
    """
    import pyarrow.parquet as pq

    room = None if path is not None else unfinished_files.folder_in(Path(tempfile.gettempdir()))
    target = path if path is not None else Path(room or "", _FILE)
    staged: Path | None = None
    try:
        with unwritable(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            staged = unfinished_files.file_beside(target)
            pq.write_table(table, staged, compression="none")
        report = convert(str(staged), str(target), PARQUET, {"format": PARQUET})
    except BaseException as error:
        if room is not None:
            shutil.rmtree(room, ignore_errors=True)
        if isinstance(error, InputError) and staged is not None:
            raise _of_frame(error, staged, rows) from None
        raise
    finally:
        if staged is not None:
            staged.unlink(missing_ok=True)
    return TraceFile(target, report["requests"], room)


def _of_frame(error: InputError, staged: Path, rows: NDArray[np.int64]) -> InputError:
    """Return an error about the file as one about the frame."""

    def row(match: re.Match[str]) -> str:
        number = match[1]
        return "frame: " if number is None else f"frame: row {rows[int(number) - 1]} (from 0): "

    return input_error(re.sub(rf"^{re.escape(str(staged))}(?::(\d+))?: ", row, error.message))
