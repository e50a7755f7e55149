"""Where commands print: results on standard output, or JSON there and everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error, one_line, printable, quote
from floatgate.results.folder import must_be_new_file, write_text, written

EXPECTED_JSON = "a file for the JSON, or -"
_COMMANDS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that JSON may hold unescaped and that a terminal would take for commands."""
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Replaces bytes of a file name that are not UTF-8."""


class Output:
    """The output of a command, and where it goes.

    Args:
        json: None, ``-`` for standard output, or a file.
        quiet: whether to print only JSON and errors.
        force: whether a file for the JSON may be there already; None for commands without --force.

    Raises:
        InputError: the file for the JSON exists, or cannot be written; raised before any work is done.
    """

    def __init__(self, json: str | None, *, quiet: bool = False, force: bool | None = False) -> None:
        """Check where the JSON is to go."""
        self.quiet = quiet
        self._json = json
        if self._json is not None and self._json.startswith("--"):
            raise input_error(f"--json: {quote(self._json)} is not a file; expected --json=FILE, or --json alone")
        if self._json is not None and self._json != "-":
            must_be_new_file(self._json, EXPECTED_JSON, force=force is not False)
            if force is None and Path(self._json).is_file():
                raise input_error(f"{self._json}: exists already; expected a new file")

    @property
    def wants_json(self) -> bool:
        """Whether JSON was requested."""
        return self._json is not None

    @property
    def prints_json(self) -> bool:
        """Whether JSON takes standard output."""
        return self._json == "-"

    def draws(self, wanted: bool | None) -> bool:
        """Return whether to draw a report: as ``wanted``; by default for a reader, not for another program."""
        return self._json != "-" if wanted is None else wanted

    def say(self, text: str) -> None:
        """Print for people: on standard output, or on standard error where that belongs to the JSON."""
        if not self.quiet:
            print(printable(text), file=sys.stderr if self._json == "-" else sys.stdout)

    def give(self, value: Any) -> None:
        """Write the JSON where it was requested, if at all.

        Args:
            value: anything that JSON can hold, or the text of the JSON itself.
        """
        if self._json is None:
            return
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        text = _escaped(text.rstrip("\n") + "\n", _NO_TEXT)
        if self._json == "-":
            sys.stdout.write(_escaped(text, _COMMANDS))
        else:
            write_text(self._json, text, EXPECTED_JSON)

    @contextlib.contextmanager
    def giving(self) -> Iterator[Callable[[Iterable[Any]], None]]:
        """Write a JSON list whose entries come in parts, each of them handed to what this yields.

        Only standard output has a part of the list if the block fails.
        """
        if self._json is None:
            yield lambda _: None
            return
        with contextlib.ExitStack() as stack:
            if self._json == "-":
                yield stack.enter_context(_list_to(lambda text: sys.stdout.write(_escaped(text, _COMMANDS))))
                return
            place = stack.enter_context(written(self._json, EXPECTED_JSON))
            file = stack.enter_context(place.open("w", encoding="utf-8"))
            yield stack.enter_context(_list_to(file.write))


@contextlib.contextmanager
def _list_to(write: Callable[[str], Any]) -> Iterator[Callable[[Iterable[Any]], None]]:
    """Write a list as :meth:`Output.give` does."""
    begins = ["["]

    def add(values: Iterable[Any]) -> None:
        for value in values:
            lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
            write(_escaped("\n  ".join([begins[0], *lines]), _NO_TEXT))
            begins[0] = ","

    yield add
    write("[]\n" if begins[0] == "[" else "\n]\n")


def _escaped(text: str, what: re.Pattern[str]) -> str:
    """Write some characters of a JSON text by their numbers."""
    return what.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def written_text(out: str, format: str, report: Mapping[str, Any]) -> str:
    """Describe what a conversion has written, what the format could not hold, and what a slice left out."""
    counts = {key: count for key, count in report.items() if key not in ("requests", "slice")}
    written = ", ".join([f"{report['requests']} requests", *_counted(counts)])
    text = f"{one_line(out)}: {written} ({format})"
    if "slice" not in report:
        return text
    own = dict(report["slice"])
    kept, read = own.pop("requests_kept"), own.pop("requests_read")
    return "\n".join([text, "slice: " + ", ".join([f"{kept} of {read} requests read", *_counted(own)])])


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{count} {key.replace('_', ' ')}" for key, count in counts.items() if count]
