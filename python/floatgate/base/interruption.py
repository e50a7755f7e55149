"""The signal that ends a command. The command line notes it here; work that waits in C code looks whether it came."""

from __future__ import annotations

from floatgate.base.errors import STATUS_INTERRUPTED

_statuses: list[int] = []


def note(number: int) -> None:
    """Note a signal, by its number."""
    _statuses.append(128 + number)


def status() -> int:
    """Return the exit status of a command that a signal has ended: 128 and the first signal."""
    return _statuses[0] if _statuses else STATUS_INTERRUPTED


def came() -> bool:
    """Return whether a signal has come."""
    return bool(_statuses)


def check() -> None:
    """Raise KeyboardInterrupt if a signal has come: libraries in C may drop the one that Python has raised in them."""
    if came():
        raise KeyboardInterrupt
