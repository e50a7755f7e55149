"""Fingerprints and compressed sizes of the pages of a recording: from the data of the writes, or from the files."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.trace.recorder.distinct import DistinctPages
from floatgate.trace.recorder.layout import PAGE_BYTES
from floatgate.trace.recorder.page_cache import WRITE, Request
from floatgate.trace.recorder.shadow import Shadow

if TYPE_CHECKING:
    from floatgate.trace.recorder.trace_file import Columns

FROM_FILES = "the files after the program's end: known for the last write of a page alone"
FROM_WRITES = "the data of the write calls, at the moment each page is written back"


class LastWrites:
    """The content of the pages, as far as it is known after the program's end.

    The files are read then, so the content of a page is known for its last write alone, where the file is still there.
    Earlier versions of a page, and pages of deleted files, have none.
    """

    source = FROM_FILES

    def __init__(
        self,
        columns: Columns,
        path_of: Callable[[int], str | None],
        fingerprint_of: Callable[[bytes], int] | None = None,
    ) -> None:
        """Find the last write of each page.

        Args:
            columns: the requests.
            path_of: the path of a file by its number; None where it is gone.
            fingerprint_of: of a page; :func:`fingerprint` by default.
        """
        self._fingerprint_of = fingerprint if fingerprint_of is None else fingerprint_of
        self._columns = columns
        self._path_of = path_of
        self.known = 0
        self.unknown = 0
        last: dict[int, int] = {}
        for row, op in enumerate(columns.op):
            if op == WRITE:
                first = columns.lpn[row]
                for lpn in range(first, first + columns.pages[row]):
                    last[lpn] = row
        self._last = last

    def of_row(self, row: int) -> tuple[list[int | None], list[int | None]] | None:
        """Return fingerprints and compressed sizes of the pages of a request; None where it is no write."""
        columns = self._columns
        if columns.op[row] != WRITE:
            return None
        first, pages = columns.lpn[row], columns.pages[row]
        path = self._path_of(columns.file[row])
        fingerprints: list[int | None] = []
        sizes: list[int | None] = []
        data = b"" if path is None else _read(path, columns.file_page[row], pages)
        for index in range(pages):
            page = data[index * PAGE_BYTES : (index + 1) * PAGE_BYTES]
            if page and self._last[first + index] == row:
                page = page.ljust(PAGE_BYTES, b"\0")
                fingerprints.append(self._fingerprint_of(page))
                sizes.append(compressed_bytes(page))
                self.known += 1
            else:
                fingerprints.append(None)
                sizes.append(None)
                self.unknown += 1
        return fingerprints, sizes

    def described(self) -> dict[str, Any]:
        """Return the trace's metadata of content; call it after all rows."""
        return _described(self.source, self.known, self.unknown)


class WrittenContent:
    """The content of the pages at each write to the drive, from a shadow of the files.

    Takes requests as they leave the cache model: the shadow then holds the data written up to that moment.
    Keeps 10 bytes per page written, 8 per request, and what :class:`DistinctPages` needs for each content.

    Args:
        shadow: the content of the pages.
        distinct: gives the fingerprints.
    """

    source = FROM_WRITES

    def __init__(self, shadow: Shadow, distinct: DistinctPages) -> None:
        """Start with no request."""
        self._shadow = shadow
        self.distinct = distinct
        self._fingerprints = array("Q")
        self._sizes = array("H")  # 0 where unknown: no page compresses to nothing
        self._starts = array("Q")
        self._writes = array("b")
        self.rest: LastWrites | None = None
        """Knows pages that the shadow does not know."""
        self.known = 0
        self.unknown = 0
        self.from_files = 0

    def take(self, request: Request) -> None:
        """Take a request that leaves the cache."""
        self._starts.append(len(self._sizes))
        self._writes.append(request.op == WRITE)
        if request.op != WRITE:
            return
        for page in range(request.file_page, request.file_page + request.pages):
            data = self._shadow.page(request.file, page)
            self._fingerprints.append(0 if data is None else self.distinct.fingerprint(data))
            self._sizes.append(0 if data is None else compressed_bytes(data))

    def of_row(self, row: int) -> tuple[list[int | None], list[int | None]] | None:
        """Return fingerprints and compressed sizes of the pages of a request; None where it is no write."""
        if not self._writes[row]:
            return None
        start = self._starts[row]
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._sizes)
        sizes = [size or None for size in self._sizes[start:end]]
        prints = [
            None if size is None else value for value, size in zip(self._fingerprints[start:end], sizes, strict=True)
        ]
        missing = [index for index, size in enumerate(sizes) if size is None]
        later = self.rest.of_row(row) if self.rest is not None and missing else None
        if later is not None:
            for index in missing:
                prints[index], sizes[index] = later[0][index], later[1][index]
            self.from_files += len(missing) - sizes.count(None)
        self.unknown += sizes.count(None)
        self.known += len(sizes) - sizes.count(None)
        return prints, sizes

    def described(self) -> dict[str, Any]:
        """Return the trace's metadata of content; call it after all rows."""
        return {
            **_described(self.source, self.known, self.unknown),
            "pages_known_from_files": self.from_files,
            "bytes_cut_off": self._shadow.cut_bytes,
            "fingerprint_collisions": self.distinct.collisions,
        }


Content = LastWrites | WrittenContent


def _described(source: str, known: int, unknown: int) -> dict[str, Any]:
    return {
        "source": source,
        "fingerprint": "blake2b-8",
        "compression": "lz4",
        "pages_known": known,
        "pages_unknown": unknown,
    }


def _read(path: str, page: int, pages: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            file.seek(page * PAGE_BYTES)
            return file.read(pages * PAGE_BYTES)
    except OSError:
        return b""


def fingerprint(page: bytes) -> int:
    """Return the first 8 bytes, little endian, of the BLAKE2b hash of a page."""
    return int.from_bytes(hashlib.blake2b(page, digest_size=8).digest(), "little")


def compressed_bytes(page: bytes) -> int:
    """Return bytes of a page after LZ4 (block format), at most the page."""
    import pyarrow as pa

    return min(len(page), len(pa.compress(page, codec="lz4_raw", asbytes=True)))
