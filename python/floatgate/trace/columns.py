"""Traces that Python reads for the core: our Parquet, and texts of system calls or block events with stacks.

The core calls :func:`open_columns` for a reader and takes arrays from it to the end of the trace; it checks every row
itself. A reader has

- ``optional``: which of ``context``, ``stream``, ``predicted_life``, ``flags``, ``content`` it fills, known from
  the beginning,
- ``has_times``: whether the stamps mean anything,
- ``next()``: the next rows as a dictionary of arrays (``time_ns`` int64, ``device`` uint16 into the list ``devices``,
  ``op`` uint8, ``offset`` and ``bytes`` uint64; ``context`` uint64 with 0 for none and ``contexts``, the names that
  have become known; ``stream`` and ``predicted_life`` uint32; ``flags`` uint8; ``content_end`` uint64,
  ``fingerprint`` uint64 and ``compressed_bytes`` uint16 with 0 for what is not known), or None at the end,
- ``restart()``: begin again,
- ``assumed()``: the assumptions about the trace,
- ``writers()``: who issued the requests of each stream, if streams stand for them.
"""

from __future__ import annotations

from typing import Any, Protocol

from floatgate.trace.writers import Writer

Rows = dict[str, Any]


class ColumnReader(Protocol):
    """The interface that the core calls."""

    optional: list[str]
    has_times: bool

    def next(self) -> Rows | None:
        """Return the next rows; None at the end."""

    def restart(self) -> None:
        """Begin again."""

    def assumed(self) -> list[str]:
        """Return the assumptions about the trace."""

    def writers(self) -> tuple[list[Writer], list[str]]:
        """Return the writers by stream and their known fields, if streams stand for writers; else empty lists."""


def open_columns(format: str, name: str, path: str, keep_writers: bool = False) -> ColumnReader:
    """Open a trace.

    Args:
        format: ``parquet``, ``strace`` or ``perf-script``.
        name: as the user wrote it, for messages.
        path: where its plain content lies.
        keep_writers: whether streams stand for writers, where the trace knows them.

    Raises:
        InputError: it is not in the format.
    """
    if format == "parquet":
        from floatgate.trace.parquet_trace import ParquetReader

        return ParquetReader(name, path, keep_writers)
    from floatgate.trace.recorder.text_trace import CallsReader

    return CallsReader(format, name, path)
