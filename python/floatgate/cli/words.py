"""The words of a command line, read as the argument parser reads them: options with their values, and arguments.

Two things need them before the parser does: the optional file of ``--json``, and completion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Word:
    """A word of a command line.

    Attributes:
        text: as it was typed.
        option: the name of the option that the word is or belongs to; empty for arguments.
        is_value: whether it is a value of that option.
    """

    text: str
    option: str = ""
    is_value: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument of the command."""
        return not self.option


def arity(params: Sequence[Any]) -> dict[str, int]:
    """Return how many words follow each name of an option; 0 for flags."""
    named: dict[str, int] = {}
    for param in params:
        if param.param_type_name == "option":
            takes = 0 if param.is_flag or param.count else param.nargs
            named |= dict.fromkeys([*param.opts, *param.secondary_opts], takes)
    return named


def split(arguments: Sequence[str], named: dict[str, int]) -> Iterator[Word]:
    """Yield the words of a command with their meanings; behind ``--`` all words but that are arguments.

    Args:
        arguments: the words behind the command's name.
        named: how many words follow each option, see :func:`arity`.
    """
    rest = list(arguments)
    while rest:
        text = rest.pop(0)
        if text == "--":
            yield Word(text, "--")
            yield from map(Word, rest)
            return
        option, values = _option(text, named)
        yield Word(text, option)
        for _ in range(min(values, len(rest))):
            yield Word(rest.pop(0), option, is_value=True)


def _option(text: str, named: dict[str, int]) -> tuple[str, int]:
    """Return the option that a word names, empty for arguments, and how many of the next words are its values."""
    if len(text) < 2 or not text.startswith("-"):
        return "", 0
    name, equals, _ = text.partition("=")
    if text.startswith("--") or name in named:
        return name, max(0, named.get(name, 0) - bool(equals))
    for place, letter in enumerate(text[1:], 2):
        values = named.get(f"-{letter}", 0)
        if values:
            return f"-{letter}", values - (place < len(text))
    return text[:2], 0
