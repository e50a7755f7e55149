"""JSON that another tool or an earlier run wrote: parsed with care, each value with its place in the document.

``json.loads`` takes NaN, keys twice and numbers without end, and its exceptions speak of Python. Every reader of JSON
goes through here. A document is refused with its file, the place in it (a path such as
``table[3].raw.value``; line and column where it is no JSON) and what was expected there.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from floatgate.base.errors import InputError, input_error, quote

DEPTH_MAX = 100
"""Levels of a document: ours and those of drive tools have about ten."""
_WHOLE_END = 1 << 128
"""Counters of NVMe have 128 bits; no document has a larger number."""
_DIGITS_MAX = 40
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLACE_MAX = 400
_SYNTAX = {
    "Extra data": "something follows the end of the JSON",
    "Invalid control character at": "a text holds a control character or a line break",
    "Unterminated string starting at": "a text that begins here has no end",
    "Invalid \\escape": "no such escape in a text",
    "Invalid \\uXXXX escape": "an escape without four hexadecimal digits",
    "Expecting property name enclosed in double quotes": "no key in double quotes",
    "Illegal trailing comma before end of object": "a comma before the end of an object",
    "Illegal trailing comma before end of array": "a comma before the end of a list",
    "Expecting ':' delimiter": "no ':' after a key",
    "Expecting ',' delimiter": "no ',' between two values",
}
"""Messages of the standard parser in our words."""

Steps = tuple[str | int, ...]


class _Twice(dict[str, Any]):
    """An object that has a key twice."""

    key = ""


@dataclass(frozen=True)
class Node:
    """A value in a document.

    Attributes:
        value: the value; numbers are finite, texts can be encoded, and no object has a key twice.
        name: what messages call the document.
        source: what the document should be, such as ``the plan of a sweep``.
        steps: keys and indices that lead to the value.
    """

    value: Any
    name: str
    source: str
    steps: Steps = ()

    @property
    def place(self) -> str:
        """Where the value is, such as ``table[3].raw.value``; empty for the document itself."""
        return place_of(self.steps)

    def refusal(self, what: str, expected: str) -> InputError:
        """Make the error of an unusable value."""
        where = f"{self.name}: {self.place}: " if self.steps else f"{self.name}: "
        return input_error(f"{where}{what}; expected {expected}, in {self.source}")

    def refuse(self, expected: str) -> NoReturn:
        """Refuse the value because of its type or size.

        Raises:
            InputError: always.
        """
        raise self.refusal(f"is {described(self.value)}", expected)

    def __getitem__(self, key: str) -> Node:
        inner = self.table().get(key, _MISSING)
        if inner is _MISSING:
            raise self.at(key).refusal("is missing", "a value")
        return self._inner(key, inner)

    def at(self, *steps: str | int) -> Node:
        """Return a place below this one, for messages, without a look at its value."""
        return Node(None, self.name, self.source, (*self.steps, *steps))

    def get(self, key: str) -> Node | None:
        """Return the value of a key; None where it is missing or null."""
        inner = self.table().get(key)
        return None if inner is None else self._inner(key, inner)

    def _inner(self, step: str | int, value: Any) -> Node:
        return Node(value, self.name, self.source, (*self.steps, step))

    def table(self) -> dict[str, Any]:
        """Return the value as a plain object."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.value

    def items(self) -> Iterator[tuple[str, Node]]:
        """Yield keys and values of an object."""
        return ((key, self._inner(key, value)) for key, value in self.table().items())

    def elements(self) -> list[Node]:
        """Return the elements of a list."""
        if not isinstance(self.value, list):
            self.refuse("a list")
        return [self._inner(place, value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        """Return the value as a text."""
        if not isinstance(self.value, str):
            self.refuse("a text")
        return self.value

    def flag(self) -> bool:
        """Return the value as true or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def whole(self, least: int = 0, most: int = _WHOLE_END - 1) -> int:
        """Return the value as a whole number between two bounds."""
        value = self.value
        fits = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        if not fits or not least <= value <= most:
            end = "on" if most == _WHOLE_END - 1 else f"to {most}"
            self.refuse(f"a whole number from {least} {end}")
        return int(value)


_MISSING = object()


def described(value: Any) -> str:
    """Return what a value is, for messages."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"the text {quote(value)}" if isinstance(value, str) else f"the number {value}"


def place_of(steps: Steps) -> str:
    """Return keys and indices as a path: ``table[3].raw.value``; keys that are no plain words in quotes."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{quote(step)}]"
    text = text.removeprefix(".")
    return text if len(text) <= _PLACE_MAX else f"{text[:_PLACE_MAX]}..."


def load(path: str | os.PathLike[str], source: str, most_bytes: int) -> Node:
    """Read a file of JSON.

    Args:
        path: the file.
        source: what it should be, for messages: ``the plan of a sweep``.
        most_bytes: a larger file is refused.

    Raises:
        InputError: the file cannot be read or is no JSON.
    """
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            raw = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else "no such file"
        raise input_error(f"{name}: {reason}; expected {source}") from None
    if len(raw) > most_bytes:
        raise input_error(f"{name}: is larger than {most_bytes >> 20} MiB; expected {source}")
    return parse(raw, name, source)


def parse(raw: bytes, name: str, source: str, *, line: bool = False) -> Node:
    """Parse JSON in UTF-8, with or without a byte order mark.

    Args:
        raw: the text.
        name: what messages call the document.
        source: what it should be, for messages.
        line: whether the text is one line of a file, whose number ``name`` ends with: messages add the column alone.

    Raises:
        InputError: it is no JSON, or holds what no document should hold.
    """
    # An error at the end of a line is in that line, not behind its line break.
    text = _decoded(raw.rstrip(b"\r\n") if line else raw, name, source, line=line)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_constant=lambda name: float(name.lower())
        )
    except json.JSONDecodeError as error:
        raise _no_json(text, error, name, source, line=line) from None
    except RecursionError:
        raise _too_deep(text, name, source, line=line) from None
    fault = None if _is_sound(value) else _fault(value, 0)
    if fault is None:
        return Node(value, name, source)
    steps, what, expected = fault
    if expected is None:
        raise _too_deep(text, name, source, line=line)
    raise Node(None, name, source, tuple(reversed(steps))).refusal(what, expected)


def _decoded(raw: bytes, name: str, source: str, *, line: bool) -> str:
    for encoding in ("utf-16", "utf-32"):
        # Without a mark, every other byte of such a text is 0.
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw[:2]:
            try:
                known = raw.decode(encoding if b"\0" not in raw[:1] else f"{encoding}-be").lstrip("\ufeff \t\r\n")
            except UnicodeError:
                continue
            if known[:1] in ("{", "["):
                raise input_error(
                    f"{name}: is text in {encoding.upper()}; expected {source} in UTF-8: save the file in that encoding"
                )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        where = _line_and_column(before, len(before), line=line)
        raise input_error(
            f"{name}:{where}: byte 0x{error.object[error.start]:02x} is not UTF-8 text; expected {source}, in UTF-8"
        ) from None
    if not text.strip():
        raise input_error(f"{name}: is empty; expected {source}")
    return text


def _line_and_column(text: str, place: int, *, line: bool = False) -> str:
    column = place - text.rfind(chr(10), 0, place)
    return str(column) if line else f"{text.count(chr(10), 0, place) + 1}:{column}"


def _no_json(text: str, error: json.JSONDecodeError, name: str, source: str, *, line: bool) -> InputError:
    rest = text[error.pos :].lstrip()
    if not rest:
        what = "ends before its JSON is complete"
    else:
        known = next((meaning for start, meaning in _SYNTAX.items() if error.msg.startswith(start)), None)
        what = f"not JSON: {known or 'no value'} at {quote(rest[:1])}"
    return input_error(f"{name}:{_line_and_column(text, error.pos, line=line)}: {what}; expected {source}")


def _too_deep(text: str, name: str, source: str, *, line: bool) -> InputError:
    depth, in_text, place = 0, False, 0
    for match in re.finditer(r'\\.|["\[\]{}]', text):
        place, char = match.start(), match[0]
        if char == '"':
            in_text = not in_text
        elif not in_text and len(char) == 1:
            depth += 1 if char in "[{" else -1
            if depth > DEPTH_MAX:
                break
    where = _line_and_column(text, place, line=line)
    return input_error(f"{name}:{where}: is nested too deeply; expected {source}, with at most {DEPTH_MAX} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_key = dict(pairs)
    if len(by_key) == len(pairs):
        return by_key
    twice = _Twice(by_key)
    met: set[str] = set()
    twice.key = next(key for key, _ in pairs if key in met or met.add(key))  # type: ignore[func-returns-value]
    return twice


def _whole(digits: str) -> int | float:
    """Parse a whole number; one with more digits than any counter becomes infinity, which is refused with its place."""
    return int(digits) if len(digits) <= _DIGITS_MAX else math.inf


def _is_sound(document: Any) -> bool:  # noqa: C901 - calls would cost more than what they check
    """Return whether a document certainly has no fault; quick, since journals have millions of lines."""
    todo = [(document, 0)] if type(document) in (dict, list) else [([document], -1)]
    while todo:
        value, depth = todo.pop()
        if depth == DEPTH_MAX or type(value) is _Twice:
            return False
        inner = value
        if type(value) is dict:
            if not "".join(value).isascii():
                return False
            inner = value.values()
        for one in inner:
            kind = type(one)
            if kind is float:
                if not -math.inf < one < math.inf:
                    return False
            elif kind is int:
                if not -_WHOLE_END < one < _WHOLE_END:
                    return False
            elif kind is str:
                if not one.isascii():
                    return False
            elif one is not None and kind is not bool:
                todo.append((one, depth + 1))
    return True


def _fault(value: Any, depth: int) -> tuple[list[str | int], str, str | None] | None:
    """Find the first value that no document should hold: steps to it from the end, what is wrong, what was expected."""
    if isinstance(value, str):
        return None if _encodable(value) else ([], "holds half a character (a lone surrogate)", "a text")
    if isinstance(value, int | float):
        good = math.isfinite(value) if isinstance(value, float) else abs(value) < _WHOLE_END
        return None if good else ([], "is not a finite number or too large", "a number below 2^128")
    if isinstance(value, _Twice):
        return [value.key], "is there twice", "each key once"
    if isinstance(value, dict | list):
        if depth == DEPTH_MAX:
            return [], "", None
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(step, str) and not _encodable(step):
                return [], f"has the key {quote(step)} with half a character (a lone surrogate)", "keys that are text"
            fault = _fault(inner, depth + 1)
            if fault is not None:
                fault[0].append(step)
                return fault
    return None


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
