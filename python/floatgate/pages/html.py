"""Pieces of the HTML reports: one page, no script, nothing fetched."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from floatgate.pages import charts, drawing
from floatgate.pages.causes import Cause, patterned

STYLE = """
:root { color-scheme: light dark; --ink: #1b1e21; --soft: #596066; --paper: #ffffff; --card: #f3f4f6; --edge: #c9ced3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaec; --soft: #a7aeb5; --paper: #16181a; --card: #212427; --edge: #43484d; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 16px; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--edge); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; font-weight: 600; }
p { margin: .3rem 0; max-width: 75ch; }
.soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 1rem 0; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 10px 12px; }
.card b { display: block; font-size: 1.5rem; line-height: 1.2; overflow-wrap: anywhere; }
.card span { color: var(--soft); font-size: .85rem; }
.charts { display: grid; grid-template-columns: minmax(0, 1fr); gap: 20px; }
@media (min-width: 1000px) { .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .9rem; color: var(--soft); margin-bottom: .3rem; }
figcaption b { display: block; color: var(--ink); font-size: 1rem; }
figure svg { max-width: 100%; height: auto; display: block; overflow: visible; }
figure .wide { display: none; }
@media (min-width: 620px) { figure .wide { display: block; } figure .narrow { display: none; } }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll + .charts, .charts + .charts { margin-top: 20px; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px 4px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--edge); }
th { font-weight: 600; }
thead th, .scroll td { white-space: nowrap; }
.stacks thead th { white-space: normal; vertical-align: bottom; }
@media (max-width: 619px) { .scroll table { font-size: .85rem; } .scroll td, .scroll th { padding-right: 8px; } }
td.n, th.n { text-align: right; }
table.rows th { white-space: nowrap; color: var(--soft); font-weight: 400; }
table.rows td { overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 10px;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; margin: .3rem 0; }
.swatch { display: inline-block; vertical-align: -2px; margin-right: 6px; border: 1px solid var(--ink); }
.defs { position: absolute; }
.ink { stroke: #ffffff; stroke-width: 1.6; fill: none; opacity: .8; }
.spot { fill: #ffffff; opacity: .9; }
.tl { display: flex; gap: 8px; font-size: 12px; }
.tl-names { flex: none; }
.tl-names div { height: 16px; line-height: 16px; white-space: nowrap; }
.tl-scroll { flex: 1; min-width: 0; overflow-x: auto; }
.tl-wide { min-width: 640px; padding-right: 18px; }
.tl-wide svg { width: 100%; overflow: hidden; background: var(--card); }
.tl rect { stroke: var(--paper); stroke-width: .5; vector-effect: non-scaling-stroke; }
.tl rect.tl-n { stroke: none; }
.tl-grid { stroke: var(--edge); vector-effect: non-scaling-stroke; }
.tl-r { fill: var(--ink); } .tl-w { fill: #0072b2; } .tl-h { fill: #808080; } .tl-p { fill: url(#cause-partial); }
.tl-f { fill: url(#cause-foreground_job); } .tl-b { fill: url(#cause-gc); }
.tl rect.tl-e { fill: #5c2300; stroke: var(--ink); }
.tl rect.tl-s { fill: var(--paper); stroke: var(--ink); stroke-dasharray: 2 2; }
.tl-axis { position: relative; height: 16px; }
.tl-axis span { position: absolute; transform: translateX(-50%); }
.tl-axis span:first-child { transform: none; }
.tl-unit { text-align: center; }
.tl-keys .swatch { overflow: hidden; }
.tl-keys { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; margin-bottom: 6px; }
.claims table { width: 100%; }
.claims td { min-width: 9ch; overflow-wrap: anywhere; }
.claims td:nth-child(2) { width: 40%; }
.claims .v0 { font-weight: 700; } .claims .v2 { color: var(--soft); }
.table { margin-bottom: 1.2rem; }
.charts + h3 { margin-top: 1.6rem; }
@media (max-width: 819px) {
  .claims thead { display: none; }
  .claims tr { display: block; padding: 6px 0 8px; border-bottom: 1px solid var(--edge); }
  .claims td { display: block; border: none; padding: 1px 0; width: auto !important; }
  .claims td[data-of]::before { content: attr(data-of) ": "; color: var(--soft); }
}
@media (max-width: 619px) {
  .stacks thead { display: none; }
  .stacks tr { display: block; padding: 5px 0; border-bottom: 1px solid var(--edge); }
  .stacks td { display: inline; border: none; padding: 0; font-weight: 600; }
  .stacks td:not([data-of])::after { content: " "; }
  .stacks td[data-of] { display: inline-block; margin-right: 12px; font-weight: 400; }
  .stacks td[data-of]::before { content: attr(data-of) " "; color: var(--soft); }
}
@media print { main { max-width: none; } figure, .card { break-inside: avoid; } }
"""

ICON = '<link rel="icon" href="data:,">'


def escape(text: object) -> str:
    """Text for HTML, in attributes too."""
    return html.escape(str(text), quote=True)


def document(title: str, body: str) -> str:
    """The whole page; one note names the pictures that are missing on it."""
    drawing.tell_missing()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{ICON}\n<style>{STYLE}</style>\n</head>\n<body>\n"
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
