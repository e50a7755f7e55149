"""Addresses that are written together, again and again: frequent patterns of a trace (``docs/patterns.md``)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import input_error

if TYPE_CHECKING:
    from floatgate._core import Progress

SCHEMA = "floatgate.patterns/1"
_U32_MAX = 2**32 - 1
_U64_MAX = 2**64 - 1


@dataclass(frozen=True)
class Settings:
    """How to mine a trace.

    Attributes:
        window: requests of a window, reads and TRIMs included.
        mined: requests at its beginning whose writes are mined.
        transaction: write requests of a transaction; the last one of a window may have fewer.
        support: transactions of a window that a set of addresses must be part of.
        items_min: addresses that a set must have.
        closed: whether closed sets are counted, not maximal ones.
    """

    window: int = 1024
    mined: int = 256
    transaction: int = 12
    support: int = 4
    items_min: int = 3
    closed: bool = False


def of_trace(
    path: str | os.PathLike[str],
    options: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Mine the windows of a trace, or of a slice of it.

    Args:
        path: the trace.
        options: how to read it and which slice of it, as ``floatgate trace info`` has them.
        settings: how to mine it; None for the defaults.
        progress: called now and then with ``(requests, None, phase)``.

    Returns:
        The JSON of ``floatgate trace patterns`` (``docs/patterns.md``).

    Raises:
        InputError: the trace cannot be read, or a setting is invalid.
        RunError: a window has more sets than can be counted.
    """
    wanted = settings or Settings()
    for name, value in asdict(wanted).items():
        if not 0 <= value <= _U32_MAX:
            raise input_error(
                f"--{name.replace('_', '-')}: {value} is out of range; expected a whole number below 2^32"
            )
    text = _core.trace_patterns(os.fspath(path), options or {}, progress, **asdict(wanted))
    return {"schema": SCHEMA, "version": _core.__version__, "settings": asdict(wanted), **json.loads(text)}


def mine(
    transactions: Iterable[Iterable[int]], support: int, *, items_min: int = 1, closed: bool = False
) -> list[tuple[list[int], int]]:
    """Return the maximal sets of items that at least ``support`` transactions have, or the closed ones.

    Args:
        transactions: whole numbers from 0 to 2^64 - 1; one that a transaction names twice counts once.
        support: transactions of which a set must be part.
        items_min: items that a set must have.
        closed: closed sets (no larger set has the same support), not maximal ones (no larger set has enough).

    Returns:
        Items, ascending, and support of each set: larger sets first, sets of one size by their items.

    Raises:
        InputError: a figure is outside its range.
        RunError: there are too many sets.
    """
    listed = [list(transaction) for transaction in transactions]
    for name, value in (("support", support), ("items_min", items_min)):
        if not 1 <= value <= _U32_MAX:
            raise input_error(f"{name}: is {value}; expected a whole number from 1 on")
    if any(not 0 <= item <= _U64_MAX for items in listed for item in items):
        raise input_error("transactions: an item is not a whole number from 0 to 2^64 - 1; expected such numbers")
    return _core.patterns_mine(listed, support=support, items_min=items_min, closed=closed)
