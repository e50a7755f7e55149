"""Where files lie on the logical drive.

The drive is cut into extents of 1 MiB. A file gets an extent when one of the extent's pages is first touched, the
lowest that is free; an extent that a deletion or truncation freed is used again. A page keeps its place as long as its
extent belongs to the file.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

PAGE_BYTES = 4096
EXTENT_PAGES = 256


@dataclass(eq=False)
class File:
    """A regular file that the program works on.

    Attributes:
        number: counts the files in the order they were met.
        names: its paths; none once it is deleted.
        last_name: a path it has or had.
        size: as far as the calls tell; a file that was there before starts at 0 until a seek to its end says more.
        opens: open file descriptions that refer to it.
        extents: by extent of the file, the extent of the drive.
    """

    number: int
    names: set[str]
    last_name: str
    size: int = 0
    opens: int = 0
    extents: dict[int, int] = field(default_factory=dict)


class Layout:
    """The allocator of extents."""

    def __init__(self) -> None:
        """Start with an empty drive."""
        self._free: list[int] = []
        self._owners: list[tuple[File, int] | None] = []

    @property
    def pages(self) -> int:
        """Pages of the drive that were ever handed out."""
        return len(self._owners) * EXTENT_PAGES

    def place(self, file: File, page: int) -> int:
        """Return the page of the drive that holds a page of a file."""
        index, within = divmod(page, EXTENT_PAGES)
        extent = file.extents.get(index)
        if extent is None:
            extent = file.extents[index] = self._take(file, index)
        return extent * EXTENT_PAGES + within

    def find(self, file: File, page: int) -> int | None:
        """Return the same, or None where the file has no extent there."""
        index, within = divmod(page, EXTENT_PAGES)
        extent = file.extents.get(index)
        return None if extent is None else extent * EXTENT_PAGES + within

    def owner(self, lpn: int) -> tuple[File, int]:
        """Return the file and its page that a page of the drive holds."""
        extent, within = divmod(lpn, EXTENT_PAGES)
        owner = self._owners[extent]
        if owner is None:
            raise LookupError(f"page {lpn} belongs to no file")
        return owner[0], owner[1] * EXTENT_PAGES + within

    def pages_of(self, file: File, first: int, end: int | None = None) -> Iterator[int]:
        """Yield the drive's pages of the file's pages from ``first`` to before ``end``, in the order of the file."""
        for index in sorted(file.extents):
            start = index * EXTENT_PAGES
            low, high = max(first - start, 0), EXTENT_PAGES if end is None else min(end - start, EXTENT_PAGES)
            base = file.extents[index] * EXTENT_PAGES
            yield from range(base + low, base + high)

    def release(self, file: File, first: int) -> None:
        """Free the file's extents that begin at or after page ``first``."""
        for index in [index for index in file.extents if index * EXTENT_PAGES >= first]:
            extent = file.extents.pop(index)
            self._owners[extent] = None
            heapq.heappush(self._free, extent)

    def _take(self, file: File, index: int) -> int:
        if self._free:
            extent = heapq.heappop(self._free)
            self._owners[extent] = (file, index)
            return extent
        self._owners.append((file, index))
        return len(self._owners) - 1
