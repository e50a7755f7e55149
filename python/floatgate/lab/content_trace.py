"""A trace that writes measured files once: fingerprints and compressed sizes, none of their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.lab.content import Pages
from floatgate.results.folder import writing
from floatgate.trace.conversion import unwritable
from floatgate.trace.parquet_columns import write_columns
from floatgate.trace.writers import Writer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE_BYTES = 4096
REQUEST_PAGES = 32
"""Pages of a request at most: 128 KiB."""
DEVICE = "content"
_REQUESTS_PER_BATCH = 1 << 14
_NS_PER_HOUR = 3_600_000_000_000


class _Writes:
    """The requests as batches of columns: one file after another, spread evenly over the time."""

    optional = ("content",)
    devices = (DEVICE,)
    contexts: tuple[tuple[int, str], ...] = ()
    has_times = True
    writers: tuple[Writer, ...] = ()
    writer_fields: tuple[str, ...] = ()

    def __init__(self, pages: Pages, hours: float) -> None:
        import numpy as np

        self._pages = pages
        self._span_ns = hours * _NS_PER_HOUR
        self.sizes = _request_pages(np.frombuffer(pages.file_pages, dtype="u4"))

    def __iter__(self) -> Iterator[dict[str, bytes]]:
        import numpy as np

        prints = np.frombuffer(self._pages.fingerprints, dtype="u8")
        sizes = np.frombuffer(self._pages.lz4_bytes, dtype="u2")
        ends = np.cumsum(self.sizes, dtype="i8")
        requests = len(self.sizes)
        for first in range(0, requests, _REQUESTS_PER_BATCH):
            last = min(first + _REQUESTS_PER_BATCH, requests)
            pages = self.sizes[first:last]
            starts = ends[first:last] - pages
            inside = slice(int(starts[0]), int(ends[last - 1]))
            yield {
                "time_ns": (np.arange(first, last) * (self._span_ns / requests)).astype("<i8").tobytes(),
                "device": np.zeros(last - first, dtype="<u2").tobytes(),
                "op": np.ones(last - first, dtype="i1").tobytes(),
                "offset": (starts * PAGE_BYTES).astype("<u8").tobytes(),
                "bytes": (pages.astype("<u8") * PAGE_BYTES).tobytes(),
                "content_len": pages.astype("<u4").tobytes(),
                "fingerprint": prints[inside].astype("<u8").tobytes(),
                "compressed_bytes": sizes[inside].astype("<u2").tobytes(),
            }


def _request_pages(file_pages: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the pages of each request; a file's last request takes the rest."""
    import numpy as np

    held = file_pages[file_pages > 0].astype("i8")
    requests = -(-held // REQUEST_PAGES)
    pages = np.full(int(requests.sum()), REQUEST_PAGES, dtype="i8")
    pages[np.cumsum(requests) - 1] = held - (requests - 1) * REQUEST_PAGES
    return pages


def write(target: str, pages: Pages, hours: float) -> dict[str, Any]:
    """Write the trace; it appears whole or not at all.

    Args:
        target: the file to write.
        pages: the pages measured.
        hours: how long the writes take.

    Returns:
        ``file``, ``requests``, ``pages``, ``hours``.

    Raises:
        InputError: the file cannot be written.
    """
    source = _Writes(pages, hours)
    total = int(source.sizes.sum())
    content = {
        "source": "the files that floatgate content has measured, each written once",
        "fingerprint": "blake2b-8",
        "compression": "lz4",
        "pages_known": total,
        "pages_unknown": 0,
    }
    with unwritable(target), writing(Path(target)) as place:
        requests = write_columns(source, place, {"content": content})
    return {"file": target, "requests": requests, "pages": total, "hours": hours}
