"""Traces converted: to Parquet here, to other trace formats in the core."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.errors import input_error, quoted
from floatgate.folder import replacing

if TYPE_CHECKING:
    import pyarrow as pa

    from floatgate._core import Progress

PARQUET = "parquet"
FORMATS = (PARQUET, "fio-iolog", "fio-iolog-v2", "fio-iolog-v3", "msr", "mqsim")
"""What a trace can be converted to."""

_BY_EXTENSION = {".parquet": PARQUET, ".iolog": "fio-iolog", ".csv": "msr", ".mqsim": "mqsim", ".fio": "fio-iolog"}
_OPERATIONS = ("read", "write", "trim")
_ROWS_PER_GROUP = 1 << 20


def format_of(path: str) -> str:
    """The format that a file's extension stands for.

    Raises:
        InputError: it stands for none.
    """
    extension = Path(path).suffix
    if extension not in _BY_EXTENSION:
        known = quoted(list(_BY_EXTENSION))
        raise input_error(f"{path}: no format is known by '{extension}'; expected --to FORMAT, or one of {known}")
    return _BY_EXTENSION[extension]


def convert(
    path: str, target: str, to: str, options: Mapping[str, str], progress: Progress | None = None
) -> dict[str, Any]:
    """Convert a trace; the target appears whole or not at all.

    Args:
        path: the trace to read.
        target: the file to write.
        to: one of :data:`FORMATS`.
        options: how to read it: ``format``, ``time_unit``, ``lba_unit``, ``action``, ``on_bad_line``.
        progress: called now and then with ``(requests, None, phase)``.

    Returns:
        ``requests`` written, and by name whatever the format could not hold (``trims_left_out``, ``widened``, ...).

    Raises:
        InputError: the trace cannot be read or the target cannot be written.
    """
    if to not in FORMATS:
        raise input_error(f"--to: '{to}' cannot be written; expected one of {quoted(list(FORMATS))}")
    try:
        with replacing(Path(target)) as temporary:
            if to == PARQUET:
                return {"requests": write_parquet(path, str(temporary), options, progress)}
            report: dict[str, Any] = json.loads(_core.trace_write(path, options, str(temporary), to, progress))
            return report
    except OSError as error:
        raise input_error(f"{target}: {error.strerror or error}; expected a file that can be written") from None


def write_parquet(path: str, target: str, options: Mapping[str, str], progress: Progress | None = None) -> int:
    """Write a trace as Parquet, one row group after another.

    Columns: ``time_ns`` (int64), ``device`` (dictionary of names), ``op`` (dictionary: read, write, trim), ``offset``
    and ``bytes`` (uint64).

    Returns:
        How many requests were written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("time_ns", pa.int64()),
            ("device", pa.dictionary(pa.int32(), pa.string())),
            ("op", pa.dictionary(pa.int8(), pa.string())),
            ("offset", pa.uint64()),
            ("bytes", pa.uint64()),
        ]
    )
    source = _core.trace_batches(path, options)
    requests = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for group in _groups(source):
            table = pa.Table.from_batches([_record_batch(group, source.devices, schema)])
            writer.write_table(table, row_group_size=_ROWS_PER_GROUP)
            requests += table.num_rows
            if progress is not None:
                progress(requests, None, "convert")
    if requests == 0:
        raise input_error(f"{path}: the trace holds no request; expected at least one read, write or TRIM")
    return requests


def _groups(source: Iterable[dict[str, bytes]]) -> Iterator[dict[str, bytes]]:
    """Batches put together to row groups of about :data:`_ROWS_PER_GROUP` rows."""
    held: dict[str, list[bytes]] = {}
    rows = 0
    for batch in source:
        rows += len(batch["op"])
        for name, column in batch.items():
            held.setdefault(name, []).append(column)
        if rows >= _ROWS_PER_GROUP:
            yield {name: b"".join(parts) for name, parts in held.items()}
            held, rows = {}, 0
    if rows:
        yield {name: b"".join(parts) for name, parts in held.items()}


def _record_batch(columns: Mapping[str, bytes], devices: list[str], schema: pa.Schema) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa

    device = np.frombuffer(columns["device"], dtype="<u2").astype("i4")
    operation = np.frombuffer(columns["op"], dtype="u1").astype("i1")
    arrays = [
        pa.array(np.frombuffer(columns["time_ns"], dtype="<i8")),
        pa.DictionaryArray.from_arrays(pa.array(device), pa.array(devices, pa.string())),
        pa.DictionaryArray.from_arrays(pa.array(operation), pa.array(_OPERATIONS, pa.string())),
        pa.array(np.frombuffer(columns["offset"], dtype="<u8")),
        pa.array(np.frombuffer(columns["bytes"], dtype="<u8")),
    ]
    return pa.record_batch(arrays, schema=schema)
