"""Places for the labels of marks, next to each, where they cover neither marks nor one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHAR_PX = 6.2
"""Width of a character of :data:`FONT_PX`, rather too wide: fonts differ from reader to reader."""
FONT_PX = 11
LINE_PX = 13
_GAP_PX = 8
"""From the middle of a mark to its label."""
_MARK_PX = 5
_LINES = 6
"""How many lines above and below a mark are tried."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels; y goes down."""


@dataclass(frozen=True)
class Mark:
    """A mark in pixels from the upper left corner; ``text`` is None where it has no label."""

    x: float
    y: float
    text: str | None = None

    @property
    def box(self) -> Box:
        """The area that it covers."""
        return (self.x - _MARK_PX, self.y - _MARK_PX, self.x + _MARK_PX, self.y + _MARK_PX)


@dataclass(frozen=True)
class Label:
    """Where the label of a mark stands: to its left or right, ``dy`` pixels below its middle."""

    mark: Mark
    left: bool
    dy: float

    @property
    def dx(self) -> float:
        """Pixels from the middle of the mark to the near end of the text."""
        return -_GAP_PX if self.left else _GAP_PX

    @property
    def box(self) -> Box:
        """The area that it covers."""
        near, width = self.mark.x + self.dx, CHAR_PX * len(self.mark.text or "")
        middle, half = self.mark.y + self.dy, LINE_PX / 2
        return (near - width, middle - half, near, middle + half) if self.left else (
            near, middle - half, near + width, middle + half
        )  # fmt: skip


def overlap(one: Box, other: Box) -> float:
    """Return the area that both cover, in square pixels."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def placed(marks: Sequence[Mark], width: float, height: float, taken: Sequence[Box] = ()) -> list[Label]:
    """Return a label for each mark that has a text, in their order.

    The nearest place is taken that lies in the chart and covers nothing; otherwise the one that covers least.

    Args:
        marks: all marks of the chart.
        width: of the chart in pixels.
        height: of the chart in pixels.
        taken: what other texts cover.
    """
    covered = [*taken, *(mark.box for mark in marks)]
    made = []
    for mark in marks:
        if mark.text is None:
            continue
        best = min(_choices(mark, width), key=lambda one: _cost(one, covered, (0.0, 0.0, width, height)))
        made.append(best)
        covered.append(best.box)
    return made


def _choices(mark: Mark, width: float) -> list[Label]:
    """List the nearest places first: just above and below, on the inner side, on the outer one, then further away."""
    inner = mark.x > width / 2
    offsets = [sign * (_MARK_PX + LINE_PX * (line + 0.5)) for line in range(_LINES) for sign in (-1, 1)]
    return [Label(mark, left, dy) for dy in offsets for left in (inner, not inner)]


def _cost(label: Label, covered: Sequence[Box], chart: Box) -> float:
    box = label.box
    outside = (box[2] - box[0]) * (box[3] - box[1]) - overlap(box, chart)
    return outside + sum(overlap(box, other) for other in covered)
