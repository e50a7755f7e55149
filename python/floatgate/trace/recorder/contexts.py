"""Program contexts: which path through the program wrote a page.

The context of a write is the sum, modulo 2**64, over the frames of its stack of ``hash(module) + offset``. The offset
is that of the return address in its mapped file. The hash is the first 8 bytes (little endian) of the BLAKE2b hash of
that file's base name. So it is the same for every run of the same binaries, wherever they are loaded.
"""

from __future__ import annotations

import functools
import hashlib
import re
from typing import Any

from floatgate.trace.recorder.calls import Frame

ANONYMOUS = "[anon]"
NAME_FRAMES = 3
_MASK = (1 << 64) - 1
_LIBRARY = re.compile(r"(libc|libpthread|ld)([-.]|$)|ld-linux|\[vdso\]")


@functools.cache
def module_hash(module: str) -> int:
    """Return the part of a context that identifies a module."""
    return int.from_bytes(hashlib.blake2b(module.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")


def context_id(frames: tuple[Frame, ...]) -> int:
    """Return the context of a stack."""
    return sum(module_hash(frame.module) + frame.offset for frame in frames) & _MASK


def context_name(frames: tuple[Frame, ...]) -> str:
    """Return the first frames outside the C library, innermost first: ``pager_write < commit < main``."""
    outside = [frame for frame in frames if not _LIBRARY.match(frame.module)]
    return _plain(" < ".join(frame.symbol or _place(frame) for frame in (outside or frames)[:NAME_FRAMES]))


def _plain(text: str) -> str:
    """Make text that UTF-8 can hold: names of files and symbols may hold any bytes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _place(frame: Frame) -> str:
    return ANONYMOUS if frame.module == ANONYMOUS else f"{frame.module}+{frame.offset:#x}"


def relative_frame(module: str, offset: int, symbol: str) -> Frame:
    """Return a frame by its module's path; a module without a file has no lasting address."""
    base = module.rstrip("/").rpartition("/")[2]
    if not base or module.startswith("//anon") or base in ("[unknown]", "[heap]", "[stack]", "inlined"):
        return Frame(ANONYMOUS, 0, symbol)
    return Frame(base.removesuffix(" (deleted)"), offset, symbol)


class ContextTable:
    """The contexts met so far, and the stack of each."""

    def __init__(self) -> None:
        """Start with none."""
        self._ids: dict[tuple[Frame, ...], int] = {}
        self._frames: dict[int, tuple[Frame, ...]] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def intern(self, frames: tuple[Frame, ...] | None) -> int | None:
        """Return the context of a stack; None where there is no stack."""
        if not frames:
            return None
        known = self._ids.get(frames)
        if known is None:
            known = self._ids[frames] = context_id(frames)
            self._frames.setdefault(known, frames)
        return known

    def name(self, context: int) -> str:
        """Return the name of a context."""
        return context_name(self._frames[context])

    def described(self, used: set[int] | None = None) -> dict[str, Any]:
        """Return the trace's metadata of contexts: by the context in decimal, its name and frames.

        Args:
            used: the contexts to list, or None for all. Many never reach the drive: another write of the page, or the
                end of the file, comes before the write-back.
        """
        return {
            str(context): {
                "name": context_name(frames),
                "frames": [_plain(f"{_place(frame)} {frame.symbol}".rstrip()) for frame in frames],
            }
            for context, frames in sorted(self._frames.items())
            if used is None or context in used
        }
