"""The parts of pages as data: texts, tables, charts. ``templates/page.html`` defines the look of each.

A page is a list of parts. Texts are plain: markup in them is escaped. Parts are neither compared nor shown:
classes that could be take several times as long to make, and every run makes them for its summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from floatgate.pages import charts, drawing, live
from floatgate.pages.causes import Cause, patterned
from floatgate.pages.later import Later, later

WIDE, NARROW = 560, 328
"""Pixels of a chart on a wide and on a narrow page."""


@dataclass(frozen=True)
class Picture:
    """One picture: its name (of files, too), its title, how to read it, and how to draw it at a width in pixels."""

    name: str
    title: str
    caption: str
    draw: Callable[[int], Any]


_listing: ContextVar[list[Picture] | None] = ContextVar("listing", default=None)
"""Where the pictures of a page are listed in place of being drawn."""


@dataclass(eq=False, repr=False)
class Part:
    """One part of a page; ``kind`` is the macro of ``templates/parts.html`` that draws it."""

    kind: ClassVar[str]


@dataclass(eq=False, repr=False)
class Title(Part):
    """The heading of the page."""

    kind = "title"
    text: str


@dataclass(eq=False, repr=False)
class Text(Part):
    """A paragraph; ``soft`` ones are less prominent."""

    kind = "text"
    text: str
    soft: bool = False
    strong: bool = False


@dataclass(eq=False, repr=False)
class Code(Part):
    """Text of a terminal or a file, verbatim."""

    kind = "code"
    text: str


@dataclass(eq=False, repr=False)
class Items(Part):
    """A list of texts."""

    kind = "items"
    texts: Sequence[str]


@dataclass(eq=False, repr=False)
class Cards(Part):
    """The headline row: name, value and the text below it."""

    kind = "cards"
    entries: Sequence[tuple[str, str, str]]


@dataclass(eq=False, repr=False)
class Rows(Part):
    """A table of names and texts."""

    kind = "rows"
    rows: Sequence[tuple[str, str]]


@dataclass(eq=False, repr=False)
class Swatch:
    """A cell: a small square in the colour and pattern of a cause, and its label."""

    look: Cause
    text: str

    @property
    def fill(self) -> str:
        """The fill of the square: the pattern of the cause, where it has one."""
        return fill(self.look)


Cell = str | Swatch


_LOOSE_MAX = 12
"""Columns of a grid up to which they fit a wide page as they are."""


@dataclass(eq=False, repr=False)
class Grid(Part):
    """A table with a header, which scrolls sideways where the page is narrow.

    Attributes:
        header: names of the columns.
        rows: cells.
        texts: how many columns from the left are text; the others are numbers, aligned at the right.
        stacks: on a narrow page, each row becomes a block instead: its texts, then every number with its name.
    """

    kind = "grid"
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: int = 1
    stacks: bool = False

    @property
    def is_dense(self) -> bool:
        """Whether it has so many columns that they are set closer."""
        return len(self.header) > _LOOSE_MAX


@dataclass(eq=False, repr=False)
class Figure(Part):
    """A chart, drawn for wide and for narrow pages.

    Attributes:
        title: of the chart.
        caption: how to read it.
        wide: the picture for wide pages, as SVG.
        narrow: that for narrow pages.
        spec: both as :func:`floatgate.pages.live.specification` writes them, to be drawn anew by the page.
        reason: why it could not be drawn.
    """

    kind = "figure"
    title: str
    caption: str
    wide: str = ""
    narrow: str = ""
    spec: str = ""
    reason: str = ""


class Drawing(Part):
    """A :class:`Figure` whose pictures are being drawn; reading one of them waits for both."""

    kind = "figure"

    def __init__(self, title: str, caption: str, pictures: Later[tuple[str, str]], spec: str) -> None:
        """Take what a :class:`Figure` has, and the pictures for wide and narrow pages."""
        self.title, self.caption, self.spec = title, caption, spec
        self._pictures = pictures

    @property
    def wide(self) -> str:
        """The picture for wide pages, as SVG."""
        return self._drawn.wide

    @property
    def narrow(self) -> str:
        """That for narrow pages."""
        return self._drawn.narrow

    @property
    def reason(self) -> str:
        """Why it could not be drawn."""
        return self._drawn.reason

    @cached_property
    def _drawn(self) -> Figure:
        try:
            wide, narrow = self._pictures.value()
        except (drawing.CannotDrawError, ImportError, MemoryError) as error:
            return Figure(self.title, self.caption, reason=drawing.missing(self.title, error))
        return Figure(self.title, self.caption, wide, narrow, self.spec)


@dataclass(eq=False, repr=False)
class Charts(Part):
    """Parts side by side, where the page is wide enough: figures, and boxes beside them."""

    kind = "charts"
    parts: Sequence[Part]


@dataclass(eq=False, repr=False)
class Box(Part):
    """Parts that keep together; ``style`` is a class of ``style.css``."""

    kind = "box"
    parts: Sequence[Part]
    style: str = ""


@dataclass(eq=False, repr=False)
class Section(Part):
    """Parts under a heading; ``level`` 3 is a heading within a section."""

    kind = "section"
    title: str
    parts: Sequence[Part]
    level: int = 2


@dataclass(eq=False, repr=False)
class Template(Part):
    """A part with a template of its own: ``report/timeline.html`` stands in ``floatgate/report/templates``."""

    kind = "template"
    name: str
    context: Mapping[str, Any] = field(default_factory=dict)


def fill(look: Cause) -> str:
    """Return the fill of areas of a cause: its pattern, where it has one, else its colour."""
    return next((f"url(#{name})" for name, entry in patterned().items() if entry.color == look.color), look.color)


def figure(name: str, title: str, caption: str, draw: Callable[[int], Any]) -> Figure | Drawing:
    """Have a chart drawn for wide and for narrow pages, which keeps its texts readable.

    Args:
        name: prefix of ids.
        title: of the chart.
        caption: how to read it.
        draw: makes the chart for a width in pixels.
    """
    if lists(name, title, caption, draw):
        return Figure(title, caption, reason="listed, not drawn")
    label = f"{title}. {caption}"

    def pictures() -> tuple[str, str]:
        return charts.svg(wide, f"{name}-w", label), charts.svg(narrow, f"{name}-n", label)

    try:
        wide, narrow = draw(WIDE), draw(NARROW)
        return Drawing(title, caption, later(pictures), live.specification(wide.to_dict(), narrow.to_dict()))
    except (ImportError, MemoryError) as error:
        return Figure(title, caption, reason=drawing.missing(title, error))


def lists(name: str, title: str, caption: str, draw: Callable[[int], Any]) -> bool:
    """Add a picture to the list of :func:`pictures_of`; return whether one is being made."""
    listed = _listing.get()
    if listed is not None:
        listed.append(Picture(name, title, caption, draw))
    return listed is not None


def pictures_of(page: Callable[[], str]) -> list[Picture]:
    """List the pictures of a page in their order; makes the page, but draws nothing.

    A name that stands there twice gets a number: names are those of files.
    """
    listed: list[Picture] = []
    token = _listing.set(listed)
    try:
        page()
    finally:
        _listing.reset(token)
    seen: dict[str, int] = {}
    made = []
    for one in listed:
        name = re.sub(r"[^\w.-]+", "-", one.name)
        seen[name] = seen.get(name, 0) + 1
        made.append(replace(one, name=name if seen[name] == 1 else f"{name}-{seen[name]}"))
    return made


def left_out(texts: Sequence[str]) -> list[Part]:
    """List what the model leaves out, each once; every report has it."""
    phrases = list(dict.fromkeys(texts)) or ["not known: no result says it"]
    return [Section("What the model leaves out", [Items(phrases)])]


def to_repeat(command: str | None) -> list[Part]:
    """Return the command that made the page, where there was one."""
    return [Section("How to repeat it", [Code(command)])] if command else []
