"""Block requests collected in columns and written as Parquet, with contexts and optionally content."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from floatgate.trace.recorder.content import Content
from floatgate.trace.recorder.layout import PAGE_BYTES
from floatgate.trace.recorder.page_cache import Request

SCHEMA = "floatgate.trace/1"
DEVICE = "recorded"
OPERATIONS = ("read", "write", "trim")
_ROWS_PER_GROUP = 1 << 18
_UNKNOWN = -1


class Columns:
    """The requests of a recording, some 75 bytes each."""

    def __init__(self) -> None:
        """Start with none."""
        self.time_ns = array("q")
        self.op = array("b")
        self.lpn = array("Q")
        self.pages = array("Q")
        self.context = array("Q")
        self.has_context = array("b")
        self.file = array("q")
        self.file_page = array("q")
        self.process = array("q")
        self.thread = array("q")
        self.fd = array("q")

    def __len__(self) -> int:
        return len(self.op)

    def append(self, request: Request) -> None:
        """Take a request."""
        self.time_ns.append(request.time_ns)
        self.op.append(request.op)
        self.lpn.append(request.lpn)
        self.pages.append(request.pages)
        self.context.append(request.context or 0)
        self.has_context.append(request.context is not None)
        self.file.append(request.file)
        self.file_page.append(request.file_page)
        process, thread, fd = request.writer or (_UNKNOWN, _UNKNOWN, _UNKNOWN)
        self.process.append(process)
        self.thread.append(thread)
        self.fd.append(fd)

    def contexts(self) -> set[int]:
        """Return the contexts of the requests."""
        return {context for context, there in zip(self.context, self.has_context, strict=True) if there}

    def processes(self) -> set[int]:
        """Return the processes of the requests."""
        return {process for process in self.process if process != _UNKNOWN}


def write(target: Path, columns: Columns, metadata: Callable[[], dict[str, Any]], content: Content | None) -> None:
    """Write the trace.

    Args:
        target: the file.
        columns: the requests.
        metadata: makes the JSON of the file's key ``floatgate``; called after the last row.
        content: of the pages, or None to leave those columns out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [
        ("time_ns", pa.int64()),
        ("device", pa.dictionary(pa.int32(), pa.string())),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("offset", pa.uint64()),
        ("bytes", pa.uint64()),
        ("context", pa.uint64()),
        ("process", pa.uint32()),
        ("thread", pa.uint32()),
        ("fd", pa.int32()),
        ("file", pa.uint32()),
    ]
    if content is not None:
        fields += [("fingerprints", pa.list_(pa.uint64())), ("compressed_bytes", pa.list_(pa.uint16()))]
    schema = pa.schema(fields)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for start, end in _groups(len(columns)):
            arrays = _arrays(columns, start, end)
            if content is not None:
                rows = [content.of_row(row) for row in range(start, end)]
                for column, item in ((0, pa.uint64()), (1, pa.uint16())):
                    arrays.append(pa.array([None if row is None else row[column] for row in rows], pa.list_(item)))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        writer.add_key_value_metadata({"floatgate": json.dumps(metadata(), ensure_ascii=False)})


def _groups(rows: int) -> Iterator[tuple[int, int]]:
    for start in range(0, rows, _ROWS_PER_GROUP):
        yield start, min(rows, start + _ROWS_PER_GROUP)


def _arrays(columns: Columns, start: int, end: int) -> list[Any]:
    import numpy as np
    import pyarrow as pa

    zero = columns.time_ns[0]
    ops = np.array(columns.op[start:end], dtype="i1")
    missing = ~np.array(columns.has_context[start:end], dtype=bool)
    return [
        pa.array(np.array(columns.time_ns[start:end], dtype="i8") - zero),
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(end - start, dtype="i4")), pa.array([DEVICE], pa.string())),
        pa.DictionaryArray.from_arrays(pa.array(ops), pa.array(OPERATIONS, pa.string())),
        pa.array(np.array(columns.lpn[start:end], dtype="u8") * PAGE_BYTES),
        pa.array(np.array(columns.pages[start:end], dtype="u8") * PAGE_BYTES),
        pa.array(np.array(columns.context[start:end], dtype="u8"), mask=missing),
        *(_known(numbers[start:end], kind) for numbers, kind in ((columns.process, "u4"), (columns.thread, "u4"))),
        _known(columns.fd[start:end], "i4"),
        pa.array(np.array(columns.file[start:end], dtype="u4")),
    ]


def _known(numbers: array[int], kind: str) -> Any:
    """Return a column in which unknown values are null."""
    import numpy as np
    import pyarrow as pa

    values = np.array(numbers, dtype="i8")
    unknown = values == _UNKNOWN
    return pa.array(np.where(unknown, 0, values).astype(kind), mask=unknown)
