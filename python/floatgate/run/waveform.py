"""The capture of Ready/Busy pins that a timed run may write (``docs/rb-explorer.md``)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from floatgate.base.errors import input_error, quote
from floatgate.results.folder import must_be_new_file
from floatgate.results.timeline import moment

_NS_PER_S = 1e9
_END_NS = 2**64 - 1
_DIE_MAX = 2**32 - 1
_FORMATS = (".vcd", ".csv")


@dataclass(frozen=True)
class Waveform:
    """The settings of a capture.

    Attributes:
        path: the file; its name ends in ``.vcd`` or ``.csv``.
        die: number of the die, the channel as the lowest part; None for all.
        from_s: seconds after the first counted request at which the capture begins.
        until_s: seconds at which it ends; None for the end of the run.
    """

    path: str | os.PathLike[str]
    die: int | None = 0
    from_s: float = 0.0
    until_s: float | None = None

    def arguments(self) -> tuple[str, bool, int | None, int, int]:
        """Return the same for the core.

        Raises:
            InputError: no such format, no such die, or an end that is not behind the beginning.
        """
        path = os.fspath(self.path)
        suffix = Path(path).suffix.lower()
        if suffix not in _FORMATS:
            raise input_error(f"--waveform: {quote(path)} has no format; expected a name that ends in .vcd or .csv")
        if self.die is not None and not 0 <= self.die <= _DIE_MAX:
            raise input_error(f"--die: {self.die} is not a die; expected a number from 0 on, or all")
        if not (self.from_s >= 0 and (self.until_s is None or self.from_s < self.until_s)):
            raise input_error("--until: the capture ends before it begins; expected an end behind --from")
        until_ns = _END_NS if self.until_s is None else min(round(self.until_s * _NS_PER_S), _END_NS)
        return path, suffix == ".csv", self.die, min(round(self.from_s * _NS_PER_S), _END_NS - 1), until_ns


def pins_of(path: str | None, die: str | None, from_: str | None, until: str | None, *, force: bool) -> Waveform | None:
    """Return the capture that the options of a command describe.

    Raises:
        InputError: an option is invalid, the file exists, or an option applies to a file that is not named.
    """
    if path is None:
        for name, value in (("--die", die), ("--from", from_), ("--until", until)):
            if value is not None:
                raise input_error(f"{name}: no waveform is written; expected it with --waveform FILE")
        return None
    must_be_new_file(path, "a file for the waveform", force=force)
    number: int | None = 0
    if die is not None:
        if die != "all" and not (die.isascii() and die.isdigit() and len(die) < 10):
            raise input_error(f"--die: {quote(die)} is not a die; expected a number from 0 on, or all")
        number = None if die == "all" else int(die)
    from_s = 0.0 if from_ is None else moment("--from", from_)
    until_s = None if until is None else moment("--until", until)
    waveform = Waveform(path, number, from_s, until_s)
    waveform.arguments()
    return waveform
