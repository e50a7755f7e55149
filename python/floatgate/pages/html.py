"""Pieces of the HTML reports: one page, no script, nothing fetched."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from floatgate.pages import charts, drawing
from floatgate.pages.causes import Cause, patterned

ICON = '<link rel="icon" href="data:,">'


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("style.css").read_text("utf-8")


def escape(text: object) -> str:
    """Text for HTML, in attributes too."""
    return html.escape(str(text), quote=True)


def document(title: str, body: str) -> str:
    """The whole page; one note names the pictures that are missing on it."""
    drawing.tell_missing()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{ICON}\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f"{charts.pattern_defs()}\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def cards(entries: Sequence[tuple[str, str, str]]) -> str:
    """The headline row: name, figure and what stands below it."""
    made = "".join(
        f'<div class="card"><span>{escape(name)}</span><b>{escape(value)}</b><span>{escape(below)}</span></div>'
        for name, value, below in entries
    )
    return f'<div class="cards">{made}</div>'


def rows_table(rows: Sequence[tuple[str, str]]) -> str:
    """A table of names and texts."""
    made = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="rows">{made}</table>'


def grid(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    texts: int = 1,
    *,
    raw_first: bool = False,
    stacks: bool = False,
) -> str:
    """A table with a header, scrolling sideways where the page is narrow.

    Args:
        header: names of the columns.
        rows: texts of the cells.
        texts: how many columns from the left are text; the others are figures, aligned at the right.
        raw_first: whether the first cell of a row is HTML already.
        stacks: on a narrow page, each row stands by itself instead: its texts, then every figure with its name.
    """

    def cell(tag: str, column: int, text: str) -> str:
        inner = text if raw_first and column == 0 and tag == "td" else escape(text)
        named = f' data-of="{escape(header[column])}"' if stacks and tag == "td" and column >= texts else ""
        return f"<{tag}{'' if column < texts else ' class=n'}{named}>{inner}</{tag}>"

    head = "".join(cell("th", column, text) for column, text in enumerate(header))
    body = "".join(
        "<tr>" + "".join(cell("td", column, text) for column, text in enumerate(row)) + "</tr>" for row in rows
    )
    kind = "scroll stacks" if stacks else "scroll"
    return f'<div class="{kind}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def left_out(texts: Sequence[str]) -> str:
    """The list of what the model leaves out, each once; nothing where it leaves nothing out."""
    items = "".join(f"<li>{escape(text)}</li>" for text in dict.fromkeys(texts))
    return f"<h2>What the model leaves out</h2><ul>{items}</ul>" if items else ""


def swatch(look: Cause) -> str:
    """A small square in the colour and pattern of a cause."""
    fill = next((f"url(#{name})" for name, entry in patterned().items() if entry.color == look.color), look.color)
    square = f'<rect width="14" height="14" fill="{fill}"/>'
    return f'<svg class="swatch" width="14" height="14" aria-hidden="true">{square}</svg>'


def figure(name: str, title: str, caption: str, draw: Callable[[int], Any]) -> str:
    """A chart drawn for wide and for narrow pages, so that its text keeps its size; or why it could not be drawn.

    Args:
        name: prefix of ids.
        title: what the chart shows.
        caption: how to read it.
        draw: makes the chart for a width in pixels.
    """
    label = f"{title}. {caption}"
    try:
        wide = charts.svg(draw(560), f"{name}-w", label)
        narrow = charts.svg(draw(328), f"{name}-n", label)
        picture = f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
    except (drawing.CannotDrawError, ImportError, MemoryError) as error:
        reason = drawing.missing(title, error)
        picture = f'<p class="soft">This picture could not be drawn: {escape(reason)}.</p>'
    return f"<figure><figcaption><b>{escape(title)}</b>{escape(caption)}</figcaption>{picture}</figure>"
