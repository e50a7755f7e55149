"""Who issued the requests of a trace: process, thread, descriptor and file, carried through conversions.

A conversion passes requests through the core, which knows one number per request for them, the stream. So each
combination becomes a stream, and the streams become columns again when the result is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

FIELDS = {"process": "uint32", "thread": "uint32", "fd": "int32", "file": "uint32", "stream": "uint32"}
"""Columns of a recording and their types, in the order of the core's ``Writer``."""

Writer = tuple[int | None, int | None, int | None, int | None, int | None]

_UNKNOWN = -(1 << 62)


class WriterTable:
    """Numbers the combinations of fields in the order of their first request."""

    def __init__(self, fields: Sequence[str]) -> None:
        """Begin without writers.

        Args:
            fields: which of :data:`FIELDS` the trace has, in their order.
        """
        self.fields = list(fields)
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, columns: Mapping[str, pa.Array]) -> NDArray[Any]:
        """Return the number of the writer of each row (uint32).

        Args:
            columns: by the name of the field; whole numbers, or null where unknown.
        """
        import numpy as np

        known = [
            columns[field].cast("int64").fill_null(_UNKNOWN).to_numpy(zero_copy_only=False) for field in self.fields
        ]
        rows, firsts, of_row = np.unique(np.stack(known, axis=1), axis=0, return_index=True, return_inverse=True)
        numbers = np.zeros(len(rows), "u4")
        for at in np.argsort(firsts).tolist():
            numbers[at] = self._numbers.setdefault(tuple(rows[at].tolist()), len(self._numbers))
        return numbers[of_row.reshape(-1)]

    def rows(self) -> list[Writer]:
        """Return the writers by their numbers."""
        out = []
        for values in self._numbers:
            by_field = dict(zip(self.fields, values, strict=True))
            known = {field: None if value == _UNKNOWN else value for field, value in by_field.items()}
            out.append(
                (known.get("process"), known.get("thread"), known.get("fd"), known.get("file"), known.get("stream"))
            )
        return out


def columns_of(streams: NDArray[Any], writers: Sequence[Writer], fields: Sequence[str]) -> list[pa.Array]:
    """Return the columns of these fields for requests with these streams.

    Args:
        streams: number of the writer of each request.
        writers: by number.
        fields: which of :data:`FIELDS` to return, in that order.
    """
    import numpy as np
    import pyarrow as pa

    arrays = []
    for at, (field, kind) in enumerate(FIELDS.items()):
        if field in fields:
            unknown = np.array([writer[at] is None for writer in writers], bool)
            values = np.array([writer[at] or 0 for writer in writers], kind)
            arrays.append(pa.array(values[streams], mask=unknown[streams]))
    return arrays
