"""The content of written files, kept beside the page-cache model: what a page holds when it goes to the drive.

Write calls whose data is known patch the pages of their file; truncation and holes make zeros. What the program never
wrote is known only where the file had no such bytes before: it is zero there. A page is known when all of its 4096
bytes are, so a file that was there before gets known page by page as it is overwritten.

The bytes lie in a temporary file, one slot of 4 KiB per page. Memory holds some 120 bytes per page of a live file, and
512 more for a page that is known in part.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from floatgate.trace.recorder.distinct import store
from floatgate.trace.recorder.layout import PAGE_BYTES, File

_ZEROS = bytes(PAGE_BYTES)
_ALL = (1 << PAGE_BYTES) - 1
_FOLDER = -1
_NOT_FILES = ("/dev", "/proc", "/sys")
_MOST_NAMES = 200_000


class NoShadow:
    """A shadow that keeps nothing; its methods define what a shadow is notified of."""

    def begin(self, file: File, path: str) -> None:
        """Begin a file that is met for the first time."""

    def begin_empty(self, file: File) -> None:
        """Begin a file that the program creates."""

    def append_at(self, file: File) -> None:
        """Note that the program appends at the presumed end of a file."""

    def patch(self, file: File, offset: int, length: int, data: bytes | None, page: int) -> None:
        """Patch the part in ``page`` of a write of ``length`` bytes at ``offset``; ``data`` may break off."""

    def cut(self, file: File, length: int) -> None:
        """Cut a file to ``length``."""

    def zero(self, file: File, offset: int, length: int) -> None:
        """Zero a range that was punched out or zeroed."""

    def lose(self, file: File) -> None:
        """Lose a file that changes in a way that cannot be followed: a shared mapping, say."""

    def gone(self, path: str) -> None:
        """Forget a name: its next open makes a new file."""

    def came(self, path: str) -> None:
        """Note that a name now means a file (or folder) of unknown content."""


class Before:
    """The files, and their sizes, that existed before the program in folders that it may write to.

    Args:
        folders: where to look, with all below, the near ones first.
        most: names to look at, at most; folders that are not listed by then are not known.
    """

    def __init__(self, folders: Iterable[str], most: int = _MOST_NAMES) -> None:
        """List the folders."""
        self._sizes: dict[str, int | None] = {}
        self._listed: set[str] = set()
        self._since: dict[str, int | None] = {}
        waiting = deque(dict.fromkeys(os.path.realpath(folder) for folder in folders))
        while waiting and len(self._sizes) < most:
            folder = waiting.popleft()
            if folder not in self._listed and folder not in _NOT_FILES:
                waiting.extend(self._list(folder))

    def _list(self, folder: str) -> list[str]:
        """Take the names of a folder; gives the folders in it."""
        inner = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = os.path.join(folder, entry.name)  # noqa: PTH118
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(path)
                        self._sizes[path] = _FOLDER
                    elif entry.is_file(follow_symlinks=False):
                        self._sizes[path] = entry.stat(follow_symlinks=False).st_size
                    else:
                        self._sizes[path] = None
        except OSError:
            return []
        self._listed.add(folder)
        return inner

    def note(self, path: str, size: int | None) -> None:
        """Note the size of a path from now on: 0 for no file, None if it is unknown."""
        self._since[path] = size

    def size(self, path: str) -> int | None:
        """Return the size in bytes of the file that an open would find; 0 without one, None if unknown."""
        line = [path]
        while line[-1] not in ("/", ""):
            line.append(line[-1].rpartition("/")[0] or "/")
        # A later event applies to everything below the path, even to listed files.
        noted = next((above for above in line if above in self._since), None)
        if noted is not None:
            return self._since[noted]
        seen = next((at for at, above in enumerate(line[1:]) if above in self._listed), None)
        if seen is None:
            return None
        size = self._sizes.get(line[seen], 0)
        return None if size == _FOLDER or (size and seen) else size


@dataclass
class _Pages:
    """The known content of a file.

    ``slots`` has the pages that were written; ``masks`` a bit for each known byte of those that are not known as a
    whole. Of other bytes those from ``zeros_from`` on are zero, none where it is None.
    """

    zeros_from: int | None
    slots: dict[int, int] = field(default_factory=dict)
    masks: dict[int, int] = field(default_factory=dict)
    lost: bool = False


class Shadow(NoShadow):
    """A shadow that keeps the content of files.

    Args:
        folder: for the temporary file.
        before: the files that existed.
    """

    def __init__(self, folder: Path, before: Before) -> None:
        """Start with nothing written."""
        self.cut_bytes = 0
        self._before = before
        self._file: BinaryIO = (folder / "pages").open("w+b", buffering=0)
        self._free: list[int] = []
        self._slots = 0
        self._known: dict[int, _Pages] = {}

    def close(self) -> None:
        """Let the bytes go."""
        self._file.close()

    def begin(self, file: File, path: str) -> None:
        """Begin a file that is met for the first time; takes its size where that is known."""
        size = self._before.size(path)
        self._known[file.number] = _Pages(size)
        file.size = max(file.size, size or 0)

    def begin_empty(self, file: File) -> None:
        """Begin a file that the program creates."""
        self._known[file.number] = _Pages(0)

    def append_at(self, file: File) -> None:
        """Lose a file of unknown size: its end is unknown, and so is where its pages begin in the data."""
        if self._known[file.number].zeros_from is None:
            self.lose(file)

    def page(self, number: int, page: int) -> bytes | None:
        """Return what a page of a file (by its number) holds now; None where a byte of it is unknown."""
        known = self._known[number]
        if known.lost or page in known.masks:
            return None
        slot = known.slots.get(page)
        if slot is None:
            return _ZEROS if known.zeros_from is not None and page * PAGE_BYTES >= known.zeros_from else None
        return os.pread(self._file.fileno(), PAGE_BYTES, slot * PAGE_BYTES)

    def patch(self, file: File, offset: int, length: int, data: bytes | None, page: int) -> None:
        """Take one page's part of a write."""
        base = page * PAGE_BYTES
        start, end = max(offset - base, 0), min(offset + length - base, PAGE_BYTES)
        piece = b"" if data is None else data[base + start - offset : base + end - offset]
        if data is not None:
            self.cut_bytes += end - start - len(piece)
        self._put(self._known[file.number], page, start, end, piece)

    def _put(self, known: _Pages, page: int, start: int, end: int, piece: bytes) -> None:
        """Replace bytes of a page from ``start`` to before ``end`` by ``piece``; those that it lacks are unknown."""
        if known.lost:
            return
        if len(piece) == PAGE_BYTES:
            slot = known.slots.get(page)
            if slot is None:
                slot = known.slots[page] = self._take()
            self._store(slot, 0, piece)
            known.masks.pop(page, None)
            return
        slot = self._slot(known, page)
        self._store(slot, start, piece)
        last = start + len(piece)
        mask = known.masks.get(page, _ALL)
        mask = (mask | _bits(start, last)) & ~_bits(last, end)
        if mask == _ALL:
            known.masks.pop(page, None)
        else:
            known.masks[page] = mask

    def cut(self, file: File, length: int) -> None:
        """Forget everything after the new end: none of it is known to differ from zero."""
        known = self._known[file.number]
        whole = -(-length // PAGE_BYTES)
        for page in [page for page in known.slots if page >= whole]:
            self._drop(known, page)
        if length % PAGE_BYTES and whole - 1 in known.slots:
            self._put(known, whole - 1, length % PAGE_BYTES, PAGE_BYTES, _ZEROS[length % PAGE_BYTES :])
        known.zeros_from = length if known.zeros_from is None else min(known.zeros_from, length)

    def zero(self, file: File, offset: int, length: int) -> None:
        """Zero pages that are kept or whose former content is unknown."""
        known = self._known[file.number]
        first, end = offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)
        old = range(first, min(end, -(-(known.zeros_from or 0) // PAGE_BYTES)))
        for page in {page for page in known.slots if first <= page < end} | set(old):
            base = page * PAGE_BYTES
            start, stop = max(offset - base, 0), min(offset + length - base, PAGE_BYTES)
            self._put(known, page, start, stop, _ZEROS[start:stop])

    def lose(self, file: File) -> None:
        """Lose everything that is known of a file."""
        known = self._known[file.number]
        for page in list(known.slots):
            self._drop(known, page)
        known.lost = True

    def gone(self, path: str) -> None:
        """Forget a name."""
        self._before.note(path, 0)

    def came(self, path: str) -> None:
        """Note a name that has come from elsewhere."""
        self._before.note(path, None)

    def _slot(self, known: _Pages, page: int) -> int:
        """Return the slot of a page that is about to be written in part."""
        slot = known.slots.get(page)
        if slot is None:
            slot = known.slots[page] = self._take()
            self._store(slot, 0, _ZEROS)
            zeros = None if known.zeros_from is None else max(known.zeros_from - page * PAGE_BYTES, 0)
            known.masks[page] = 0 if zeros is None else _bits(min(zeros, PAGE_BYTES), PAGE_BYTES)
        return slot

    def _take(self) -> int:
        if self._free:
            return self._free.pop()
        self._slots += 1
        return self._slots - 1

    def _drop(self, known: _Pages, page: int) -> None:
        self._free.append(known.slots.pop(page))
        known.masks.pop(page, None)

    def _store(self, slot: int, start: int, piece: bytes) -> None:
        store(self._file, piece, slot * PAGE_BYTES + start, "the files' pages")


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start)
