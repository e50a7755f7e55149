"""Exports of a live drive: ranges with names and placement handles."""

from __future__ import annotations

import re

from floatgate.base import numbers
from floatgate.base.errors import input_error, quote

REST = "rest"
"""In place of a size: what the other exports leave."""
HANDLES_MAX = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXPECTED = "expected NAME=SIZE or NAME=SIZE:HANDLE, such as data=rest:0,wal=2GiB:1"
BLOCK = 4096
"""Bytes of which the size of an export is a multiple: file systems expect it."""

Export = tuple[str, int, int]
"""Name, bytes (0 for the rest), handle."""


def parsed(text: str | None) -> list[Export]:
    """Read exports.

    Args:
        text: such as ``data=rest:0,wal=2GiB:1``; None for the whole drive as one.

    Returns:
        Name, bytes and handle of each, in the order in which they lie on the drive; 0 bytes stand for the rest.

    Raises:
        InputError: one of them cannot be understood.
    """
    return [] if text is None else [_export(one.strip()) for one in text.split(",")]


def _export(text: str) -> Export:
    name, equals, rest = text.partition("=")
    size, _, handle = rest.partition(":")
    if not equals or not _NAME.fullmatch(name):
        raise input_error(f"--exports: {quote(text)} is no export; {_EXPECTED}")
    if handle and not (handle.isdecimal() and int(handle) < HANDLES_MAX):
        raise input_error(f"--exports: {quote(handle)} is no placement handle; expected 0 to {HANDLES_MAX - 1}")
    return name, 0 if size == REST else _bytes(size), int(handle or 0)


def _bytes(text: str) -> int:
    size = numbers.size(text)
    if size is None:
        raise input_error(f"--exports: {quote(text)} is no size; {_EXPECTED}")
    size -= size % BLOCK
    if size == 0:
        raise input_error(f"--exports: {quote(text)} is less than a block of {BLOCK} bytes; {_EXPECTED}")
    return size
