"""Converts lines of ``strace`` with any of its prefixes to the one that the parser knows: thread, seconds, call.

Known are ``[pid N]`` or a bare number for the thread (``-f``), and as time seconds since 1970 (``-ttt``), the time of
day (``-t``, ``-tt``) or the time since the line before (``-r``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_PREFIX = re.compile(
    r"(?:\[pid\s+(?P<bracket>\d+)\]\s+|(?P<bare>\d+)\s+)?"
    r"(?:(?P<seconds>\d+)\.(?P<fraction>\d{1,9})\s+|(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:\.(?P<part>\d{1,9}))?\s+)?"
    r"(?P<rest>\D.*)",
    re.DOTALL,
)
_KNOWN = re.compile(r"\w+\(|<\.\.\. |\+\+\+ |--- ")
_NOISE = re.compile(r"strace: (?:Process \d+ (?:attached|detached|suspended)|\[ )")
_SECOND = 1_000_000_000
_DAY_NS = 86_400 * _SECOND


class Stamps:
    """A converter of the lines of one text; ``has_times`` is known after the first lines."""

    def __init__(self) -> None:
        """Start with no stamp known."""
        self.has_times = True
        self._kind: str | None = None
        self._latest = 0
        self._days = 0

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines with one kind of prefix; stacks as they are."""
        for line in lines:
            if line.startswith(" > "):
                yield line
                continue
            text = line.strip()
            if not text or _NOISE.match(text):
                continue
            match = _PREFIX.fullmatch(text)
            if match is None:
                yield line
                continue
            if not _KNOWN.match(match["rest"]):
                # Unchanged: the message about it quotes the line as it stands.
                yield line
                continue
            stamp = self._stamp(match)
            thread = match["bracket"] or match["bare"] or "1"
            yield f"{thread} {stamp // _SECOND}.{stamp % _SECOND:09d} {match['rest']}\n"

    def _stamp(self, match: re.Match[str]) -> int:
        """Parse nanoseconds; without any stamp use the number of the line, which keeps the order."""
        if match["seconds"] is not None:
            value = int(match["seconds"]) * _SECOND + int(match["fraction"].ljust(9, "0"))
            if self._kind is None:
                self._kind = "since" if value == 0 else "epoch"
            self._latest = self._latest + value if self._kind == "since" else value
        elif match["h"] is not None:
            self._kind = "day"
            clock = (int(match["h"]) * 60 + int(match["m"])) * 60 + int(match["s"])
            value = self._days + clock * _SECOND + int((match["part"] or "0").ljust(9, "0"))
            if value < self._latest - _DAY_NS // 2:
                self._days += _DAY_NS
                value += _DAY_NS
            self._latest = value
        else:
            if self._kind is None:
                self.has_times = False
            self._latest += 1
        return self._latest
