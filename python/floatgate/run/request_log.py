"""A log with one row per request in a Parquet file, written during the run (docs/host-queues.md)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.base.errors import input_error
from floatgate.results.arrays import of_numbers, of_values
from floatgate.results.folder import must_be_file_place, replacing
from floatgate.trace.parquet_trace import OPERATIONS

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SCHEMA = "floatgate.requests/1"
_EXPECTED = "a file that can be written, such as requests.parquet"
# Numbers and times rise by small steps, for which differences take least room. They are signed: SQL subtracts them.
_RISING = ("request", "arrival_ns", "fetched_ns", "completed_ns")
_REPEATED = ["op", "device", "bytes", "queue"]


@contextlib.contextmanager
def logging_to(path: str | os.PathLike[str] | None) -> Iterator[RequestLog | None]:
    """Open a log that becomes the file ``path`` on success and leaves nothing on failure.

    Raises:
        InputError: the file cannot be written.
    """
    if path is None:
        yield None
        return
    name = os.fspath(path)
    must_be_file_place(name, _EXPECTED)
    target = Path(name)
    with _refusing(name):
        target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        with _refusing(name):
            temporary = stack.enter_context(replacing(target))
        log = RequestLog(temporary, name)
        try:
            yield log
        except BaseException:
            log.abandon()
            raise
        log.close()


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise input_error(f"{name}: {error.strerror or error}; expected {_EXPECTED}") from None


class RequestLog:
    """A sink for the rows of a run, chunk by chunk; each becomes a row group."""

    def __init__(self, path: Path, name: str) -> None:
        """Write to ``path``, which errors call ``name``."""
        self._path, self._name = path, name
        self._writer: pq.ParquetWriter | None = None
        self.rows = 0

    def take(self, columns: Mapping[str, bytes], devices: Sequence[str]) -> None:
        """Write rows.

        Args:
            columns: little-endian bytes by name: ``request, arrival_ns, offset, bytes, fetched_ns, completed_ns``
                (8 bytes each), ``device, queue`` (2), ``op`` (1).
            devices: names of the devices met so far.

        Raises:
            InputError: the file cannot be written.
        """
        with _refusing(self._name):
            batch = _record_batch(columns, devices)
            self._open().write_batch(batch)
        self.rows += batch.num_rows

    def restart(self) -> None:
        """Forget all: the run starts over."""
        self.abandon()
        self.rows = 0

    def abandon(self) -> None:
        """Release the file, complete or not."""
        with contextlib.suppress(OSError):
            self._shut()

    def close(self) -> None:
        """Complete the file.

        Raises:
            InputError: the file cannot be written.
        """
        with _refusing(self._name):
            self._open()
            self._shut()

    def _open(self) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._path,
                _schema(),
                compression="zstd",
                use_dictionary=_REPEATED,
                column_encoding=dict.fromkeys(_RISING, "DELTA_BINARY_PACKED"),
            )
        return self._writer

    def _shut(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


def _schema() -> pa.Schema:
    import pyarrow as pa

    fields = [
        ("request", pa.int64()),
        ("arrival_ns", pa.int64()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("device", pa.dictionary(pa.int32(), pa.string())),
        ("offset", pa.uint64()),
        ("bytes", pa.uint64()),
        ("queue", pa.uint16()),
        ("fetched_ns", pa.int64()),
        ("completed_ns", pa.int64()),
        ("latency_ns", pa.int64()),
    ]
    return pa.schema(fields, metadata={"floatgate": json.dumps({"schema": SCHEMA})})


def _record_batch(columns: Mapping[str, bytes], devices: Sequence[str]) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa

    def whole(name: str, kind: str = "<u8") -> np.ndarray:
        return np.frombuffer(columns[name], dtype=kind)

    device = whole("device", "<u2").astype("i4")
    named = list(devices) or [str(number) for number in range(int(device.max(initial=0)) + 1)]
    arrays = {
        **{name: of_numbers(whole(name, "<i8")) for name in _RISING},
        **{name: of_numbers(whole(name)) for name in ("offset", "bytes")},
        "op": pa.DictionaryArray.from_arrays(of_numbers(whole("op", "i1")), of_values(OPERATIONS, pa.string())),
        "device": pa.DictionaryArray.from_arrays(of_numbers(device), of_values(named, pa.string())),
        "queue": of_numbers(whole("queue", "<u2")),
        "latency_ns": of_numbers(whole("completed_ns", "<i8") - whole("arrival_ns", "<i8")),
    }
    schema = _schema()
    return pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema)
