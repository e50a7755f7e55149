"""Fingerprints that distinguish contents: on an equal fingerprint the bytes are compared.

The first copy of each content is kept in a temporary file, one slot of 4 KiB for each; memory holds some 100 bytes for
each. A content whose fingerprint is taken by another gets the next free value. Equal fingerprints in the trace are
therefore equal data.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from floatgate.base.errors import input_error
from floatgate.trace.recorder.layout import PAGE_BYTES

_VALUES = 1 << 64


class DistinctPages:
    """The distinct contents of a recording.

    Args:
        folder: for the temporary file.
        fingerprint: of a page.
    """

    def __init__(self, folder: Path, fingerprint: Callable[[bytes], int]) -> None:
        """Start with no page."""
        self.collisions = 0
        """Contents whose fingerprint another one had."""
        self._fingerprint = fingerprint
        self._slots: dict[int, int] = {}
        self._file: BinaryIO = (folder / "distinct").open("w+b", buffering=0)

    def fingerprint(self, page: bytes) -> int:
        """Return the fingerprint of a page, which no other content has."""
        own = value = self._fingerprint(page)
        while (slot := self._slots.get(value)) is not None:
            if os.pread(self._file.fileno(), PAGE_BYTES, slot * PAGE_BYTES) == page:
                return value
            value = (value + 1) % _VALUES
        self._keep(value, page)
        self.collisions += value != own
        return value

    def close(self) -> None:
        """Let the bytes go."""
        self._file.close()

    def _keep(self, value: int, page: bytes) -> None:
        slot = len(self._slots)
        store(self._file, page, slot * PAGE_BYTES, "the pages written")
        self._slots[value] = slot


def store(file: BinaryIO, piece: bytes, place: int, what: str) -> None:
    """Write bytes to a place of a temporary file.

    Raises:
        InputError: there is no room for ``what``.
    """
    try:
        done, why = os.pwrite(file.fileno(), piece, place), "the disk is full"
    except OSError as error:
        done, why = -1, str(error.strerror)
    if done != len(piece):
        raise input_error(f"{file.name}: {why}; expected room for {what} in TMPDIR")
