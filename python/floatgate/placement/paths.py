"""Patterns of paths: what file names have in common when their numbers and temporary parts are left out.

The rule (:func:`fold`), by the last component of a path, its name:

1. A name that ends in an *extension* (a dot, a letter, then up to 15 letters, digits, ``_`` or ``-`` with no three
   digits in a row) becomes ``*.EXTENSION``, in whatever folder it lies: ``*.o``, ``*.sst``, ``*.db-journal``.
2. Any other name is folded, and has its folder in front: ``pg_wal/*``, ``db/MANIFEST-*``. If that folder's name has no
   letter, so has the one above: ``base/16384/*``. The numbers of folders stay as they are.
3. To fold is to replace by ``*``, in this order:
   - what follows ``tmp`` or ``temp`` (and one ``.``, ``_`` or ``-``). It has at least four letters, digits or ``_``,
     one of them a digit or a capital, or exactly eight of those that ``tempfile`` uses.
   - runs of at least eight hexadecimal digits with a decimal digit among them.
   - runs of digits.
   In folders only the first of the three applies. Stars in a row become one.

A pattern of n components is matched with the last n components of a path; one that begins with ``/`` is a whole path.
``*`` stands for any characters but ``/``, ``?`` for one, ``[x]`` for x. Of the patterns of a table the first that
matches counts; :func:`in_order` puts extensions first, then patterns of more components, then those with more
characters other than stars. The preloadable library (``preload/hints.c``) follows the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_EXTENSION = re.compile(r".*\.([A-Za-z](?:(?!\d{3})[A-Za-z0-9_-]){0,15})", re.DOTALL)
_TEMPORARY = re.compile(
    r"(?<![A-Za-z])(te?mp[._-]?)(?:(?=[A-Za-z0-9_]*[A-Z0-9])[A-Za-z0-9_]{4,}|[a-z0-9_]{8}(?![A-Za-z0-9_]))"
)
_HEXADECIMAL = re.compile(r"(?<![0-9A-Za-z])(?=[0-9A-Fa-f]*[0-9])[0-9A-Fa-f]{8,}(?![0-9A-Za-z])")
_DIGITS = re.compile(r"\d+", re.ASCII)
_STARS = re.compile(r"\*{2,}")
_SPECIAL = re.compile(r"[*?\[]")
_STAR = "\0"
"""Replaces ``*`` until the special characters of the name itself are escaped; no path has it."""


def fold(path: str) -> str:
    """Return the pattern of a path."""
    *folders, name = [part for part in path.split("/") if part] or [""]
    extension = _EXTENSION.fullmatch(name)
    if extension is not None:
        return "*." + extension[1]
    kept: list[str] = []
    for folder in reversed(folders):
        kept.insert(0, folder)
        if any(char.isalpha() for char in folder):
            break
    return "/".join([*(_plain(_without_temporary(folder)) for folder in kept), _plain(_folded(name))])


def _folded(name: str) -> str:
    name = _without_temporary(name)
    return _DIGITS.sub(_STAR, _HEXADECIMAL.sub(_STAR, name))


def _without_temporary(name: str) -> str:
    return _TEMPORARY.sub(lambda match: match[1] + _STAR, name)


def _plain(name: str) -> str:
    return _STARS.sub("*", literal(name).replace(_STAR, "*"))


def literal(text: str) -> str:
    """Return the pattern that only this text matches; characters that break lines become ``?``."""
    return re.sub(r"[\r\n]", "?", _SPECIAL.sub(lambda match: f"[{match[0]}]", text))


def in_order(patterns: Iterable[str]) -> list[str]:
    """Return the patterns in the order in which they are tried, each once."""

    def rank(pattern: str) -> tuple[bool, int, int, str]:
        stars = len(re.findall(r"(?<!\[)\*", pattern))
        return not pattern.startswith("*."), -len(pattern.split("/")), stars - len(pattern), pattern

    return sorted(set(patterns), key=rank)


def expression(pattern: str) -> str:
    """Return the regular expression of a pattern, for ``fullmatch`` with a whole path."""
    parts = re.findall(r"\[.\]|.", pattern, re.DOTALL)
    special = {"*": "[^/]*", "?": "[^/]"}
    body = "".join(special.get(part, re.escape(part[1] if len(part) > 1 else part)) for part in parts)
    return body if pattern.startswith("/") else f"(?:.*/)?{body}"


class Matcher:
    """A matcher of paths against patterns in order."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Take ``patterns`` in the order in which they are tried."""
        self._tried = [(number, re.compile(expression(pattern), re.DOTALL)) for number, pattern in enumerate(patterns)]

    def first(self, path: str) -> int | None:
        """Return the number of the pattern; None if none matches."""
        return next((number for number, tried in self._tried if tried.fullmatch(path)), None)
