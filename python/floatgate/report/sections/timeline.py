"""The timeline as a picture: a row per die and channel, time to the right, one bar per span.

Drawn by a template (``templates/timeline.html``) rather than as a chart: thousands of bars with tooltips, once for wide
and narrow pages alike. Names stay at the left while the bars scroll sideways on narrow pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.causes import BACKGROUND, CAUSES, REASONS, Cause, cause
from floatgate.pages.charts import WIDTH, colored, data_chart, finished
from floatgate.pages.parts import Part, Section, Swatch, Template, Text, lists
from floatgate.report.sections import section
from floatgate.results import timeline
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

ROWS_MAX = 64
"""Dies and channels drawn at most; then the busiest."""

WIDE = 1000.0
"""Units of the picture's width; the page stretches them to its own width."""

ROW = 16
"""Height of a row, pixels."""

FINEST = 0.4
"""Shortest bar, units; shorter ones of a kind that follow one another are drawn as one."""

NARROW = 4.0
"""Bars below this have no line around them, which would hide them; units."""

GATHERED = 5.0
"""Longest bar that merges several spans, units."""

LOOKS = {
    "r": Cause("host read", "currentColor"),
    "w": Cause("host write", CAUSES["host"].color),
    "p": CAUSES["partial"],
    "f": Cause("foreground job", REASONS["foreground_job"].color, REASONS["foreground_job"].pattern),
    "b": Cause("background job", CAUSES["gc"].color, CAUSES["gc"].pattern),
    "e": Cause("erase", palette.COFFEE),
    "s": Cause("suspended", "none"),
    "h": Cause("other work for hosts", palette.GREY),
}
"""Users of a die or a channel: class of the bar and its look."""


@dataclass(frozen=True)
class Bar:
    """Neighbouring spans drawn as one: place on the axis in units, look, text of the tooltip."""

    x: float
    width: float
    look: str
    text: str

    @property
    def thin(self) -> bool:
        """Whether the bar has no line around it."""
        return self.width < NARROW


@dataclass(frozen=True)
class Tick:
    """A mark on the axis: its place as a share of the interval, and its number."""

    share: float
    text: str


@dataclass(frozen=True)
class Row:
    """A die or a channel: its name, its place from the top in pixels, and its bars."""

    name: str
    y: int
    bars: Sequence[Bar]


def look_of(span: dict[str, Any]) -> str:
    """Return the key of :data:`LOOKS` for a span of :func:`floatgate.results.timeline.spans_of`."""
    if span["kind"] == timeline.SUSPENDED:
        return "s"
    if span["kind"] == timeline.ERASE:
        return "e"
    name = timeline.CAUSES[span["cause"]]
    if span["job"] or name in BACKGROUND:
        return "b" if span["job"] == 2 else "f"
    if name == "partial":
        return "p"
    return {timeline.READ: "r", timeline.PROGRAM: "w"}.get(span["of"], "h")


def describe(span: dict[str, Any], count: int, start_ns: int, end_ns: int, unit: tuple[str, float]) -> str:
    """Format as ``die 3: program, host, 1.234 to 1.834 ms (600 us)``: the tooltip."""
    where = f"{timeline.RESOURCES[span['resource']]} {span['index']}"
    who = cause(timeline.CAUSES[span["cause"]]).label + (f", {timeline.JOBS[span['job']]}" if span["job"] else "")
    what = f"{timeline.KINDS[span['kind']]}, {who}"
    name, size = unit
    when = f"{start_ns / size:.3f} to {end_ns / size:.3f} {name}"
    if count > 1:
        return f"{where}: {count} of {what}, {when}"
    return f"{where}: {what}, {when} ({units.span((end_ns - start_ns) * 1e-9)})"


def rows_of(run: RunView, spans: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """List (resource, index) of the rows: all dies, then all channels; only the busiest if there are too many."""
    geometry = look(run.result, "config", "drive", "geometry") or {}
    channels = geometry.get("channels") or 0
    dies = channels * (geometry.get("chips_per_channel") or 1) * (geometry.get("dies_per_chip") or 1)
    rows = {(0, die) for die in range(dies)} | {(1, channel) for channel in range(channels)}
    busy = busy_ns(spans)
    rows |= busy.keys()
    kept = sorted(rows, key=lambda row: (-busy.get(row, 0), row))[:ROWS_MAX]
    return sorted(kept)


def busy_ns(spans: list[dict[str, Any]]) -> dict[tuple[int, int], int]:
    """Time that each die and channel is busy, by (resource, index); suspended operations do not count."""
    busy: dict[tuple[int, int], int] = {}
    end: dict[tuple[int, int], int] = {}
    for span in spans:
        row = (span["resource"], span["index"])
        if span["kind"] == timeline.SUSPENDED:
            continue
        start = max(span["from_ns"], end.get(row, 0))
        busy[row] = busy.get(row, 0) + max(0, span["to_ns"] - start)
        end[row] = max(end.get(row, 0), span["to_ns"])
    return busy


def bars_of(spans: list[dict[str, Any]], interval_ns: tuple[int, int]) -> dict[tuple[int, int], list[Bar]]:
    """Return the bars of each row, those that are too short to see gathered."""
    start, end = interval_ns
    scale = WIDE / (end - start)
    unit = axis_unit(end - start)
    made: dict[tuple[int, int], list[Bar]] = {}
    group: list[dict[str, Any]] = []

    def close() -> None:
        if not group:
            return
        first, last = group[0]["from_ns"], max(span["to_ns"] for span in group)
        row = (group[0]["resource"], group[0]["index"])
        text = describe(group[0], len(group), first, last, unit)
        made.setdefault(row, []).append(
            Bar((first - start) * scale, max((last - first) * scale, FINEST), look_of(group[0]), text)
        )
        group.clear()

    for span in spans:
        long = group and span["to_ns"] - group[0]["from_ns"] > GATHERED / scale
        if group and (long or not _together(group[-1], span, FINEST / scale)):
            close()
        group.append(span)
    close()
    return made


def _together(one: dict[str, Any], other: dict[str, Any], finest_ns: float) -> bool:
    same = all(one[key] == other[key] for key in ("resource", "index", "kind", "cause", "job", "of"))
    short = max(span["to_ns"] - span["from_ns"] for span in (one, other)) < finest_ns
    return same and short and other["from_ns"] - one["to_ns"] < finest_ns


def axis_unit(length_ns: float) -> tuple[str, float]:
    """Name and nanoseconds of the unit of an axis."""
    for name, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if length_ns >= 2 * size:
            return name, size
    return "ns", 1.0


def ticks(interval_ns: tuple[int, int], most: int = 8) -> list[float]:
    """Round times within the interval, nanoseconds."""
    start, end = interval_ns
    step = 10.0 ** (len(str(int((end - start) / most))) - 1)
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if (end - start) / (step * factor) <= most)
    first = -(-start // step)
    return [(first + number) * step for number in range(most + 1) if (first + number) * step <= end]


def _between(interval_ns: tuple[int, int]) -> str:
    """Return an interval in words: ``from 0 to 20 ms after the first counted request``."""
    start, end = interval_ns
    name, size = axis_unit(end - start)
    if _origin(interval_ns):
        return f"in {(end - start) / size:g} {name} from {start / 1e9:.9g} s after the first counted request on"
    return f"from {start / size:g} to {end / size:g} {name} after the first counted request"


def nothing(run: RunView) -> str | None:
    """Say that a run did nothing in the interval, and where to look; None where it did, or has no timeline."""
    table = run.timeline
    if table is None or timeline.spans_of(table):
        return None
    interval_ns, span_s = timeline.interval_of(table), look(run.result.to_dict(), "span_s")
    text = f"No operation was in progress {_between(interval_ns)}"
    if span_s is None:
        return f"{text}."
    if interval_ns[0] < span_s * 1e9:
        return f"{text}; the run lasted {units.span(span_s)}."
    return f"{text}: the run lasted {units.span(span_s)}. Choose an interval within it (--timeline FROM..TO)."


def lines(run: RunView) -> list[section.Line]:
    """Say that an interval other than the default holds nothing."""
    if run.timeline is None or timeline.interval_of(run.timeline) == timeline.DEFAULT_NS:
        return []
    return [("timeline", nothing(run))]


def parts(run: RunView) -> list[Part]:
    """Return the heading, the picture and its legend; nothing where the run has no timeline."""
    table = run.timeline
    if table is None:
        return []
    interval_ns = timeline.interval_of(table)
    spans = timeline.spans_of(table)
    between = _between(interval_ns)
    if not spans:
        return [Section("Timeline", [Text(nothing(run) or "")])]
    rows = rows_of(run, spans)
    bars = bars_of(spans, interval_ns)
    used = dict.fromkeys(bar.look for row in rows for bar in bars.get(row, []))
    caption = f"Operations of dies and channels {between}."
    lists("timeline", "Timeline", caption, lambda width: chart(rows, bars, interval_ns, width))
    facts = _picture(rows, bars, interval_ns) | {
        "said": f"Operations of dies and channels {between}. {_busy(rows, spans, interval_ns)}",
        "keys": [_key(name) for name in LOOKS if name in used],
    }
    return [Section("Timeline", [Template("report/timeline.html", facts)])]


def chart(
    rows: list[tuple[int, int]],
    bars: dict[tuple[int, int], list[Bar]],
    interval_ns: tuple[int, int],
    width: int = WIDTH,
) -> vega.Chart:
    """Draw the same as a chart, for pictures as files: a row per die and channel, a bar per span."""
    start, end = interval_ns
    name, size = axis_unit(end - start)
    origin = _origin(interval_ns)
    first, scale = (start - origin) / size, (end - start) / size / WIDE
    spans: list[dict[str, Any]] = [
        {
            "where": f"{timeline.RESOURCES[row[0]]} {row[1]}",
            "from": first + bar.x * scale,
            "to": first + (bar.x + bar.width) * scale,
            "what": LOOKS[bar.look].label,
        }
        for row in rows
        for bar in bars.get(row, [])
    ]
    since = f" after {origin / 1e9:.9g} s" if origin else ""
    names = [f"{timeline.RESOURCES[row[0]]} {row[1]}" for row in rows]
    scale_x = vega.Scale(domain=[first, first + WIDE * scale], nice=False)
    looks = LOOKS | {
        "r": Cause(LOOKS["r"].label, palette.INK),
        "s": Cause(LOOKS["s"].label, palette.PALE),
    }
    # Viewers of files draw a line of at least one pixel: around short bars it would hide their colour.
    drawn = data_chart(spans).mark_bar(height=ROW - 5)
    encoded = drawn.encode(
        x=vega.X("from:Q", title=f"time, {name}{since}", scale=scale_x),
        x2="to:Q",
        y=vega.Y("where:N", title=None, sort=names, scale=vega.Scale(domain=names)),
        color=colored("what", [span["what"] for span in spans], looks, 2 if width < WIDTH else 3),
    )
    return finished(encoded, width, 90 + ROW * len(rows))


def _origin(interval_ns: tuple[int, int]) -> int:
    """Return where the axis begins to count: late intervals count from their start, which keeps figures short."""
    start, end = interval_ns
    return start if start >= 10 * (end - start) else 0


def _key(name: str) -> Swatch:
    label = LOOKS[name].label
    return Swatch(Cause("", "var(--paper)") if name == "s" else LOOKS[name], label)


def _busy(rows: list[tuple[int, int]], spans: list[dict[str, Any]], interval_ns: tuple[int, int]) -> str:
    busy, length = busy_ns(spans), interval_ns[1] - interval_ns[0]
    phrases = []
    for resource, name in enumerate(timeline.RESOURCES):
        shown = [row for row in rows if row[0] == resource]
        if shown:
            share = sum(busy.get(row, 0) for row in shown) / length / len(shown)
            phrases.append(f"{name}s {units.share(share)}")
    return f"Busy: {', '.join(phrases)} of the time. Point at a bar for details."


def _picture(
    rows: list[tuple[int, int]], bars: dict[tuple[int, int], list[Bar]], interval_ns: tuple[int, int]
) -> dict[str, Any]:
    """Return the template's data: rows with their bars, and the axis."""
    start, end = interval_ns
    name, size = axis_unit(end - start)
    origin = _origin(interval_ns)
    since = f" after {origin / 1e9:.9g} s" if origin else ""
    return {
        "width": WIDE,
        "height": ROW * len(rows),
        "bar_height": ROW - 4,
        "rows": [
            Row(f"{timeline.RESOURCES[row[0]]} {row[1]}", ROW * number, bars.get(row, []))
            for number, row in enumerate(rows)
        ],
        "ticks": [
            Tick((tick + origin - start) / (end - start), f"{tick / size:g}")
            for tick in ticks((start - origin, end - origin))
        ],
        "unit": f"{name}{since}",
    }


SECTION = section.Section("timeline", lines=lambda run, _: lines(run), parts=lambda run, _: parts(run))
