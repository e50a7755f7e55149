"""Pictures as files for papers: each as SVG, PNG and PDF with its data as CSV, and the captions to paste.

The file names are the names of the pictures. A picture has the layout of wide or of narrow pages, for which charts are
made, and is scaled to its width from there.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from floatgate.base.errors import escaped, input_error, meant, quote
from floatgate.base.text_out import CsvWriter
from floatgate.pages import drawing, palette
from floatgate.pages.causes import PATTERNS, patterned
from floatgate.pages.parts import NARROW, WIDE, Picture

CAPTIONS = "captions.md"
WIDE_FROM = 440.0
"""Width in pixels from which a picture has the layout of wide pages."""
PALETTES = ("colour", "grey")
PER_INCH = 300
"""Pixels of a PNG per inch, where the width is a length."""
_PX_PER_MM = 96 / 25.4
_WIDTHS_PX = (100.0, 4000.0)
_WIDTH = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*(mm|px)")
_FONT = re.compile(r"[^\W_][\w .-]{0,63}")
_ROOT = re.compile(r'<svg ([^>]*?)width="([\d.]+)" height="([\d.]+)" viewBox="([^"]*)">')
_COLOR = re.compile(r'\b(fill|stroke|stop-color)="(#[0-9a-f]{6}|rgb\(\d+, ?\d+, ?\d+\))"', re.IGNORECASE)
_GREYS = (0x50, 0xD8)
"""Darkest and lightest grey of a colour."""
_LINE_MAX = 0xA0
"""Lightest grey where colours are those of lines, too, which are thin."""
_APART_MAX = 12
"""Colours that get greys at equal distances; of more, as in a scale of colours, each keeps its lightness."""
_WHITE = 0xF4
"""Lightness from which a colour is white."""


@dataclass(frozen=True)
class Style:
    """How pictures look.

    Attributes:
        width_px: their width, 1/96 inch.
        in_mm: whether the width is a length: files say millimetres, a PNG has :data:`PER_INCH` pixels per inch.
        font: an installed font; None for the renderer's own.
        grey: whether colours become greys.
    """

    width_px: float = 560.0
    in_mm: bool = True
    font: str | None = None
    grey: bool = False

    @classmethod
    def of(cls, width: str | None, font: str | None, colors: str | None) -> Style:
        """Return the style that options describe.

        Raises:
            InputError: one of them is unusable.
        """
        if colors is not None and colors not in PALETTES:
            raise input_error(f"--picture-palette: unknown palette {quote(colors)}; {meant(colors, PALETTES)}")
        width_px, in_mm = (cls.width_px, cls.in_mm) if width is None else _width(width)
        if font is not None:
            _must_be_font(font)
        return cls(width_px, in_mm, font, colors == "grey")


def _width(text: str) -> tuple[float, bool]:
    match = _WIDTH.fullmatch(text.strip())
    if match is None:
        raise input_error(f"--picture-width: {quote(text)} is not a width; expected one such as 85mm or 640px")
    width_px = float(match[1]) * (_PX_PER_MM if match[2] == "mm" else 1)
    low, high = _WIDTHS_PX
    if not low <= width_px <= high:
        ends = f"from {low:g}px ({low / _PX_PER_MM:.0f}mm) to {high:g}px ({high / _PX_PER_MM:.0f}mm)"
        raise input_error(f"--picture-width: {quote(text)} is out of range; expected a width {ends}")
    return width_px, match[2] == "mm"


def _must_be_font(name: str) -> None:
    """Refuse a font that this machine lacks: texts would be missing in PNG and PDF."""
    expected = "expected an installed font, such as serif; fc-list : family lists them"
    if not _FONT.fullmatch(name):
        raise input_error(f"--picture-font: {quote(name)} is not the name of a font; {expected}")
    try:
        installed = drawing.has_font(name)
    except drawing.CannotDrawError:
        return  # each picture says why it is missing
    if not installed:
        raise input_error(f"--picture-font: {quote(name)} is not installed; {expected}")


def write(pictures: Sequence[Picture], folder: Path, style: Style) -> None:
    """Write the files of pictures into a folder; one note names those that cannot be drawn.

    Args:
        pictures: in the order of their numbers.
        folder: an existing folder.
        style: their look.
    """
    captions: list[str] = []
    for picture in pictures:
        try:
            chart = picture.draw(WIDE if style.width_px >= WIDE_FROM else NARROW).to_dict()
            files = {**drawn(chart, picture.title, style), "csv": table(chart).encode()}
        except (drawing.CannotDrawError, ImportError, MemoryError) as error:
            drawing.missing(picture.title, error)
            continue
        for kind, content in files.items():
            (folder / f"{picture.name}.{kind}").write_bytes(content)
        captions.append(_caption(len(captions) + 1, picture, chart))
    if captions:
        (folder / CAPTIONS).write_text("\n".join(captions), "utf-8")
    drawing.tell_missing()


def drawn(chart: Mapping[str, Any], title: str, style: Style) -> dict[str, bytes]:
    """Return a picture as SVG, PNG and PDF, by their extensions.

    Args:
        chart: in Vega-Lite.
        title: what programs that read the SVG aloud say.
        style: its look.

    Raises:
        CannotDrawError: it cannot be drawn.
    """
    font = style.font or drawing.OWN_FONT
    config = {**chart.get("config", {}), "font": font, "background": palette.WHITE}
    text = _patterned(drawing.svg({**chart, "config": config}))
    text = _in_grey(text) if style.grey else text
    svg = _sized(text, title, style)
    in_points = _sized(text, title, replace(style, width_px=style.width_px * 72 / 96, in_mm=False))
    png = drawing.png(svg, PER_INCH if style.in_mm else 96, font)
    return {"svg": svg.encode(), "png": png, "pdf": drawing.pdf(in_points, font)}


def _sized(svg: str, title: str, style: Style) -> str:
    """Give the picture its width, and the height that belongs to it."""
    root = _ROOT.search(svg)
    if root is None:
        raise drawing.CannotDrawError("the renderer returned no picture")
    height_px = style.width_px * float(root[3]) / float(root[2])
    unit, per = ("mm", _PX_PER_MM) if style.in_mm else ("", 1.0)
    size = f'width="{style.width_px / per:.6g}{unit}" height="{height_px / per:.6g}{unit}" viewBox="{root[4]}"'
    escaped_title = title.replace("&", "&amp;").replace("<", "&lt;")
    return f"{svg[: root.start()]}<svg {root[1]}{size}><title>{escaped_title}</title>{svg[root.end() :]}"


def _patterned(svg: str) -> str:
    """Fill the areas of causes with their patterns, which pages define once for all charts."""
    tiles = []
    for name, entry in patterned().items():
        if f'fill="{entry.color}"' in svg:
            svg = svg.replace(f'fill="{entry.color}"', f'fill="url(#{name})"')
            lines = f'fill="none" stroke="{palette.WHITE}" stroke-width="1.6"'
            marks = PATTERNS[entry.pattern].replace('class="ink"', lines)
            marks = marks.replace('class="spot"', f'fill="{palette.WHITE}"')
            tile = f'<rect width="8" height="8" fill="{entry.color}"/>{marks}'
            tiles.append(f'<pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse">{tile}</pattern>')
    return _ROOT.sub(lambda root: f"{root[0]}<defs>{''.join(tiles)}</defs>", svg, count=1) if tiles else svg


def _in_grey(svg: str) -> str:
    """Turn the colours of a picture into greys: the darker one stays the darker one, few stand apart.

    Black, white, the ink of texts and the lines of the grid stay.
    """
    lightness = {match[2]: _lightness(match[2]) for match in _COLOR.finditer(svg) if not _is_grid(match)}
    ranked = sorted(
        (color for color, light in lightness.items() if color not in (palette.INK, palette.BLACK) and light < _WHITE),
        key=lambda color: (lightness[color], color),
    )
    of_lines = {match[2] for match in _COLOR.finditer(svg) if match[1] == "stroke" and not _is_grid(match)}
    low, high = _GREYS[0], _LINE_MAX if of_lines & set(ranked) else _GREYS[1]
    greys = {}
    for place, color in enumerate(ranked):
        share = place / max(1, len(ranked) - 1) if len(ranked) <= _APART_MAX else lightness[color] / 255
        greys[color] = "#" + f"{round(low + (high - low) * share):02x}" * 3

    def in_grey(match: re.Match[str]) -> str:
        return match[0] if _is_grid(match) else f'{match[1]}="{greys.get(match[2], match[2])}"'

    return _COLOR.sub(in_grey, svg)


def _is_grid(match: re.Match[str]) -> bool:
    return match[1] == "stroke" and match[2] == palette.GREY


def _lightness(color: str) -> float:
    """Weigh red, green and blue as the luma of ITU-R BT.709 does, 0 to 255."""
    if color.startswith("#"):
        red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    else:
        red, green, blue = (min(255, int(part)) for part in re.findall(r"\d+", color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def table(chart: Mapping[str, Any]) -> str:
    """Return the data of a chart as CSV; ``layer`` counts the sets of data, where there are several."""
    sets = _data(chart)
    names = list(dict.fromkeys(name for rows in sets for row in rows for name in row))
    text = io.StringIO()
    out = CsvWriter(text)
    counted = len(sets) > 1
    out.row(["layer", *names] if counted else names)
    for number, rows in enumerate(sets, start=1):
        out.rows([*([number] if counted else []), *(row.get(name) for name in names)] for row in rows)
    return text.getvalue()


def _data(chart: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """List the sets of data of a chart and its parts, each once."""
    named = chart.get("datasets", {})
    sets: list[list[dict[str, Any]]] = []
    for part in _parts(chart):
        data = part.get("data") or {}
        rows = data["values"] if "values" in data else named.get(data.get("name"), [])
        if rows and rows not in sets:
            sets.append(rows)
    return sets


def _parts(chart: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield chart
    for how in ("layer", "concat", "hconcat", "vconcat"):
        for part in chart.get(how, []):
            yield from _parts(part)
    if isinstance(chart.get("spec"), Mapping):
        yield from _parts(chart["spec"])


def _caption(number: int, picture: Picture, chart: Mapping[str, Any]) -> str:
    """Return the caption with its number, then the files and what the columns of the data are."""
    sentences = f"{picture.title.rstrip('.')}. {picture.caption}".strip()
    there = {name for rows in _data(chart) for row in rows for name in row}
    columns = ", ".join(f"`{name}` on '{title}'" for name, title in _titles(chart).items() if name in there)
    files = ", ".join(f"`{picture.name}.{kind}`" for kind in ("svg", "png", "pdf"))
    data = f"data: `{picture.name}.csv`{f' ({columns})' if columns else ''}"
    return f"**Figure {number}.** {escaped(sentences)}\n\nFiles: {files}; {escaped(data)}\n"


def _titles(chart: Mapping[str, Any]) -> dict[str, str]:
    """Return the titles of the axes and legends by the columns that they show."""
    made: dict[str, str] = {}
    for part in _parts(chart):
        for channel in (part.get("encoding") or {}).values():
            title = channel.get("title") if isinstance(channel, Mapping) else None
            if isinstance(title, str) and title and "field" in channel:
                made.setdefault(channel["field"], title)
    return made
