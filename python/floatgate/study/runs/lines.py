"""A file of lines of JSON that one process appends to: journals, and proposals of a search.

A reader sees a line whole or not at all. A killed process or a full disk may leave half a line at the end; it is cut
off when the file is opened to go on.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from floatgate.base.errors import InputError, input_error

_LINE_MAX = 1 << 20
"""Most bytes of a line: ours have some ten thousand."""
Take = Callable[[bytes, str, int], None]
"""Called with each complete line, its ``PATH:LINE`` and its offset."""
Fault = Callable[[OSError], InputError]
"""The error of a file that cannot be read or written."""


class Lines:
    """The file, open for more lines."""

    def __init__(self, path: Path, what: str, take: Take, fault: Fault, *, read_only: bool = False) -> None:
        """Read the lines that are there; each is ``what`` in messages. With ``read_only`` nothing is made or cut off.

        Raises:
            InputError: the file cannot be read or written, or ``take`` refuses a line.
        """
        self._fault, self._descriptor, self._end = fault, -1, 0
        try:
            how = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._descriptor = os.open(path, how, 0o666)
            self._read(path, what, take)
            if not read_only:
                os.ftruncate(self._descriptor, self._end)
        except OSError as error:
            self.close()
            raise fault(error) from None
        except BaseException:
            self.close()
            raise

    def _read(self, path: Path, what: str, take: Take) -> None:
        with path.open("rb") as file:
            for number in itertools.count(1):
                line, where = file.readline(_LINE_MAX), f"{path}:{number}"
                if not line.endswith(b"\n"):
                    if len(line) == _LINE_MAX:
                        raise input_error(f"{where}: has more than {_LINE_MAX >> 20} MiB; expected {what}")
                    return
                take(line, where, self._end)
                self._end += len(line)

    def add(self, entry: Mapping[str, Any]) -> int:
        """Append a line, and return its offset.

        Raises:
            InputError: there is no room.
        """
        left = line = json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise self._fault(error) from None
        self._end += len(line)
        return self._end - len(line)

    def close(self) -> None:
        """Close the file; once is enough."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
