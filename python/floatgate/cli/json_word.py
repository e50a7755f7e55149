"""The one meaning of ``--json``, in every command.

Bare ``--json`` prints JSON on standard output. The next word is its file only if it is ``-`` or ends in ``.json``;
``--json=FILE`` takes any name.

Earlier builds took any next word as the file in some commands. A word is still the file where the command has no place
for it as an argument: it has all its arguments, or the next one is an optional file of another extension, as
EXPERIMENT.toml. In :data:`MANY`, a word without blanks that names nothing on disk is, too; this is a guess, and a note
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.cli import words

OPTION = "--json"
STDOUT = "-"
MANY = frozenset({"query", "ls", "counters", "measure", "multi-page"})
"""Commands of any number of arguments whose ``--json`` took any word."""


@dataclass(frozen=True)
class Line:
    """The arguments of a command.

    Attributes:
        arguments: each ``--json`` names its file: ``--json=-`` or ``--json=FILE``.
        guesses: files that might be meant otherwise.
    """

    arguments: list[str]
    guesses: tuple[str, ...] = ()


def with_values(command: Any, arguments: Sequence[str]) -> Line:
    """Return the arguments of a command with the file of each ``--json``.

    Args:
        command: as the argument parser has it.
        arguments: the words behind its name.
    """
    named = words.arity(command.params)
    if OPTION not in named:
        return Line(list(arguments))
    line = list(words.split(arguments, named | {OPTION: 0}))
    written: list[str] = []
    guesses: list[str] = []
    place = 0
    while place < len(line):
        word, place = line[place], place + 1
        if word.text != OPTION or word.is_value or word.is_argument:
            written.append(word.text)
            continue
        following = line[place] if place < len(line) else None
        if following is not None and following.is_argument and _is_file(command, line, place):
            place += 1
            written.append(f"{OPTION}={following.text}")
            if command.name in MANY and not _is_named_so(following.text):
                guesses.append(following.text)
        else:
            written.append(f"{OPTION}={STDOUT}")
    return Line(written, tuple(guesses))


def _is_named_so(text: str) -> bool:
    """Return whether a word names a file of JSON in every command."""
    return text == STDOUT or text.endswith(".json")


def _is_file(command: Any, line: Sequence[words.Word], place: int) -> bool:
    """Return whether a word behind ``--json`` is its file."""
    text = line[place].text
    if _is_named_so(text):
        return True
    before = sum(word.is_argument for word in line[:place])
    others = before + sum(word.is_argument for word in line[place + 1 :])
    slots = [param for param in command.params if param.param_type_name == "argument"]
    if any(param.nargs == -1 for param in slots):
        return command.name in MANY and not _names_something(text)
    if others >= len(slots):
        return True
    slot = slots[min(before, len(slots) - 1)]
    extension = Path(slot.metavar or "").suffix
    return not slot.required and bool(extension) and not text.endswith(extension)


def _names_something(text: str) -> bool:
    """Return whether a word may be an argument: a query, or something on disk."""
    try:
        return any(map(str.isspace, text)) or Path(text).exists()
    except (OSError, ValueError):
        return False
