"""Causes of flash operations and reasons for waiting: one name, colour and pattern each, everywhere.

The causes are those of the core. The colours stay distinct under the common colour vision deficiencies, the patterns in
black and white.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floatgate import _core
from floatgate.pages import palette


@dataclass(frozen=True)
class Cause:
    """The name and the look of a cause.

    ``pattern`` names one of :data:`PATTERNS`; the empty name is a plain fill.
    """

    label: str
    color: str
    pattern: str = ""


PATTERNS = {
    "diagonal": '<path d="M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4" class="ink"/>',
    "dots": '<circle cx="2" cy="2" r="1.3" class="spot"/><circle cx="6" cy="6" r="1.3" class="spot"/>',
    "cross": '<path d="M0,0 l8,8 M8,0 l-8,8" class="ink"/>',
    "level": '<path d="M0,2 h8 M0,6 h8" class="ink"/>',
    "back": '<path d="M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4" class="ink"/>',
    "rings": '<circle cx="4" cy="4" r="2.4" class="ink"/>',
    "upright": '<path d="M2,0 v8 M6,0 v8" class="ink"/>',
    "grid": '<path d="M2,0 v8 M0,6 h8" class="ink"/>',
}
"""The patterns as marks of SVG on tiles of 8 by 8 pixels; ``style.css`` has the look of their classes."""

_TABLE = _core.causes()

NUMBERED = tuple(name for name, *_ in _TABLE)
"""Names of the causes by their numbers."""

CAUSES: dict[str, Cause] = {
    name: Cause(label, color, pattern)
    for name, label, _, _, _, color, pattern in sorted(_TABLE, key=lambda row: row[4])
}
"""The table of the core (``crates/flash/src/causes.rs``) by the names in results, in the order of drawing."""

BACKGROUND = frozenset(name for name, _, kind, *_ in _TABLE if kind == "background")
"""Causes that are background or foreground jobs; no host request waits for a single operation of theirs."""

READ_RECLAIM = frozenset({"reclaim", "replica"})
"""Causes of the work of read reclaim: pages moved, and pages copied to a partner."""

REASONS: dict[str, Cause] = {
    "service": Cause("own work", palette.PALE),
    "channel": Cause("waiting for the channel", palette.YELLOW),
    "die": Cause("queued behind other host requests", palette.BLUE),
    "foreground_job": Cause("queued behind a foreground job", palette.RUST, "cross"),
    "background_job": Cause("queued behind a background job", palette.VERMILION, "diagonal"),
    "suspended": Cause("suspended", palette.PLUM, "level"),
    "buffer": Cause("waiting for the buffer", palette.FOREST, "dots"),
    "queue": Cause("waiting in the host queue", palette.MUSTARD, "upright"),
}
"""Where the time of a flash operation goes, in the order of drawing; keys of ``latency_us.waiting``."""

_OTHER_COLORS = (palette.UMBER, palette.OLIVE, palette.VIOLET, palette.MID_GREY)


def cause(name: str) -> Cause:
    """Return name and colour of a cause; one that this version does not know keeps its name and gets a fixed colour."""
    if name in CAUSES:
        return CAUSES[name]
    return _other(name)


def reason(name: str) -> Cause:
    """Return how to call and draw a reason for waiting, as :func:`cause` does."""
    return REASONS[name] if name in REASONS else _other(name)


def _other(name: str) -> Cause:
    color = _OTHER_COLORS[sum(name.encode()) % len(_OTHER_COLORS)]
    return Cause(name.replace("_", " "), color, "cross")


def by_cause(counts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return the causes of a flat map in the fixed order, without ``total`` and without those that are nought."""
    return _ordered(counts, CAUSES)


def by_reason(means: Mapping[str, float]) -> list[tuple[str, float]]:
    """List the reasons of a class of ``latency_us.waiting`` in the fixed order, without the count of operations."""
    return _ordered({name: value for name, value in means.items() if name != "operations"}, REASONS)


def _ordered(counts: Mapping[str, float], known: Mapping[str, Cause]) -> list[tuple[str, float]]:
    first = [name for name in known if counts.get(name)]
    others = [name for name, value in counts.items() if value and name not in known and name != "total"]
    return [(name, counts[name]) for name in (*first, *others)]


def patterned() -> dict[str, Cause]:
    """Return what is drawn with a pattern, by the name of the fill; each has a colour of its own."""
    made = {entry.color: (f"cause-{name}", entry) for name, entry in REASONS.items() if entry.pattern}
    made |= {entry.color: (f"cause-{name}", entry) for name, entry in CAUSES.items() if entry.pattern}
    return dict(made.values())
