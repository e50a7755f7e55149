"""Deduplication and compression: what is programmed of what the host writes, why, and at what energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, WIDTH, data_chart, finished
from floatgate.pages.parts import Box, Charts, Grid, Part, Rows, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections import buffer, section
from floatgate.report.sections.run_charts import course
from floatgate.report.throttle_charts import Look, time_axis
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

FEW = 1000
"""Minimum of host pages that represent the content that a drive gets."""

_UNKNOWN = 0.01
"""More pages of unknown content than this make the written ratio an upper bound."""

Facts = Mapping[str, Any]
SCHEMES = {"dedup_share": "deduplication", "compress_share": "compression", "throttle_share": "throttling"}
"""Columns of ``reduce.manager.over_time`` and the names of their rows in the picture."""
DEMAND = Look("demand", palette.BLUE, (), "cross")
CAPACITY = Look("capacity", palette.BROWN, (8, 3), "square")
DEDUP = Look("deduplication", palette.BLUE, (), "cross")
COMPRESS = Look("compression", palette.BROWN, (8, 3), "square")
_BYTES = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0))
_WIDE = 20
"""Above this multiple of the median the largest figure would hide all others on a linear axis."""
_HEADING = "Deduplication and compression"
_STRIP_ROW = 34
"""Height of a row of the picture of schemes, in pixels."""


def at_work(result: Facts | None) -> dict[str, Any] | None:
    """Return the table ``reduce`` of a run with a reducer; None for all others."""
    facts: dict[str, Any] | None = look(result, "reduce")
    return facts if facts and facts.get("policy") not in (None, "none") else None


def line(result: Facts) -> str | None:
    """Format as ``0.36 of the host's pages are programmed: 46 % are duplicates, compression reduces the rest ...``.

    None where nothing is reduced.
    """
    facts = at_work(result)
    if not facts:
        return None
    ratio, pages = facts.get("written_ratio"), facts.get("host_pages") or 0
    if ratio is None:
        return f"{facts['policy']}: the host wrote no pages"
    parts = []
    if facts.get("duplicate_share") is not None:
        parts.append(f"{units.share(facts['duplicate_share'])}{_hashed(facts)} are duplicates")
    merged = merged_words(result)
    parts += [] if merged is None else [merged]
    if facts.get("chunk_ratio") is not None:
        of = "the rest" if parts else "them"
        parts.append(f"compression reduces {of} to {100 * facts['chunk_ratio']:.0f} %")
    unknown = facts.get("unknown_share") or 0.0
    if unknown >= _UNKNOWN:
        parts.append(f"what {units.share(unknown)} of them hold is unknown and counts as new and incompressible")
    why = f": {', '.join(parts)}" if parts else ""
    energy = energy_ratio_text(facts)
    if energy and look(result, "config", "drive", "energy", "program_uj") is None:
        energy += " (assumed: 29.1 uJ for each 4 KiB that is programmed, drive.energy.program_uj)"
    few = f" (of {units.count(pages)} pages only, which say little)" if pages < FEW else ""
    return f"{ratio:.2f} of the host's pages are programmed{why}{f'; {energy}' if energy else ''}{few}"


def merged_share(result: Facts | None) -> float | None:
    """Return the share of the page writes that an overwrite replaced while their chunk waited; None if not known.

    These writes save programs whatever their content is.
    """
    facts = at_work(result)
    kept: float | None = look(facts, "merged_share")
    merged, pages = look(facts, "rewritten_pages"), look(facts, "host_pages")
    return merged / pages if kept is None and merged is not None and pages else kept


def merged_words(result: Facts) -> str | None:
    """Format as ``44 % were overwritten while their chunk waited (a DRAM buffer would save them, too: ...)``.

    None below a hundredth of the page writes.
    """
    share = merged_share(result)
    if share is None or share < MERGED_MIN:
        return None
    buffered = buffer.is_modelled(look(result, "config"))
    also = "" if buffered else " (a DRAM buffer would save these writes, too, and this drive has none: drive.buffer)"
    return f"{units.share(share)} were overwritten while their chunk waited{also}"


def _hashed(facts: Facts) -> str:
    """Say that the share refers to pages with a fingerprint, if only a part of the pages was hashed."""
    hashed, pages = facts.get("hashed_pages"), facts.get("host_pages")
    return " of those looked at" if hashed and pages and hashed < pages else ""


def energy_ratio_text(facts: Facts) -> str | None:
    """Format as ``0.45 of the energy of programming every page, hash and compressor included``."""
    ratio = facts.get("energy_ratio")
    if ratio is None:
        return None
    engines = [name for name, key in (("hash", "hashed_pages"), ("compressor", "compressed_pages")) if facts.get(key)]
    included = f", {' and '.join(engines)} included" if engines else ""
    return f"{ratio:.2f} of the energy of programming every page{included}"


INTEGRATED = "integrated"
"""The reducer that chooses schemes from epoch to epoch, and throttles."""

NAMES = {"dedup": "deduplication", "compress": "compression", "both": "deduplication and compression"}
"""The other reducers in words."""


def policy(result: Facts | None) -> str | None:
    """Return the reducer of a run or a life; None without one."""
    named = look(result, "reduce", "policy") or look(result, "config", "lifetime", "reduce", "policy")
    return None if named in (None, "none") else str(named)


def manager(result: Facts | None) -> str | None:
    """Format as ``of 2016 epochs 81 % with both schemes, 19 % with deduplication; 3 % throttled``, or None."""
    facts = look(result, "reduce", "manager")
    if not facts or not facts.get("epochs"):
        return None
    named = {"both": "with both schemes", "compress": "with compression", "dedup": "with deduplication"}
    named |= {"none": "with neither"}
    choices, epochs = look(result, "reduce", "epochs_by_choice") or {}, facts["epochs"]
    parts = [f"{units.share(choices[key] / epochs)} {words}" for key, words in named.items() if choices.get(key)]
    throttled = facts.get("throttled_epochs")
    more = f"; {units.share(throttled / epochs)} throttled" if throttled is not None else ""
    return f"of {units.count(epochs)} epochs of {units.span(facts['epoch_s'])}, {', '.join(parts)}{more}"


def remark(result: Facts) -> str | None:
    """Note that the index forgot contents, where it held far fewer entries than there were contents."""
    facts = at_work(result)
    index = look(facts, "index") if facts else None
    if not index or not index.get("entered"):
        return None
    lost = index["evicted"] / index["entered"]
    if lost < _NOTABLE:
        return None
    return (
        f"the content index forgot {units.share(lost)} of the contents that entered it "
        "(a larger lifetime.reduce.index_share may find more duplicates)"
    )


_NOTABLE = 0.05
_OFF = (None, "0 B")
"""Capacities of no buffer."""
MERGED_MIN = 0.01
"""Share of the page writes below which those that an overwrite replaced are not named."""

HEADER = ["written ratio", "duplicates", "chunks", "energy ratio"]
"""Columns of a comparison on reducers."""

READING = (
    "Written ratio: programs of host writes over pages that the host wrote; WAF adds what collection moves. Chunks: "
    "flash pages over the pages that went into them. Energy ratio: programs of host writes, hash and compressor over "
    "programming every page."
)
"""The note that goes with these columns."""


def cells(result: Facts) -> list[str]:
    """Return the cells under :data:`HEADER`."""
    facts = at_work(result)
    if not facts:
        return ["-"] * len(HEADER)

    def ratio(key: str) -> str:
        return "-" if facts.get(key) is None else f"{facts[key]:.2f}"

    duplicates = facts.get("duplicate_share")
    duplicate_share = "-" if duplicates is None else units.share(duplicates)
    return [ratio("written_ratio"), duplicate_share, ratio("chunk_ratio"), ratio("energy_ratio")]


def cards(result: dict[str, Any]) -> list[section.Card]:
    """Return the written ratio."""
    saved = at_work(result)
    if not saved or saved.get("written_ratio") is None:
        return []
    return [("written ratio", f"{saved['written_ratio']:.2f}", "programs of host writes per host page")]


def parts(run: RunView, result: dict[str, Any]) -> list[Part]:
    """Return duplicates, compression, savings and a manager's choices; empty without a reducer."""
    facts = at_work(result)
    summary = line(result)
    if not facts or not summary:
        return []
    pictures: list[Part] = []
    if run.series.num_rows > 1 and look(facts, "written_ratio") is not None:
        pictures.append(
            figure(
                "written-ratio",
                "Written ratio over time",
                "Programs of host writes per page that the host wrote in each interval; dashed: mean of the run.",
                lambda width: over_time(run, width),
            )
        )
    pictures.append(Box([Rows(rows(facts))]))
    return [Section(_HEADING, [*_paragraphs(result, summary), Charts(pictures), *_manager(facts)])]


def of_life(result: dict[str, Any]) -> list[Part]:
    """Return the same for a life that was forecast."""
    facts, summary = at_work(result), line(result)
    if not facts or not summary:
        return []
    return [Section(_HEADING, [*_paragraphs(result, summary), *_choices(facts), *_manager(facts)])]


def _paragraphs(result: dict[str, Any], summary: str) -> list[Part]:
    """Return the line of the summary and the manager's actions, a paragraph each."""
    paragraphs = [summary, *(text for text in (manager(result),) if text)]
    return [Text(f"{one[:1].upper()}{one[1:]}.") for one in paragraphs]


def _choices(facts: dict[str, Any]) -> list[Part]:
    """Show what each choice of schemes would come to, if laps measured each; else nothing."""
    measured = facts.get("by_choice")
    if not measured:
        return []
    epochs, names = look(facts, "epochs_by_choice") or {}, {"none": "neither", **NAMES}
    header = ["schemes", "written ratio", "WAF", "laps", "epochs"]
    cells = [
        [
            names[row["schemes"]],
            f"{row['written_ratio']:.3f}",
            f"{row['waf']:.2f}",
            str(row["laps"]),
            units.count(epochs.get(row["schemes"], 0)),
        ]
        for row in measured
    ]
    return [Grid(header, cells)]


def rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return names and figures of the table."""
    made = [
        ("pages that the host wrote", _count(facts, "host_pages")),
        ("pages programmed for them", _count(facts, "programmed_pages")),
        ("written ratio", _ratio(facts, "written_ratio")),
        ("energy ratio", _ratio(facts, "energy_ratio")),
    ]
    if facts.get("hashed_pages"):
        share = units.share(facts.get("duplicate_share") or 0.0)
        made.append(("duplicates", f"{_count(facts, 'duplicate_pages')} ({share})"))
        made.append(("contents shared now", _count(facts, "shared_now")))
        made.append(("pages that share them", _count(facts, "referrers_now")))
        made.append(("most pages that shared one content", _count(facts, "references_max")))
    index = facts.get("index")
    if index:
        made.append(("index entries used", f"{units.count(index['used'])} of {units.count(index['entries'])}"))
        made.append(("contents forgotten for want of entries", units.count(index["evicted"])))
    if facts.get("compressed_pages"):
        if facts.get("rewritten_pages") is not None:
            made.append(("pages overwritten while their chunk waited", _count(facts, "rewritten_pages")))
        made.append(("chunks compressed", _count(facts, "chunks")))
        made.append(("chunks without gain, written plain", _count(facts, "plain_chunks")))
        made.append(("chunks programmed before they were full", _count(facts, "part_chunks")))
        made.append(("flash pages per page in chunks", _ratio(facts, "chunk_ratio")))
        made.append(("chunks now", _count(facts, "chunks_now")))
        made.append(("holes in them", _count(facts, "holes")))
        if facts.get("repacked_pages"):
            into = f"{_count(facts, 'repacked_pages')} into {_count(facts, 'repacked_into')}"
            made.append(("pages packed anew when moved", into))
    if facts.get("memory_bytes"):
        made.append(("memory of the tables", units.binary_bytes(facts["memory_bytes"])))
    return made


def _count(facts: dict[str, Any], key: str) -> str:
    return "-" if facts.get(key) is None else units.count(facts[key])


def _ratio(facts: dict[str, Any], key: str) -> str:
    return "-" if facts.get(key) is None else f"{facts[key]:.3f}"


def over_time(run: RunView, width: int = WIDTH) -> vega.Composed:
    """Return programs of host writes per page that the host wrote, interval by interval, and the mean of the run."""
    courses, axis = course(run)
    points = [
        {"at": row["at"], "ratio": _programmed(row) / row["page_writes"]} for row in courses if row.get("page_writes")
    ]
    y = vega.Y("ratio:Q", title="written ratio", scale=vega.Scale(zero=True))
    line = (
        data_chart(points)
        .mark_line(color=palette.INK, interpolate="step-before", strokeWidth=1.4)
        .encode(x=vega.X("at:Q", title=axis, scale=vega.Scale(nice=False)), y=y)
    )
    mean = data_chart([{"ratio": look(run.result, "reduce", "written_ratio") or 0.0}])
    rule = mean.mark_rule(color=palette.BROWN, strokeDash=[6, 4], strokeWidth=1.6).encode(y=y)
    return finished(vega.layer(line, rule), width, HEIGHT)


def _programmed(row: dict[str, Any]) -> float:
    return sum(row.get(f"programs_{name}") or 0 for name in ("host", "partial"))


def _manager(facts: dict[str, Any]) -> list[Part]:
    """Draw what the integrated manager chose; nothing without one."""
    course = [row for row in look(facts, "manager", "over_time") or [] if row.get("epochs")]
    if len(course) < 2:
        return []
    epoch = units.span(look(facts, "manager", "epoch_s") or 0.0)
    figures: list[Part] = [
        figure(
            "schemes",
            "Schemes at work",
            "The darker, the larger the share of epochs in which a scheme was on.",
            lambda width: schemes(course, width),
        ),
        figure(
            "demand",
            "Demand and capacity",
            f"Flash bytes per epoch of {epoch}: the demand of the host without any scheme, and what the target allows.",
            lambda width: demand(course, width),
        ),
    ]
    if any(row.get(key) is not None for row in course for key in ("dedup_ratio", "compress_ratio")):
        figures.append(
            figure(
                "predicted",
                "Predicted written ratios",
                "What the manager expects of each scheme, from epochs and samples before.",
                lambda width: predicted(course, width),
            )
        )
    return [Charts(figures)]


def schemes(course: Sequence[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Return when each scheme was on: a strip a scheme, darker where it was on in more of the epochs."""
    title, unit = time_axis(course[-1]["to_s"])
    cells = [cell for key, name in SCHEMES.items() for cell in _strip(course, unit, key, name)]
    frames = [
        {"from": course[0]["from_s"] / unit, "to": course[-1]["to_s"] / unit, "scheme": name}
        for name in SCHEMES.values()
    ]
    x = vega.X("from:Q", title=title, scale=vega.Scale(nice=False, zero=False), axis=vega.Axis(tickCount=5))
    y = vega.Y("scheme:N", title=None, sort=list(SCHEMES.values()), scale=vega.Scale(paddingInner=0.25))
    opacity = vega.Opacity("share:Q", scale=vega.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    filled = data_chart(cells).mark_bar(color=palette.INK, strokeWidth=0, binSpacing=0)
    framed = data_chart(frames).mark_bar(fillOpacity=0, stroke=palette.GREY, strokeWidth=1)
    layers = [filled.encode(x=x, x2="to:Q", y=y, opacity=opacity), framed.encode(x=x, x2="to:Q", y=y)]
    return finished(vega.layer(*layers), width, 70 + _STRIP_ROW * len(SCHEMES))


def _strip(course: Sequence[dict[str, Any]], unit: float, key: str, name: str) -> list[dict[str, Any]]:
    """Return the cells of a scheme; equal neighbours become one, without a seam between them."""
    cells: list[dict[str, Any]] = []
    for row in course:
        start, end, share = row["from_s"] / unit, row["to_s"] / unit, row.get(key) or 0.0
        if cells and cells[-1]["share"] == share:
            cells[-1]["to"] = end
        else:
            cells.append({"from": start, "to": end, "scheme": name, "share": share})
    return cells


def demand(course: Sequence[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Demand W against capacity C, in flash bytes per epoch."""
    title, unit = time_axis(course[-1]["to_s"])
    most = max((row.get(key) or 0.0 for row in course for key in ("demand_bytes", "capacity_bytes")), default=0.0)
    name, size = next((step for step in _BYTES if most >= step[1]), _BYTES[-1])
    points = _points(course, unit, {"demand_bytes": DEMAND, "capacity_bytes": CAPACITY}, size)
    # The remaining budget of a life that needed little grows without bound towards its end.
    heights = [point["y"] for point in points if point["y"] > 0]
    wide = bool(heights) and max(heights) > _WIDE * sorted(heights)[len(heights) // 2]
    shown = [point for point in points if point["y"] > 0] if wide else points
    return throttle_charts.lines(
        shown, [DEMAND, CAPACITY], title, f"{name} per epoch", width=width, step=True, y_log=wide
    )


def predicted(course: Sequence[dict[str, Any]], width: int = WIDTH) -> vega.Composed:
    """Return the predicted written ratio D of each scheme."""
    title, unit = time_axis(course[-1]["to_s"])
    points = _points(course, unit, {"dedup_ratio": DEDUP, "compress_ratio": COMPRESS}, 1.0)
    top = max(1.0, *(point["y"] for point in points))
    start = course[0]["from_s"] / unit
    return throttle_charts.lines(
        points, [DEDUP, COMPRESS], title, "predicted written ratio", width=width, step=True, x_min=start, y_max=top
    )


def _points(
    course: Sequence[dict[str, Any]], unit: float, columns: dict[str, Look], size: float
) -> list[dict[str, Any]]:
    """Return rows for :func:`lines`; what holds in a row of the course begins at its start."""
    points = []
    for key, drawn in columns.items():
        known = [row for row in course if row.get(key) is not None]
        if known:
            points.append({"x": known[0]["from_s"] / unit, "y": known[0][key] / size, "series": drawn.label})
        points += [{"x": row["to_s"] / unit, "y": row[key] / size, "series": drawn.label} for row in known]
    return points


SECTION = section.Section(
    "reduce",
    lines=lambda _, result: [("reduce", line(result)), ("", manager(result))],
    cards=cards,
    parts=parts,
    remarks=lambda result: [remark(result)],
    columns=[
        section.Columns(
            HEADER, lambda result, _: cells(result), applies=lambda result: bool(at_work(result)), note=READING
        )
    ],
)
