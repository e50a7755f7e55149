"""The two errors that callers see, each with its exit status.

The core raises them with a message of the form ``PATH:LINE[:COLUMN]: what is wrong; what was expected``; the command
line prints that as the first line on standard error after ``error: `` and exits with the error's status.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator, Sequence

from floatgate import _core
from floatgate._core import FloatgateError, InputError, RunError

__all__ = [
    "FloatgateError",
    "FloatgateWarning",
    "InputError",
    "InterruptedRunError",
    "RunError",
    "escaped",
    "input_error",
    "meant",
    "one_line",
    "printable",
    "quote",
    "quoted",
    "reading",
    "repeated",
    "warn",
]

_MESSAGE_MAX, _MESSAGE_END = 8000, 2000
_QUOTED_MAX = 60
PATH_MAX = 4096
"""Length of a quoted path; a cut one would be useless."""

STATUS_DONE = 0
STATUS_RUN_FAILED = 1
STATUS_UNUSABLE_INPUT = 2
STATUS_INTERRUPTED = 130


class InterruptedRunError(RunError):
    """Ctrl-C stopped a run that can be resumed; the message says how."""

    status = STATUS_INTERRUPTED


class FloatgateWarning(UserWarning):
    """A warning that affects no result; the command line prints it as a note on standard error."""


def warn(message: str) -> None:
    """Say that something went wrong, and go on."""
    warnings.warn(one_line(message), FloatgateWarning, stacklevel=2)


_OF_CONTENT = (ArithmeticError, AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError)
"""Exceptions of code that meets unexpected values; RuntimeError includes RecursionError."""


@contextlib.contextmanager
def reading(path: object, expected: str, what: str = "its content is damaged") -> Iterator[None]:
    """Read a file's content as what it should be; any failure in the block is the file's fault.

    The one place where exceptions of libraries become ours: a file that is damaged, or was made to mislead (nested
    without end, columns twice), must not end in a traceback.

    Raises:
        InputError: with the file, what its content did, and what was ``expected``.
    """
    try:
        yield
    except FloatgateError:
        raise
    except OSError as error:
        # Libraries derive errors of their own from these, without a system error behind them.
        reason = error.strerror or f"{what}{_library_message(error)}"
        raise input_error(f"{path}: {reason}; {expected}") from None
    except RecursionError:
        raise input_error(f"{path}: its content is nested too deeply; {expected}") from None
    except _OF_CONTENT as error:
        raise input_error(f"{path}: {what}{_library_message(error)}; {expected}") from None


def _library_message(error: BaseException) -> str:
    """Return the message of a library's own exception; those of Python itself describe code and tell a user nothing."""
    text = str(error).strip().split("\n", 1)[0]
    return "" if type(error).__module__ in ("builtins", "json.decoder") or not text else f" ({text.rstrip('.')})"


def input_error(message: str) -> InputError:
    """Make the error of unusable input (exit status 2)."""
    return InputError(one_line(message))


def one_line(message: object) -> str:
    """Return the message on one plain line: no line breaks and no escapes, even from file names.

    It has an end, too: of a longer one than any of ours the beginning and the end are kept.
    """
    text = str(message)
    if len(text) > _MESSAGE_MAX:
        text = f"{text[: _MESSAGE_MAX - _MESSAGE_END]} ... {text[-_MESSAGE_END:]}"
    return escaped(text.replace("\n", " ").replace("\r", " "))


def printable(text: str) -> str:
    """Escape what a terminal would take for commands; line breaks stay."""
    return "\n".join(map(escaped, text.split("\n")))


def escaped(text: str) -> str:
    """Write what a terminal would take for commands as escapes, line breaks too."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quote(value: object, most: int = _QUOTED_MAX) -> str:
    """Return what a user gave, for an error message: in quotes, on one line, and at most its first characters."""
    text = str(value)
    return f"'{one_line(text[:most])}{'...' if len(text) > most else ''}'"


def meant(name: str, known: Iterable[str], listing: str = "") -> str:
    """State what to write in place of an unknown name: close names, at most five, or else some of the valid ones.

    Args:
        name: the unknown name.
        known: the valid names.
        listing: the command that lists them all.
    """
    return _core.name_remedy(name, list(known), listing)


def repeated(values: Sequence[str]) -> list[str]:
    """Return those values that are there twice or more, each once."""
    return [value for value in dict.fromkeys(values) if values.count(value) > 1]


def quoted(names: list[str]) -> str:
    """Return names for an error message: ``'a', 'b', 'c'``."""
    return ", ".join(map(quote, names))
