"""Compressed files of readings, as log rotation leaves them: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from floatgate.base.errors import input_error, reading
from floatgate.lab.counters.reading import SOURCE


def _zstd(path: str) -> Any:
    import pyarrow as pa

    return pa.input_stream(path, compression="zstd")


_MAGIC: dict[bytes, Callable[[str], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def unpacked(path: str, most_bytes: int) -> bytes | None:
    """Return the content of a compressed file; None if it is not compressed or cannot be read.

    Args:
        path: the file.
        most_bytes: a larger content is refused.

    Raises:
        InputError: the compressed content is damaged or too large.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(6)
    except (OSError, ValueError):
        return None
    opened = next((open_ for magic, open_ in _MAGIC.items() if head.startswith(magic)), None)
    if opened is None:
        return None
    expected = f"expected {SOURCE}"
    with reading(path, expected, "its compressed content is damaged"):
        try:
            stream: IO[bytes]
            with opened(path) as stream:
                raw = bytes(stream.read(most_bytes + 1))
        except (zlib.error, lzma.LZMAError, EOFError) as error:
            raise ValueError(str(error)) from None
    if len(raw) > most_bytes:
        raise input_error(f"{path}: holds more than {most_bytes >> 20} MiB; {expected}")
    return raw
