"""Traces converted: to Parquet here, to other trace formats in the core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import input_error, meant, quote
from floatgate.results.folder import writing
from floatgate.trace.metadata import described

if TYPE_CHECKING:
    from floatgate._core import Progress

PARQUET = "parquet"
FORMATS = (PARQUET, "fio-iolog", "fio-iolog-v2", "fio-iolog-v3", "msr", "mqsim", "blkparse")
"""What a trace can be converted to."""

STDOUT = "-"

_BY_EXTENSION = {
    ".parquet": PARQUET,
    ".iolog": "fio-iolog",
    ".csv": "msr",
    ".mqsim": "mqsim",
    ".fio": "fio-iolog",
    ".msr": "msr",
    ".blkparse": "blkparse",
}


def format_of(path: str) -> str:
    """Return the format of a file's extension.

    Raises:
        InputError: no format has it.
    """
    extension = Path(path).suffix
    if extension not in _BY_EXTENSION:
        raise input_error(
            f"{path}: no format has the extension {quote(extension)}; {meant(extension, _BY_EXTENSION)} "
            "(or give --to FORMAT)"
        )
    return _BY_EXTENSION[extension]


def check_format(to: str) -> None:
    """Refuse a format that cannot be written.

    Raises:
        InputError: it is none of :data:`FORMATS`.
    """
    if to not in FORMATS:
        raise input_error(
            f"--to: {quote(to)} cannot be written; {meant(to, FORMATS, 'floatgate trace convert --help')}"
        )


def convert(
    path: str, target: str, to: str, options: Mapping[str, str], progress: Progress | None = None
) -> dict[str, Any]:
    """Convert a trace or a slice of it; the target appears whole or not at all.

    Args:
        path: the trace to read.
        target: the file to write, or ``-`` for standard output, which takes text formats.
        to: one of :data:`FORMATS`.
        options: how to read it (``format``, ``time_unit``, ``lba_unit``, ``action``, ``on_bad_line``) and which slice
            of it (``from``, ``until``, ``device`` with line breaks between names, ``op``, ``requests``, ``fold``,
            ``time_scale``), as the command line has them.
        progress: called now and then with ``(requests, None, phase)``.

    Returns:
        ``requests`` written, by name the losses of the format (``trims_left_out``, ``widened``, ...), and
        ``slice``, what a slice has kept and left out.

    Raises:
        InputError: the trace cannot be read, the slice is empty, or the target cannot be written.
        BrokenPipeError: the reader of the target is gone.
    """
    check_format(to)
    if target == STDOUT:
        if to == PARQUET:
            raise input_error("-: Parquet is not written to standard output; expected the name of a file")
        with unwritable("standard output"):
            return _write_text(path, None, to, options, progress)
    with unwritable(target), writing(Path(target)) as place:
        if to == PARQUET:
            return write_parquet(path, str(place), options, progress)
        return _write_text(path, str(place), to, options, progress)


def _write_text(
    path: str, target: str | None, to: str, options: Mapping[str, str], progress: Progress | None
) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(_core.trace_write(path, options, target, to, progress))
    return report


@contextmanager
def unwritable(target: str) -> Iterator[None]:
    """Name the target in errors of writing; a pipe without a reader is left to the caller."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error).split("\n", 1)[0]
        raise input_error(f"{target}: {reason}; expected a file that can be written, and room for it") from None


def metadata_of(path: str) -> dict[str, Any]:
    """Read the metadata of a Parquet trace; empty if it cannot be reopened (packed, a pipe)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path).metadata
    except (pa.ArrowException, OSError):
        return {}
    return described(metadata, path)


def write_parquet(
    path: str, target: str, options: Mapping[str, str], progress: Progress | None = None
) -> dict[str, Any]:
    """Write a trace as Parquet, in the columns of :func:`floatgate.trace.parquet_columns.write_columns`.

    Returns:
        ``requests`` written, and ``slice`` for a slice.

    Raises:
        InputError: the trace cannot be read, or holds no request.
        OSError: the target cannot be written.
    """
    from floatgate.trace.parquet_columns import write_columns

    source = _core.trace_batches(path, {**options, "keep_writers": "yes"})
    before = metadata_of(path) if source.format == PARQUET else {}
    report: dict[str, Any] = {"requests": write_columns(source, target, before, progress)}
    if report["requests"] == 0:
        raise input_error(f"{path}: the trace holds no request; expected at least one read, write or TRIM")
    if source.slice_report is not None:
        report["slice"] = json.loads(source.slice_report)
    return report
