"""The page cache between a program and the drive: write-back, least recently used.

A write dirties pages; the context and the writer of a page (process, thread, descriptor) are those of its last write.
Under ``linux``, which is Linux in outline, pages reach the drive

- at ``fsync`` and its like: the dirty pages of the file (or range), in the order of the file;
- at a wakeup of the flusher, which comes every 5 s, or every flush interval where that is shorter. All dirty pages go
  of every file whose oldest dirty page is at least the flush interval old; the longest waiting file goes first;
- when more than the dirty ratio of the capacity is dirty: from the page dirty for longest on, down to half of that;
- when the cache is full and the least recently used page is dirty: that page;
- at once, where the descriptor is synchronous (``O_SYNC``, ``O_DSYNC``) or direct (``O_DIRECT``, which leaves no page
  in the cache).

Under ``lru``, evictions alone write: the least recently used page leaves when the cache is full, and goes to the drive
if it is dirty. There is no flusher, no limit of dirt, and ``fsync`` and synchronous descriptors write nothing; only
direct writes pass by the cache. What is dirty at the end stays in the cache. This is how the dissertation made its
traces: calls recorded by strace, then an LRU-based page-cache simulator (section 6.3), of which it names no other rule.

Pages that follow each other on the drive, of one file, one context and one writer, go as one request of at most
512 KiB. What is deleted or truncated while dirty never reaches the drive; what the drive holds of it is trimmed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import NamedTuple

from floatgate.trace.recorder.layout import PAGE_BYTES, File, Layout

READ, WRITE, TRIM = 0, 1, 2
LINUX, LRU = "linux", "lru"
WRITEBACKS = (LINUX, LRU)
MAX_REQUEST_PAGES = (512 << 10) // PAGE_BYTES
_SECOND = 1_000_000_000
_NEVER = (1 << 62) // PAGE_BYTES


class Writer(NamedTuple):
    """The last writer of a page: process, thread and descriptor, by their numbers."""

    process: int
    thread: int
    fd: int


class Request(NamedTuple):
    """A block request: ``pages`` pages of the drive from ``lpn`` on, of ``file`` from ``file_page`` on."""

    time_ns: int
    op: int
    lpn: int
    pages: int
    context: int | None
    file: int
    file_page: int
    writer: Writer | None = None


_Author = tuple[int | None, Writer | None]
"""The context and the writer of a page."""


def _nobody(_lpn: int) -> _Author:
    return None, None


@dataclass(frozen=True)
class CacheModel:
    """The parameters of the model; ``lru`` uses the size alone."""

    cache_mb: float = 1024.0
    dirty_ratio: float = 0.2
    flush_interval_s: float = 30.0
    wakeup_s: float = 5.0
    writeback: str = LINUX

    @property
    def capacity_pages(self) -> int:
        """Pages in the cache at most."""
        return max(1, int(self.cache_mb * (1 << 20)) // PAGE_BYTES)

    @property
    def dirty_pages(self) -> int:
        """Dirty pages at most."""
        return max(1, int(self.capacity_pages * self.dirty_ratio))

    def to_dict(self) -> dict[str, float | str]:
        """Return it for the trace's metadata."""
        if self.writeback == LRU:
            return {"writeback": LRU, "cache_mb": self.cache_mb}
        return {**asdict(self), "wakeup_s": min(self.wakeup_s, self.flush_interval_s)}


class PageCache:
    """The model of the page cache: operations on files in, block requests out.

    Times must not run backwards. ``pages`` and ``updates`` count, by context, the pages written to the drive and those
    of them that replaced data; an update counts for the context that had written the replaced data.

    Args:
        layout: places files on the drive.
        model: the parameters.
        emit: takes the requests.
    """

    def __init__(self, layout: Layout, model: CacheModel, emit: Callable[[Request], None]) -> None:
        """Start with an empty cache and an empty drive."""
        self.pages: Counter[int | None] = Counter()
        self.updates: Counter[int | None] = Counter()
        self._layout = layout
        self._emit = emit
        self._evicts_only = model.writeback == LRU
        self._capacity = model.capacity_pages
        self._dirty_limit = model.capacity_pages if self._evicts_only else model.dirty_pages
        self._interval = int(model.flush_interval_s * _SECOND)
        self._wakeup = max(1, int(min(model.wakeup_s, model.flush_interval_s) * _SECOND))
        self._next_wakeup: int | None = None
        self._cached: OrderedDict[int, None] = OrderedDict()
        self._dirty: dict[int, int] = {}  # page -> dirty since, oldest first
        self._authors: dict[int, _Author] = {}  # of dirty pages
        self._on_drive: dict[int, int | None] = {}  # page -> context that wrote it

    @property
    def dirty_pages(self) -> int:
        """Pages that are dirty now."""
        return len(self._dirty)

    def advance(self, now: int) -> None:
        """Run the flusher up to ``now``."""
        if self._evicts_only:
            return
        if self._next_wakeup is None:
            self._next_wakeup = now + self._wakeup
        while self._next_wakeup <= now:
            if not self._dirty:
                missed = (now - self._next_wakeup) // self._wakeup + 1
                self._next_wakeup += missed * self._wakeup
                return
            self._flush_expired(self._next_wakeup)
            self._next_wakeup += self._wakeup

    def write(
        self,
        now: int,
        file: File,
        offset: int,
        length: int,
        context: int | None,
        *,
        sync: bool,
        direct: bool,
        patch: Callable[[int], None] | None = None,
        writer: Writer | None = None,
    ) -> None:
        """Write bytes of a file; calls ``patch`` with each page of the file before its new data can be flushed.

        Pages that the write has not reached yet are flushed with their old data.
        """
        self.advance(now)
        sync = sync and not self._evicts_only
        author = (context, writer)
        first, end = offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)
        touched = []
        for page in range(first, end):
            lpn = self._layout.place(file, page)
            if sync or direct:
                touched.append(lpn)
            if patch is not None:
                patch(page)
            self._dirty.setdefault(lpn, now)
            self._authors[lpn] = author
            self._touch(now, lpn)
            if not (sync or direct) and len(self._dirty) > self._dirty_limit:
                self._write_oldest(now)
        if touched:
            self._write_back(now, [lpn for lpn in touched if lpn in self._dirty])
        if direct:
            for lpn in touched:
                self._cached.pop(lpn, None)

    def read(self, now: int, file: File, offset: int, length: int) -> None:
        """Read bytes of a file: pages that are not in the cache are read from the drive."""
        self.advance(now)
        missing = []
        for page in range(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)):
            lpn = self._layout.place(file, page)
            if lpn not in self._cached:
                missing.append(lpn)
            self._touch(now, lpn)
        self._send(now, READ, missing, _nobody)

    def sync(self, now: int, file: File, first: int = 0, end: int | None = None) -> None:
        """Write out the file's dirty pages from ``first`` to before ``end``; nothing where evictions alone write."""
        if self._evicts_only:
            return
        self.advance(now)
        self._write_back(now, [lpn for lpn in self._layout.pages_of(file, first, end) if lpn in self._dirty])

    def sync_all(self, now: int) -> None:
        """Write out everything; nothing where evictions alone write."""
        if self._evicts_only:
            return
        self.advance(now)
        self._write_back(now, self._by_file(self._dirty))

    def discard(self, now: int, file: File, first: int, end: int | None = None) -> None:
        """Forget the file's pages from ``first`` to before ``end``, and trim those that the drive holds.

        Without ``end`` their extents are freed too.
        """
        self.advance(now)
        trimmed = []
        for lpn in self._layout.pages_of(file, first, end):
            self._cached.pop(lpn, None)
            self._dirty.pop(lpn, None)
            self._authors.pop(lpn, None)
            if lpn in self._on_drive:
                del self._on_drive[lpn]
                trimmed.append(lpn)
        self._send(now, TRIM, trimmed, _nobody, limit=_NEVER)
        if end is None:
            self._layout.release(file, first)

    def finish(self, now: int) -> None:
        """Run the flusher, if any, until no page is dirty; called when the program has ended."""
        if self._evicts_only:
            return
        self.advance(now)
        while self._dirty and self._next_wakeup is not None:
            self.advance(self._next_wakeup)

    def _touch(self, now: int, lpn: int) -> None:
        self._cached[lpn] = None
        self._cached.move_to_end(lpn)
        while len(self._cached) > self._capacity:
            oldest = next(iter(self._cached))
            if oldest in self._dirty:
                self._write_back(now, [oldest])
            del self._cached[oldest]

    def _flush_expired(self, now: int) -> None:
        files: dict[File, None] = {}
        for lpn, since in self._dirty.items():
            if now - since < self._interval:
                break
            files[self._layout.owner(lpn)[0]] = None
        for file in files:
            self._write_back(now, [lpn for lpn in self._layout.pages_of(file, 0) if lpn in self._dirty])

    def _write_oldest(self, now: int) -> None:
        """Write pages, the longest dirty first, until half of the limit is left; file by file."""
        excess = len(self._dirty) - self._dirty_limit // 2
        oldest = [lpn for lpn, _ in zip(self._dirty, range(excess), strict=False)]
        self._write_back(now, self._by_file(oldest))

    def _by_file(self, pages: Iterable[int]) -> list[int]:
        """Group pages by file in the order of first mention, in each file in its order."""
        files: dict[File, list[tuple[int, int]]] = {}
        for lpn in pages:
            file, page = self._layout.owner(lpn)
            files.setdefault(file, []).append((page, lpn))
        return [lpn for members in files.values() for _, lpn in sorted(members)]

    def _write_back(self, now: int, pages: list[int]) -> None:
        self._send(now, WRITE, pages, self._authors.__getitem__)
        for lpn in pages:
            context, _ = self._authors.pop(lpn)
            del self._dirty[lpn]
            self.pages[context] += 1
            if lpn in self._on_drive:
                self.updates[self._on_drive[lpn]] += 1
            self._on_drive[lpn] = context

    def _send(
        self,
        now: int,
        op: int,
        pages: list[int],
        author_of: Callable[[int], _Author],
        limit: int = MAX_REQUEST_PAGES,
    ) -> None:
        """Emit runs of pages that follow each other, in the order given."""
        start = 0
        while start < len(pages):
            first, author = pages[start], author_of(pages[start])
            file, file_page = self._layout.owner(first)
            length = 1
            while (
                start + length < len(pages)
                and length < limit
                and pages[start + length] == first + length
                and author_of(first + length) == author
                and self._layout.owner(first + length)[0] is file
            ):
                length += 1
            context, writer = author
            self._emit(Request(now, op, first, length, context, file.number, file_page, writer))
            start += length
