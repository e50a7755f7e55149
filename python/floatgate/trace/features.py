"""The writes of a trace with what a predictor of lives may know of each, and the true rest of life of their data.

Memory is bounded: the trace is read once, and page events go to a temporary file. DuckDB then finds the earlier and the
next event of each page, on disk where memory does not do. Results are exact.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base import unfinished_files
from floatgate.base.errors import input_error

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Progress = Callable[[int, int | None, str], None]

HISTORY = 4
"""Earlier intervals of a page that a row has."""
FEATURES = (
    *("request", "page_write", "time_s", "device", "offset", "bytes", "pages"),
    *("update", *(f"interval_{n}" for n in range(1, HISTORY + 1)), "writes_before", "age"),
    *("gap", "sequential_pages", "context", "stream", "process", "file", "idle_s"),
)
"""What is known when a request is written, in the order of the columns."""
TARGETS = ("life", "life_min", "life_max", "dies")
"""What is only known later."""
_PAGE_BYTES = 4096
_DEVICE_SHIFT = 52
_WRITE, _TRIM = 1, 2
_CHUNK = 1 << 15
"""Pages in a piece of the table of live pages."""
_MEMORY_LIMIT = "1GB"


def write_features(
    path: str | os.PathLike[str],
    target: Path,
    options: Mapping[str, str] | None = None,
    *,
    page_bytes: int = _PAGE_BYTES,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Write one row per write request of a trace, in Parquet.

    Args:
        path: the trace.
        target: the file to write.
        options: how the trace is read, as the core names it.
        page_bytes: size of the pages whose lives are counted.
        progress: called now and then with requests, None and the phase.

    Returns:
        ``requests`` read, ``writes`` among them, and ``page_writes``.

    Raises:
        InputError: the trace cannot be read, or writes nothing.
        OSError: the file cannot be written.
    """
    room = unfinished_files.folder_in(target.absolute().parent)
    try:
        counts = _split(os.fspath(path), dict(options or {}), room, page_bytes, progress)
        if not counts["writes"]:
            raise input_error(f"{os.fspath(path)}: the trace writes nothing; expected at least one write")
        if progress is not None:
            progress(counts["requests"], None, "lives")
        _join(room, target)
        return counts
    finally:
        shutil.rmtree(room, ignore_errors=True)


class _Splitter:
    """Page events and facts about requests, batch by batch; remembers what later requests need."""

    def __init__(self, page_bytes: int) -> None:
        import numpy as np

        self.np = np
        self.page_bytes = page_bytes
        self.page_writes = 0
        self.events = 0
        self.requests = 0
        self.writes = 0
        # By device: the end of the last write, and the pages written in one run up to it.
        self._end: dict[int, int] = {}
        self._run: dict[int, int] = {}
        self._live: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self._time_ns: int | None = None

    def batch(self, columns: Mapping[str, bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the page events of a batch, and the rows of its writes."""
        np = self.np
        names = {"time_ns": "i8", "device": "u2", "op": "u1", "offset": "u8", "bytes": "u8"}
        of = {name: np.frombuffer(columns[name], kind) for name, kind in names.items()}
        pages_of: list[NDArray[Any]] = []
        event_of: list[tuple[int, int, int, int]] = []
        rows: dict[str, list[Any]] = {name: [] for name in ("request", "at", "gap", "sequential_pages", "idle_s")}
        first = of["offset"] // self.page_bytes
        end = (of["offset"] + of["bytes"] + (self.page_bytes - 1)) // self.page_bytes
        ops, devices = of["op"].tolist(), of["device"].tolist()
        offsets, sizes, times = of["offset"].tolist(), of["bytes"].tolist(), of["time_ns"].tolist()
        for i, (op, device, begin, stop) in enumerate(zip(ops, devices, first.tolist(), end.tolist(), strict=True)):
            idle_ns = 0 if self._time_ns is None else max(0, times[i] - self._time_ns)
            self._time_ns = times[i]
            if op == _WRITE and stop > begin:
                self._note(rows, self.requests + i, device, (offsets[i], sizes[i], idle_ns))
                self._mark(device, begin, stop)
                pages_of.append(np.arange(begin, stop, dtype="u8") | np.uint64(device << _DEVICE_SHIFT))
                event_of.append((self.requests + i, self.page_writes, 1, stop - begin))
                self.page_writes += stop - begin
                self.writes += 1
            elif op == _TRIM and (dead := self._trimmed(device, offsets[i], sizes[i])).size:
                pages_of.append(dead | np.uint64(device << _DEVICE_SHIFT))
                event_of.append((self.requests + i, self.page_writes, 0, dead.size))
        self.requests += len(ops)
        return self._events(pages_of, event_of), rows

    def _note(self, rows: dict[str, list[Any]], request: int, device: int, at: tuple[int, int, int]) -> None:
        offset, size, idle_ns = at
        last = self._end.get(device)
        gap = None if last is None else offset - last
        run = (self._run[device] if gap == 0 else 0) + -(-size // self.page_bytes)
        self._end[device], self._run[device] = offset + size, run
        for name, value in (("request", request), ("at", self.page_writes), ("gap", gap)):
            rows[name].append(value)
        rows["sequential_pages"].append(run)
        rows["idle_s"].append(idle_ns / 1e9)

    def _chunks(self, device: int, begin: int, stop: int) -> Iterator[tuple[tuple[int, int], int, int]]:
        """Cut pages into chunks of the table of live pages: the key, begin and end within it."""
        while begin < stop:
            number, at = divmod(begin, _CHUNK)
            size = min(stop - begin, _CHUNK - at)
            yield (device, number), at, at + size
            begin += size

    def _mark(self, device: int, begin: int, stop: int) -> None:
        for key, at, end in self._chunks(device, begin, stop):
            live = self._live.get(key)
            if live is None:
                live = self._live[key] = self.np.zeros(_CHUNK, bool)
            live[at:end] = True

    def _trimmed(self, device: int, offset: int, size: int) -> NDArray[Any]:
        """Return the pages whose data a TRIM takes: those that it covers whole, if they hold any."""
        begin, stop = -(-offset // self.page_bytes), (offset + size) // self.page_bytes
        dead = [self.np.empty(0, "u8")]
        held = (number for of, number in self._live if of == device)
        for number in sorted(number for number in held if begin < (number + 1) * _CHUNK and number * _CHUNK < stop):
            live = self._live[device, number]
            at, end = max(begin - number * _CHUNK, 0), min(stop - number * _CHUNK, _CHUNK)
            dead.append(self.np.flatnonzero(live[at:end]).astype("u8") + self.np.uint64(number * _CHUNK + at))
            live[at:end] = False
        return self.np.concatenate(dead)

    def _events(self, pages_of: list[NDArray[Any]], event_of: list[tuple[int, int, int, int]]) -> dict[str, Any]:
        np = self.np
        lengths = np.array([length for *_, length in event_of], "i8")
        total = int(lengths.sum())
        within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        request, at, is_write = (np.repeat(np.array([one[k] for one in event_of], "i8"), lengths) for k in range(3))
        sequence = np.arange(self.events, self.events + total)
        self.events += total
        pages = np.concatenate(pages_of) if pages_of else np.empty(0, "u8")
        return {
            "request": request,
            "sequence": sequence,
            "page": pages,
            "clock": at + within * is_write,
            "is_write": is_write.astype(bool),
        }


def _split(
    path: str, options: dict[str, str], room: Path, page_bytes: int, progress: Progress | None
) -> dict[str, int]:
    """Write the page events of a trace, and the rows of its writes, to two files."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = _core.trace_batches(path, {**options, "keep_writers": "yes"})
    splitter = _Splitter(page_bytes)
    writers: list[pq.ParquetWriter] = []
    try:
        for columns in source:
            first = splitter.requests
            events, rows = splitter.batch(columns)
            picked = np.array(rows["request"], "i8") - first
            tables = [pa.table(events), _rows(columns, source, rows, picked)]
            if not writers:
                names = ("events", "requests")
                writers = [
                    pq.ParquetWriter(room / f"{name}.parquet", table.schema, compression="zstd")
                    for name, table in zip(names, tables, strict=True)
                ]
            for writer, table in zip(writers, tables, strict=True):
                writer.write_table(table)
            if progress is not None:
                progress(splitter.requests, None, "writes")
    finally:
        for writer in writers:
            writer.close()
    return {"requests": splitter.requests, "writes": splitter.writes, "page_writes": splitter.page_writes}


def _rows(
    columns: Mapping[str, bytes], source: _core.TraceBatches, rows: dict[str, list[Any]], picked: NDArray[Any]
) -> pa.Table:
    """Return the facts about the writes of a batch."""
    import numpy as np
    import pyarrow as pa

    def column(name: str, kind: str) -> NDArray[Any]:
        values: NDArray[Any] = np.frombuffer(columns[name], kind)[picked]
        return values

    devices = column("device", "u2")
    made: dict[str, Any] = {
        "request": pa.array(rows["request"], pa.int64()),
        "page_write": pa.array(rows["at"], pa.int64()),
        "time_s": column("time_ns", "i8") / 1e9,
        "device": pa.DictionaryArray.from_arrays(devices.astype("i4"), list(source.devices)).cast(pa.string()),
        "offset": column("offset", "u8"),
        "bytes": column("bytes", "u8"),
        "gap": pa.array(rows["gap"], pa.int64()),
        "sequential_pages": pa.array(rows["sequential_pages"], pa.int64()),
        "idle_s": pa.array(rows["idle_s"], pa.float64()),
    }
    numbers = np.array([number for number, _ in source.contexts] or [0], "u8")
    if "context" in source.optional:
        made["context"] = numbers[column("context", "u4")]
    if "stream" in source.optional:
        streams = column("stream", "u4")
        made["stream"] = streams
        for at, field in ((0, "process"), (3, "file")):
            if source.writers:
                values = pa.array([writer[at] for writer in source.writers], pa.int64())
                made[field] = values.take(pa.array(streams))
    for name, kind in (("context", pa.uint64()), *((name, pa.int64()) for name in ("stream", "process", "file"))):
        made[name] = pa.array(made[name], kind) if name in made else pa.nulls(len(picked), kind)
    return pa.table(made)


_INTERVALS = ", ".join(
    f"lag(clock, {n - 1}) OVER w - lag(clock, {n}) OVER w AS interval_{n}" for n in range(1, HISTORY + 1)
)
_FIRST = ", ".join(f"arg_min_null(interval_{n}, clock) AS interval_{n}" for n in range(1, HISTORY + 1))
_LIVES = f"""
WITH next AS (
    SELECT request, page, clock, is_write, sequence,
        lead(clock) OVER p - clock AS life,
        lag(is_write) OVER p AS held
    FROM read_parquet($events)
    WINDOW p AS (PARTITION BY page ORDER BY sequence)
), written AS (
    SELECT request, clock, life, coalesce(held, false) AS "update", {_INTERVALS},
        row_number() OVER w - 1 AS writes_before, clock - first_value(clock) OVER w AS age
    FROM next WHERE is_write
    WINDOW w AS (PARTITION BY page ORDER BY sequence)
), by_request AS (
    SELECT request, count(*) AS pages, arg_min("update", clock) AS "update", {_FIRST},
        arg_min(writes_before, clock) AS writes_before, arg_min(age, clock) AS age,
        arg_min_null(life, clock) AS life, min(life) AS life_min, max(life) AS life_max, count(life) AS dies
    FROM written GROUP BY request
)
SELECT {{columns}} FROM read_parquet($requests) JOIN by_request USING (request) ORDER BY request
"""  # noqa: S608 - text of this module


def _join(room: Path, target: Path) -> None:
    """Find the lives of all writes, and write the file."""
    import duckdb

    connection = duckdb.connect(
        config={"memory_limit": _MEMORY_LIMIT, "temp_directory": str(room / "spill"), "preserve_insertion_order": True}
    )
    made = room / "features.parquet"
    with connection:
        _copy(connection, room, made)
    made.replace(target)


def _copy(connection: duckdb.DuckDBPyConnection, room: Path, made: Path) -> None:
    select = _LIVES.format(columns=", ".join(f'"{name}"' for name in (*FEATURES, *TARGETS)))
    for name in ("events", "requests"):
        select = select.replace(f"${name}", f"'{str(room / f'{name}.parquet').replace(chr(39), chr(39) * 2)}'")
    quoted = str(made).replace("'", "''")
    connection.execute(f"COPY ({select}) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")
