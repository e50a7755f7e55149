"""The data of a write call, as strace prints it with a generous ``-s``: quoted strings, alone or in an array of iovecs.

Strings are C literals with the shortest octal escapes: one to four characters per byte, where ``-xx`` takes four.
A string longer than the limit ends in ``...``; the rest of the call's data is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LIMIT = 16 << 20
"""Bytes of a string that strace may print. It reserves five times as much, and touches what it uses."""
_IOVEC = re.compile(r"\{iov_base=(.*), iov_len=(\d+)\}", re.DOTALL)


def written(name: str, arguments: list[str], length: int, split: Callable[[str], list[str]]) -> bytes | None:
    """Return the bytes that a call wrote, from the first on.

    Args:
        name: the system call.
        arguments: its arguments as printed.
        length: bytes that it wrote.
        split: cuts a list at its commas.

    Returns:
        All that are known, at most ``length``; None if the data came from a descriptor.
    """
    if name in ("write", "pwrite64"):
        data, whole = _string(arguments[1])
        if data is None or (whole and len(data) != int(arguments[2], 0)):
            return None
        return data[:length]
    if name in ("writev", "pwritev", "pwritev2"):
        return _gathered(arguments[1], length, split)
    return None


def _gathered(text: str, length: int, split: Callable[[str], list[str]]) -> bytes | None:
    if not (text.startswith("[") and text.endswith("]")):
        return None
    parts: list[bytes] = []
    have = 0
    for element in split(text[1:-1]):
        match = _IOVEC.fullmatch(element)
        if match is None:
            break
        size = int(match[2])
        data, whole = _string(match[1])
        if size == 0:
            continue
        if data is None or (whole and len(data) != size):
            break
        parts.append(data)
        have += len(data)
        if not whole or have >= length:
            break
    return b"".join(parts)[:length]


def _string(text: str) -> tuple[bytes | None, bool]:
    """Return the bytes of a literal, and whether it is whole; no bytes for other values (an address, NULL)."""
    whole = not text.endswith('"...')
    inner = text if whole else text[:-3]
    if len(inner) < 2 or inner[0] != '"' or inner[-1] != '"':
        return None, True
    try:
        return inner[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1"), whole
    except (ValueError, Warning):  # an escape that C does not have; a warning where those are errors
        return None, True
