"""Our own trace format: Parquet with one row per request (docs/convert.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import InputError, input_error, quote, quoted, reading
from floatgate.results.arrays import flags_of, numbers_of
from floatgate.trace.metadata import described
from floatgate.trace.writers import FIELDS, WriterTable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from floatgate.trace.columns import Rows
    from floatgate.trace.writers import Writer

OPERATIONS = ("read", "write", "trim")
REQUIRED = ("op", "offset", "bytes")
_DEVICES_MAX = 1 << 16
_ROWS = 1 << 16
_EXPECTED = "expected an intact one"
_DAMAGED = "is damaged or no Parquet file"


class ParquetReader:
    """A reader of a trace, row group by row group."""

    def __init__(self, name: str, path: str, keep_writers: bool = False) -> None:
        """Open the file and look at its schema.

        Args:
            name: as the user wrote it, for messages.
            path: where it is.
            keep_writers: whether streams stand for writers, where the trace knows them.

        Raises:
            InputError: it is no Parquet, or not with our columns.
        """
        import pyarrow.parquet as pq

        self._name = name
        with reading(name, _EXPECTED, _DAMAGED):
            there = pq.read_schema(path).names
            named = [column for column in ("device", "op") if column in there]
            self._file = pq.ParquetFile(path, read_dictionary=named)
            columns = set(self._file.schema_arrow.names)
            twice = sorted({column for column in columns if self._file.schema_arrow.names.count(column) > 1})
        if twice:
            raise input_error(f"{name}: has column {quoted(twice)} more than once; expected each column once")
        missing = [column for column in REQUIRED if column not in columns]
        if missing:
            raise input_error(
                f"{name}: has no column {quoted(missing)}; expected a trace with {quoted(list(REQUIRED))}, "
                "as floatgate writes it"
            )
        metadata = self._metadata()
        self.has_times = "time_ns" in columns and metadata.get("has_times", True) is not False
        content = columns & {"fingerprints", "compressed_bytes"}
        # The stream of a recording without named streams is the process that wrote (docs/separation.md).
        self._stream = next((name for name in ("stream", "process") if name in columns), "stream")
        fields = [field for field in FIELDS if field in columns]
        self._table = WriterTable(fields) if keep_writers and set(fields) - {"stream"} else None
        named_by_host = {"stream"} if self._stream in columns or self._table else set()
        self.optional = [
            *sorted((columns & {"context", "predicted_life", "flags"}) | named_by_host),
            *(["process"] if named_by_host and self._stream == "process" else []),
            *(["content"] if content else []),
        ]
        streams = fields if self._table else [self._stream]
        optional = ("context", *streams, "predicted_life", "flags", "fingerprints", "compressed_bytes")
        known = ("time_ns", "device", *REQUIRED, *optional)
        self._columns = [column for column in known if column in columns]
        self._names = _names(metadata.get("contexts", {}))
        self._rows = 0
        self._processes: dict[int, int] = {}
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self.restart()

    def restart(self) -> None:
        """Begin again."""
        self._rows = 0
        self._batches = self._file.iter_batches(batch_size=_ROWS, columns=self._columns, use_threads=False)

    def assumed(self) -> list[str]:
        """Return nothing: the file states everything."""
        return []

    def writers(self) -> tuple[list[Writer], list[str]]:
        """Return the writers by stream, and the fields that are known."""
        if self._table is not None:
            return self._table.rows(), self._table.fields
        if self._stream == "process":
            return [(process, None, None, None, None) for process in self._processes], ["process"]
        return [], []

    def next(self) -> Rows | None:
        """Return the next rows; None at the end.

        Raises:
            InputError: with the rows in which something is wrong.
        """
        while True:
            with reading(self._name, _EXPECTED, _DAMAGED):
                batch = next(self._batches, None)
                if batch is None:
                    return None
                if batch.num_rows == 0:
                    continue
                rows = self._convert(batch)
            self._rows += batch.num_rows
            return rows

    def _metadata(self) -> dict[str, Any]:
        with reading(self._name, _EXPECTED, _DAMAGED):
            of_schema, of_file = self._file.schema_arrow.metadata, self._file.metadata.metadata
        return described(of_schema, self._name) or described(of_file, self._name)

    def _convert(self, batch: pa.RecordBatch) -> Rows:
        import numpy as np

        count = batch.num_rows
        get = batch.schema.names
        rows: Rows = {
            "time_ns": self._numbers(batch, "time_ns", "int64")
            if "time_ns" in get and self.has_times
            else np.zeros(count, "i8"),
            "offset": self._numbers(batch, "offset", "uint64"),
            "bytes": self._numbers(batch, "bytes", "uint64"),
            "op": self._operations(batch),
            "device": np.zeros(count, "u2"),
            "devices": ["0"],
        }
        if "device" in get:
            rows["device"], rows["devices"] = self._devices(batch)
        if "context" in self.optional:
            rows["context"] = self._numbers(batch, "context", "uint64", null=0)
            rows["contexts"] = self._names if self._rows == 0 else []
        if "stream" in self.optional:
            rows["stream"] = self._streams(batch)
        if "predicted_life" in self.optional:
            rows["predicted_life"] = self._numbers(batch, "predicted_life", "uint32", null=0)
        if "flags" in self.optional:
            rows["flags"] = self._numbers(batch, "flags", "uint8", null=0)
        if "content" in self.optional:
            rows |= self._content(batch)
        return rows

    def _streams(self, batch: pa.RecordBatch) -> NDArray[Any]:
        """Return the stream of each row: the host's, or the number of its process in the order of first appearance."""
        import numpy as np

        if self._table is not None:
            return self._table.number({field: self._writer(batch, field) for field in self._table.fields})
        numbers = self._numbers(batch, self._stream, "uint32", null=0)
        if self._stream == "stream":
            return numbers
        known = flags_of(batch.column(self._stream).is_valid())
        processes, firsts = np.unique(numbers[known], return_index=True)
        for process in processes[np.argsort(firsts)].tolist():
            self._processes.setdefault(process, len(self._processes))
        streams = np.zeros(len(numbers), "u4")
        of = np.array([self._processes[process] for process in processes.tolist()], "u4")
        streams[known] = of[np.searchsorted(processes, numbers[known])]
        return streams

    def _writer(self, batch: pa.RecordBatch, field: str) -> pa.Array:
        """Return a field of the writers, null where it is not known; refuse values that do not fit."""
        import pyarrow.compute as pc

        values = self._numbers(batch, field, FIELDS[field], null=0)
        return pc.if_else(batch.column(field).is_valid(), values, None)

    def _numbers(self, batch: pa.RecordBatch, name: str, kind: str, null: int | None = None) -> NDArray[Any]:
        """Return a column as numbers of a kind; refuse values that do not fit."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(name)
        if column.null_count and null is None:
            row = pc.index(column.is_null(), True).as_py()
            raise self._bad(row, f"{name} is null", "expected a value in every row")
        if not pa.types.is_integer(column.type):
            raise input_error(f"{self._name}: {name} is of type {column.type}; expected whole numbers ({kind})")
        try:
            column = column.cast(kind)
        except pa.ArrowInvalid as error:
            what = f"{name}: {str(error).split(chr(10), 1)[0]}"
            raise self._bad(_beyond(column, kind), what, f"expected {kind}") from None
        return np.ascontiguousarray(numbers_of(column, null or 0))

    def _bad(self, row: int, what: str, expected: str) -> InputError:
        return input_error(f"{self._name}:{self._rows + row + 1}: {what}; {expected}")

    def _encoded(self, batch: pa.RecordBatch, name: str) -> tuple[NDArray[np.intp], list[str]]:
        """Return a column of names as indices and the names."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(name)
        if column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise self._bad(row, f"{name} is null", "expected a name in every row")
        if not pa.types.is_dictionary(column.type):
            column = column.cast("string").dictionary_encode()
        names = [str(value) for value in column.dictionary.to_pylist()]
        return numbers_of(column.indices).astype(np.intp), names

    def _operations(self, batch: pa.RecordBatch) -> NDArray[np.uint8]:
        import numpy as np

        indices, names = self._encoded(batch, "op")
        codes = np.array([OPERATIONS.index(name) if name in OPERATIONS else 255 for name in names], dtype="u1")
        operations: NDArray[np.uint8] = codes[indices] if len(names) else np.zeros(0, "u1")
        bad = np.flatnonzero(operations == 255)
        if len(bad):
            name = names[indices[bad[0]]]
            raise self._bad(
                int(bad[0]), f"{quote(name)} is not an operation", f"expected one of {quoted(list(OPERATIONS))}"
            )
        return operations

    def _devices(self, batch: pa.RecordBatch) -> tuple[NDArray[np.uint16], list[str]]:
        indices, names = self._encoded(batch, "device")
        if len(names) > _DEVICES_MAX:
            raise input_error(f"{self._name}: more than {_DEVICES_MAX} devices; expected at most {_DEVICES_MAX}")
        return indices.astype("u2"), names

    def _content(self, batch: pa.RecordBatch) -> Rows:
        """Return the lists of all pages, joined, and where those of each row end."""
        import numpy as np

        ends: NDArray[np.uint64] | None = None
        rows: Rows = {}
        for column, name, kind in (
            ("fingerprints", "fingerprint", "uint64"),
            ("compressed_bytes", "compressed_bytes", "uint16"),
        ):
            if column not in batch.schema.names:
                continue
            row_ends, values = self._lists(batch, column, kind)
            if ends is not None and not np.array_equal(ends, row_ends):
                row = int(np.flatnonzero(ends != row_ends)[0])
                raise self._bad(row, "fingerprints and compressed_bytes differ in length", "expected one entry a page")
            ends, rows[name] = row_ends, values
        if ends is None:
            return {}
        entries = int(ends[-1]) if len(ends) else 0
        rows.setdefault("fingerprint", np.zeros(entries, "u8"))
        rows.setdefault("compressed_bytes", np.zeros(entries, "u2"))
        return {**rows, "content_end": ends}

    def _lists(self, batch: pa.RecordBatch, name: str, kind: str) -> tuple[NDArray[np.uint64], NDArray[Any]]:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(name)
        if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
            raise input_error(f"{self._name}: {name} is of type {column.type}; expected a list of {kind}")
        lengths = numbers_of(pc.list_value_length(column))
        if not pa.types.is_integer(column.type.value_type) and not pa.types.is_null(column.type.value_type):
            raise input_error(f"{self._name}: {name} is of type {column.type}; expected a list of {kind}")
        values, ends = column.flatten(), np.cumsum(lengths, dtype="u8")
        try:
            flat = numbers_of(values.cast(kind))
        except pa.ArrowInvalid as error:
            row = int(np.searchsorted(ends, _beyond(values, kind), side="right"))
            raise self._bad(row, f"{name}: {str(error).split(chr(10), 1)[0]}", f"expected {kind}") from None
        return ends, np.ascontiguousarray(flat)


def _beyond(values: pa.Array, kind: str) -> int:
    """Return the place of the first value beyond the range of a kind of number."""
    import numpy as np

    most = int(np.iinfo(kind).max)
    return next(place for place, value in enumerate(values.to_pylist()) if not 0 <= (value or 0) <= most)


def _names(contexts: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the readable contexts of the metadata: number and name."""
    # No number of 64 bits has more than 20 digits, and a longer text takes long to become one.
    numbers = ((int(key), entry) for key, entry in contexts.items() if key.isdecimal() and len(key) <= 20)
    return [(number, entry.get("name", "")) for number, entry in numbers if number < 1 << 64]
