"""The two errors a caller meets, and the exit status that each stands for.

The core raises them with a message of the form ``PATH:LINE[:COLUMN]: what is wrong; what was expected``; the command
line prints that as the first line on standard error after ``error: `` and exits with the error's status.
"""

from __future__ import annotations

import warnings

from floatgate._core import FloatgateError, InputError, RunError

__all__ = [
    "FloatgateError",
    "FloatgateWarning",
    "InputError",
    "InterruptedRunError",
    "RunError",
    "input_error",
    "one_line",
    "quoted",
    "warn",
]

STATUS_DONE = 0
STATUS_RUN_FAILED = 1
STATUS_UNUSABLE_INPUT = 2
STATUS_INTERRUPTED = 130


class InterruptedRunError(RunError):
    """Ctrl-C stopped a run that can be resumed; the message says how."""

    status = STATUS_INTERRUPTED


class FloatgateWarning(UserWarning):
    """Something went wrong that costs no result; the command line prints it as a note on standard error."""


def warn(message: str) -> None:
    """Say that something went wrong, and go on."""
    warnings.warn(one_line(message), FloatgateWarning, stacklevel=2)


def input_error(message: str) -> InputError:
    """Make the error of unusable input (exit status 2)."""
    return InputError(one_line(message))


def one_line(message: object) -> str:
    """The message on one plain line, whatever a file name or a line of a trace holds: no line breaks, no escapes."""
    text = str(message).replace("\n", " ").replace("\r", " ")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quoted(names: list[str]) -> str:
    """Names for an error message: ``'a', 'b', 'c'``."""
    return ", ".join(f"'{name}'" for name in names)
