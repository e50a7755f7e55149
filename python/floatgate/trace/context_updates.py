"""Which program contexts make the updates of a recorded trace: the counts, and figure 27 of the dissertation.

Source: section 5.2 (figure 27) of the dissertation on data separation by program context. At every update of a page the
figure shows the context that had *written the data now replaced*; time counts updates.

What counts as an update depends on whether the drive receives deletions:

- ``updates``: the page was written before in the trace, whether or not a TRIM came in between. This is the case on a
  file system mounted without ``discard``, as those of the dissertation were: the drive learns that a deleted file's
  data is dead when something else is written there.
- ``live_updates``: those of them whose page was not trimmed since, which is what ``floatgate trace record`` counts as
  replacing data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from floatgate.base.errors import input_error
from floatgate.pages import palette, vega
from floatgate.trace.dense_traces import PAGE_BYTES, pages_of
from floatgate.trace.metadata import described

if TYPE_CHECKING:
    import pyarrow as pa

TOP = 5
"""How many contexts the dissertation counts as dominating (section 5.2)."""
NO_CONTEXT = -1
"""The context of writes without a stack."""

_COLORS = (palette.STEEL, palette.COPPER, palette.FERN, palette.PURPLE, palette.CRIMSON)
_OTHER = palette.GREY


@dataclass
class ContextUpdates:
    """The counts of a trace.

    Attributes:
        metadata: the JSON of the file's key ``floatgate``.
        requests: rows.
        trims: rows that trim.
        pages: page writes of 4 KiB.
        distinct_pages: pages of the drive that were written.
        updates: see the module.
        live_updates: see the module.
        writing: contexts that wrote pages.
        by_context: updates by the context that had written the data, the most first.
        live_by_context: the same of live updates.
        sequence: that context at each update, in the order of the updates.
        sequential: contexts with data that were replaced right after those of the page before.
    """

    metadata: dict[str, Any]
    requests: int = 0
    trims: int = 0
    pages: int = 0
    distinct_pages: int = 0
    updates: int = 0
    live_updates: int = 0
    writing: int = 0
    by_context: Counter[int] = field(default_factory=Counter)
    live_by_context: Counter[int] = field(default_factory=Counter)
    sequence: list[int] = field(default_factory=list)
    sequential: frozenset[int] = frozenset()

    def name(self, context: int) -> str:
        """Return a context as a person reads it."""
        named = self.metadata.get("contexts", {}).get(str(context))
        return "(no stack)" if named is None else str(named.get("name", ""))

    def top_share(self, *, live: bool = False, top: int = TOP) -> float | None:
        """Return the share in the updates of the contexts with most of them; None where there is no update."""
        counts = self.live_by_context if live else self.by_context
        total = counts.total()
        return sum(count for _, count in counts.most_common(top)) / total if total else None


def read(path: str | Path) -> ContextUpdates:
    """Count the updates of a trace as ``floatgate trace record`` writes it.

    Raises:
        InputError: the file has no contexts.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    if "context" not in file.schema_arrow.names:
        raise input_error(f"{path}: no column 'context'; expected a trace that 'floatgate trace record' wrote")
    tally = ContextUpdates(described(file.metadata.metadata, path))
    table = file.read(columns=["op", "offset", "bytes", "context"]).combine_chunks()
    op = np.asarray(table["op"].cast("string"))
    written, trimmed = op == "write", op == "trim"
    tally.requests, tally.trims = len(op), int(trimmed.sum())
    (rows, pages), (trim_rows, trim_pages) = (_pages(table, which) for which in (written, trimmed))
    names, codes = _contexts(table["context"])
    codes = codes[rows]
    tally.pages, tally.distinct_pages = len(pages), len(np.unique(pages))
    tally.writing = len({names[code] for code in np.unique(codes)} - {NO_CONTEXT})
    before = _write_before(pages)
    update = np.flatnonzero(before >= 0)
    replaced = codes[before[update]]
    tally.updates = len(update)
    tally.sequence = [names[code] for code in replaced.tolist()]
    tally.by_context = Counter(tally.sequence)
    live = ~_was_trimmed(rows, pages, before, trim_rows, trim_pages)[update]
    tally.live_updates = int(live.sum())
    tally.live_by_context = Counter([names[code] for code in replaced[live].tolist()])
    follows = np.flatnonzero(pages[update][1:] == pages[update][:-1] + 1) + 1
    tally.sequential = frozenset(names[code] for code in np.unique(replaced[follows]))
    return tally


def _pages(table: pa.Table, which: Any) -> tuple[Any, Any]:
    """Return the pages of some rows, with the numbers of their rows."""
    numbers = np.flatnonzero(which)
    offset, length = (np.asarray(table[name], dtype=np.int64)[numbers] for name in ("offset", "bytes"))
    request, page = pages_of(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES))
    return numbers[request], page


def _contexts(column: pa.ChunkedArray) -> tuple[list[int], Any]:
    """Return the contexts of a trace, and for each row the place of its own."""
    known = np.asarray(column.is_valid())
    names, codes = np.unique(np.asarray(column.fill_null(0)), return_inverse=True)
    return [*names.tolist(), NO_CONTEXT], np.where(known, codes, len(names))


def _write_before(pages: Any) -> Any:
    """Return for each page write the one before it of the same page, -1 for the first."""
    order = np.argsort(pages, kind="stable")
    same = pages[order][1:] == pages[order][:-1]
    before = np.full(len(pages), -1)
    before[order[1:][same]] = order[:-1][same]
    return before


def _was_trimmed(rows: Any, pages: Any, before: Any, trim_rows: Any, trim_pages: Any) -> Any:
    """Return for each page write whether its page was trimmed since the last update, or ever before the first one."""
    page, row = np.concatenate([pages, trim_pages]), np.concatenate([rows, trim_rows])
    order = np.lexsort((row, page))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    is_trim = np.arange(len(order)) >= len(pages)
    # The last trim at or before each place; one of an earlier page counts for none.
    last = np.maximum.accumulate(np.where(is_trim[order], np.arange(len(order)), -1))[place[: len(pages)]]
    begin = np.searchsorted(page[order], pages)
    since = np.where((before >= 0) & (before[before] >= 0), place[before], begin - 1)
    return last > since


def marks(tally: ContextUpdates, bins: int = 200) -> list[dict[str, Any]]:
    """Return the figure's marks: spans of updates in each bin of which a context occurs.

    Returns:
        ``row`` (contexts numbered from 1 in the order of their first update), ``from`` and ``to`` (updates, the span's
        ends), ``rank`` (1 to 5 for the contexts with most updates, else 0).
    """
    rows = {context: row for row, context in enumerate(dict.fromkeys(tally.sequence), start=1)}
    ranks = {context: rank for rank, (context, _) in enumerate(tally.by_context.most_common(TOP), 1)}
    total = len(tally.sequence)
    width = max(1.0, total / bins)
    spans: list[dict[str, Any]] = []
    open_spans: dict[int, dict[str, Any]] = {}
    bin_of = (np.arange(total) / width).astype(int).tolist()
    # Each context once in each bin, in the order of the updates.
    for number, context in dict.fromkeys(zip(bin_of, tally.sequence, strict=True)):
        span = open_spans.get(context)
        if span is not None and number - span["bin"] <= 1:
            span["bin"] = number
            span["to"] = min(total, (number + 1) * width)
            continue
        span = {
            "row": rows[context],
            "rank": ranks.get(context, 0),
            "from": number * width,
            "to": min(total, (number + 1) * width),
            "bin": number,
        }
        open_spans[context] = span
        spans.append(span)
    return [{key: value for key, value in span.items() if key != "bin"} for span in spans]


def figure(tally: ContextUpdates, title: str, width: int = 560, height: int = 220) -> vega.Chart:
    """Draw figure 27 for a trace: along the updates, the contexts whose data are replaced; the top five in colour."""
    labels = [f"{place}. context, {_share(tally, place)}" for place in range(1, min(TOP, len(tally.by_context)) + 1)]
    others = "others"
    data = [
        {
            "from": round(mark["from"], 1),
            "to": round(mark["to"], 1),
            "low": mark["row"] - 0.45,
            "high": mark["row"] + 0.45,
            "context": labels[mark["rank"] - 1] if mark["rank"] else others,
        }
        for mark in sorted(marks(tally), key=lambda mark: mark["rank"] != 0)
    ]
    colors = vega.Scale(domain=[*labels, others], range=[*_COLORS[: len(labels)], _OTHER])
    rows = max((mark["high"] for mark in data), default=1.0)
    return (
        vega.Chart(vega.Data(values=data), title=title)
        # The edge keeps a context visible that has less than a pixel's height or width.
        .mark_rect(strokeWidth=0.8, aria=False)
        .encode(
            x=vega.X("from:Q", title="updates so far", scale=vega.Scale(domain=[0, max(1, tally.updates)], nice=False)),
            x2="to:Q",
            y=vega.Y(
                "low:Q",
                title="contexts by first update",
                scale=vega.Scale(domain=[0.5, rows], nice=False),
                axis=vega.Axis(tickMinStep=1),
            ),
            y2="high:Q",
            color=vega.Color("context:N", scale=colors, legend=vega.Legend(title=None, orient="bottom", columns=3)),
            stroke=vega.Stroke("context:N", scale=colors, legend=None),
        )
        .properties(width=width, height=height)
    )


def _share(tally: ContextUpdates, rank: int) -> str:
    count = tally.by_context.most_common(rank)[-1][1]
    return f"{count / tally.updates:.0%}"
