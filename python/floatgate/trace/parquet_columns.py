"""Columns of requests written as our own trace format, Parquet (docs/convert.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from floatgate.trace.parquet_trace import OPERATIONS
from floatgate.trace.writers import FIELDS, Writer, columns_of

if TYPE_CHECKING:
    import pyarrow as pa

    from floatgate._core import Progress

SCHEMA = "floatgate.trace/1"
_ROWS_PER_GROUP = 1 << 20
# Entries of content in a row group; lists count theirs in 31 bits.
_ENTRIES_PER_GROUP = 1 << 24

Batch = Mapping[str, bytes]


class Requests(Protocol):
    """A source of batches, with facts about all of them; the core's ``TraceBatches``, or one of our own."""

    def __iter__(self) -> Iterator[Batch]:
        """The batches: columns by name."""

    @property
    def optional(self) -> Sequence[str]:
        """Columns beside the time, device, operation, offset and bytes."""

    @property
    def devices(self) -> Sequence[str]:
        """Names, by number."""

    @property
    def contexts(self) -> Sequence[tuple[int, str]]:
        """Numbers and names, by index."""

    @property
    def has_times(self) -> bool:
        """Whether the stamps mean anything."""

    @property
    def writers(self) -> Sequence[Writer]:
        """Who issued the requests of each stream; empty where streams do not stand for writers."""

    @property
    def writer_fields(self) -> Sequence[str]:
        """Fields that the writers have."""


def write_columns(
    source: Requests,
    target: str | Path,
    described: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> int:
    """Write a source to its end, one row group after another.

    Columns: ``time_ns`` (int64), ``device`` (dictionary of names), ``op`` (dictionary: read, write, trim), ``offset``
    and ``bytes`` (uint64).

    Columns that the source may have: ``context`` (uint64, null for none), ``stream`` (uint32), or the writers that
    streams stand for (``process``, ``thread``, ``fd``, ``file``, null where unknown), ``predicted_life`` and ``flags``.
    ``predicted_life`` (uint32) is the number of host page writes after which the data are predicted to die, 0 without a
    prediction. ``flags`` (uint8) is 1 for FUA, 2 for a flush before it, 3 for both.

    ``fingerprints`` (list of uint64) and ``compressed_bytes`` (list of uint16) have one entry for each 4 KiB from a
    request's beginning on, null where it is not known.

    The metadata's key ``floatgate`` holds JSON: ``schema``, ``contexts`` (by the number in decimal: ``name``),
    ``has_times`` (false where the stamps mean nothing).

    Args:
        source: what to write.
        target: the file to write.
        described: further metadata, kept from another trace in this format.
        progress: called now and then with ``(requests, None, phase)``.

    Returns:
        How many requests were written.

    Raises:
        OSError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(source.optional, source.writer_fields)
    requests = 0
    # Stamps rise by small steps, which take half the room; addresses fill no dictionary.
    packing = {
        "compression": "zstd",
        "use_dictionary": ["device", "op", "bytes", "context", "stream", "predicted_life", "flags"],
        "column_encoding": {"time_ns": "DELTA_BINARY_PACKED"},
    }
    with (
        Path(target).open("wb") as file,
        pq.ParquetWriter(file, schema, **packing) as writer,
    ):
        for group in _groups(source):
            table = pa.Table.from_batches([_record_batch(group, source, schema)])
            writer.write_table(table, row_group_size=_ROWS_PER_GROUP)
            requests += table.num_rows
            if progress is not None:
                progress(requests, None, "write")
        writer.add_key_value_metadata({"floatgate": json.dumps(_metadata(source, described), ensure_ascii=False)})
    return requests


def _schema(optional: Sequence[str], writer_fields: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    fields = [
        ("time_ns", pa.int64()),
        ("device", pa.dictionary(pa.int32(), pa.string())),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        ("offset", pa.uint64()),
        ("bytes", pa.uint64()),
    ]
    if "context" in optional:
        fields.append(("context", pa.uint64()))
    if writer_fields:
        fields += [(field, pa.type_for_alias(kind)) for field, kind in FIELDS.items() if field in writer_fields]
    elif "stream" in optional:
        fields.append(("stream", pa.uint32()))
    if "predicted_life" in optional:
        fields.append(("predicted_life", pa.uint32()))
    if "flags" in optional:
        fields.append(("flags", pa.uint8()))
    if "content" in optional:
        fields += [("fingerprints", pa.list_(pa.uint64())), ("compressed_bytes", pa.list_(pa.uint16()))]
    return pa.schema(fields)


def _metadata(source: Requests, described: Mapping[str, Any] | None) -> dict[str, Any]:
    kept = dict(described or {})
    before = kept.pop("contexts", None)
    kept.pop("has_times", None)
    metadata: dict[str, Any] = {**kept, "schema": SCHEMA}
    if not source.has_times:
        metadata["has_times"] = False
    if "context" in source.optional:
        known = before if isinstance(before, dict) else {}
        more = {key: value for key, value in known.items() if isinstance(value, dict)}
        named = [(str(number), name) for number, name in source.contexts if number != 0]
        metadata["contexts"] = {key: {**more.get(key, {}), "name": name} for key, name in named}
    return metadata


def _groups(source: Iterable[Batch]) -> Iterator[Batch]:
    """Join batches to row groups of about :data:`_ROWS_PER_GROUP` rows."""
    held: dict[str, list[bytes]] = {}
    rows = entries = 0
    for batch in source:
        rows += len(batch["op"])
        entries += len(batch.get("fingerprint", b"")) // 8
        for name, column in batch.items():
            held.setdefault(name, []).append(column)
        if rows >= _ROWS_PER_GROUP or entries >= _ENTRIES_PER_GROUP:
            yield {name: b"".join(parts) for name, parts in held.items()}
            held, rows, entries = {}, 0, 0
    if rows:
        yield {name: b"".join(parts) for name, parts in held.items()}


def _record_batch(columns: Batch, source: Requests, schema: pa.Schema) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa

    device = np.frombuffer(columns["device"], dtype="<u2").astype("i4")
    operation = np.frombuffer(columns["op"], dtype="i1")
    arrays = [
        pa.array(np.frombuffer(columns["time_ns"], dtype="<i8")),
        pa.DictionaryArray.from_arrays(pa.array(device), pa.array(list(source.devices), pa.string())),
        pa.DictionaryArray.from_arrays(pa.array(operation), pa.array(OPERATIONS, pa.string())),
        pa.array(np.frombuffer(columns["offset"], dtype="<u8")),
        pa.array(np.frombuffer(columns["bytes"], dtype="<u8")),
    ]
    if "context" in columns:
        context = np.frombuffer(columns["context"], dtype="<u4")
        numbers = np.array([number for number, _ in source.contexts], dtype="u8")
        arrays.append(pa.array(numbers[context], mask=context == 0))
    if source.writer_fields:
        streams = np.frombuffer(columns["stream"], dtype="<u4")
        arrays += columns_of(streams, source.writers, source.writer_fields)
    elif "stream" in columns:
        arrays.append(pa.array(np.frombuffer(columns["stream"], dtype="<u4")))
    if "predicted_life" in columns:
        arrays.append(pa.array(np.frombuffer(columns["predicted_life"], dtype="<u4")))
    if "flags" in columns:
        arrays.append(pa.array(np.frombuffer(columns["flags"], dtype="u1")))
    if "content_len" in columns:
        length = np.frombuffer(columns["content_len"], dtype="<u4")
        ends = pa.array(np.concatenate(([0], np.cumsum(length, dtype="i8"))).astype("i4"))
        none = pa.array(length == 0)
        for name, kind in (("fingerprint", "<u8"), ("compressed_bytes", "<u2")):
            values = np.frombuffer(columns[name], dtype=kind)
            entries = pa.array(values, mask=values == 0)
            arrays.append(pa.ListArray.from_arrays(ends, entries, mask=none))
    return pa.record_batch(arrays, schema=schema)
