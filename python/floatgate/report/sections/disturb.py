"""Read disturb: what was reclaimed, what it cost, and what to try."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.pages import palette, vega
from floatgate.pages.charts import HEIGHT, WIDTH, binned, data_chart, finished
from floatgate.pages.parts import Charts, Part, Rows, Section, Text, figure
from floatgate.report import throttle_charts
from floatgate.report.sections import section
from floatgate.report.throttle_charts import Look
from floatgate.results.result_view import look

NOTABLE = 0.01
"""Share of flash time from which on reclaim is worth a remark."""
MANAGERS = ("baseline", "rrb", "redftl", "redftl-plus")
KINDS = {
    "on_demand": Look("on demand", palette.INK, (), "cross"),
    "background": Look("background", palette.BROWN, (8, 3), "square"),
}
DURING = Look("during reclaims", palette.INK, (), "cross")
OTHERWISE = Look("otherwise", palette.BROWN, (8, 3), "square")
TIMES = {"p50": "median", "p99": "99 %", "max": "longest"}
"""Response times of the summary, and their names."""


def line(result: dict[str, Any]) -> str | None:
    """Format as ``baseline: 412 blocks reclaimed on demand, the first after 3.2 M reads, 3.1 % of flash time; ...``.

    None where reads disturb nothing.
    """
    facts = look(result, "reclaim")
    if not facts:
        return None
    stands = f"a block endures {units.count(facts['max_reads'])} reads"
    if policy(result) == "none":
        beyond = facts["reads_beyond_max"]
        text = f"{units.count(beyond)} reads of blocks beyond that" if beyond else "none was read beyond that"
        return f"nothing is reclaimed: {stands}, {text}"
    kinds = [
        f"{units.count(facts[key])} {'reclaim' if facts[key] == 1 else 'reclaims'} {words}"
        for key, words in (("on_demand", "on demand"), ("background", "in the background"))
        if facts[key]
    ]
    most = f"the most disturbed one reached {units.percent1(facts['largest_disturbance_share'])} of that"
    if not kinds:
        return f"{policy(result)}: no block reclaimed ({stands}; {most})"
    first = f", the first after {units.count(facts['first_after_reads'])} reads" if facts["first_after_reads"] else ""
    parts = [f"{units.count(blocks(result))} blocks in {' and '.join(kinds)}{first}"]
    if facts["replicas"]["made"]:
        parts.append(f"{units.count(facts['replicas']['made'])} replicas made")
    parts.append(f"{units.share(time_share(result))} of flash time")
    return f"{policy(result)}: {', '.join(parts)} ({stands})"


def remark(result: dict[str, Any]) -> str | None:
    """Return what to try where reclaim takes a notable share of flash time."""
    facts = look(result, "reclaim")
    if not facts or policy(result) == "none" or time_share(result) < NOTABLE:
        return None
    kinds = len(facts["reads_by_page_type"])
    others = [name for name in MANAGERS if kinds > 1 or name != "redftl-plus"]
    return (
        f"read reclaim takes {units.share(time_share(result))} of flash time; "
        f"floatgate compare with --vary ftl.reclaim.policy={','.join(others)} shows which manager needs least"
    )


def policy(result: dict[str, Any]) -> str:
    """Return the manager's name."""
    return str(look(result, "config", "ftl", "reclaim", "policy") or "reclaim")


def blocks(result: dict[str, Any]) -> int:
    """Return blocks that reclaims have erased: one that mixes takes two, and a superblock has several."""
    return int(look(result, "flash", "erases", "reclaim") or 0)


def time_share(result: dict[str, Any]) -> float:
    """Share of the nominal flash time that reclaims and replicas take."""
    times = look(result, "flash", "time_s") or {}
    total = times.get("total") or 0.0
    return (times.get("reclaim", 0.0) + times.get("replica", 0.0)) / total if total else 0.0


HEADER = ["reclaimed", "reclaim time"]
"""Columns of a comparison on read disturb: blocks reclaimed, share of flash time of reclaims and replicas."""


def cells(result: dict[str, Any]) -> list[str]:
    """Return the cells under :data:`HEADER`."""
    facts = look(result, "reclaim")
    if not facts:
        return ["-", "-"]
    return [units.count(blocks(result)), units.percent1(time_share(result))]


def parts(result: dict[str, Any]) -> list[Part]:
    """Show what was reclaimed, the pages read and how far blocks are disturbed; empty if reads disturb nothing."""
    facts = look(result, "reclaim")
    summary = line(result)
    if not facts or not summary:
        return []
    figures: list[Part] = [
        figure(
            "disturbance",
            "Disturbance of blocks",
            "Blocks by what reads have disturbed them at the end, as a share of what they endure. Heights are on a "
            "logarithmic scale that begins at zero.",
            lambda width: disturbance(facts, width),
        )
    ]
    if look(facts, "service_ms", "count"):
        figures.append(
            figure(
                "service",
                "Time of reclaims",
                "Share of reclaims and replications that take at most so long without a pause.",
                lambda width: service(facts, width),
            )
        )
    figures += _in_time(facts)
    return [Section("Read disturb", [Text(f"{summary}."), Charts(figures), Rows(rows(result))])]


def _in_time(facts: dict[str, Any]) -> list[Part]:
    """Draw reclaims over time, and response times around them if there are any."""
    made: list[Part] = []
    document = look(facts, "over_time") or {}
    if sum(document.get("on_demand", [])) + sum(document.get("background", [])):
        made.append(
            figure(
                "reclaims",
                "Reclaims over time",
                "Reclaims in each of equal intervals of the requests.",
                lambda width: over_time(facts, width),
            )
        )
    if look(facts, "response_us", "during"):
        made.append(
            figure(
                "responses",
                "Response times around reclaims",
                "Share of the reads that were answered within so long: those that came or were served while something "
                "was reclaimed or replicated on the drive, and all others.",
                lambda width: responses(facts, width),
            )
        )
    return made


def rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return figures with their names."""
    facts = look(result, "reclaim")
    made = [
        ("blocks reclaimed", units.count(blocks(result))),
        ("reclaims on demand", units.count(facts["on_demand"])),
        ("reclaims in the background", units.count(facts["background"])),
        ("pages moved", units.count(facts["moved_pages"])),
        ("most disturbed block", units.percent1(facts["largest_disturbance_share"])),
    ]
    reads = {name: count for name, count in facts["reads_by_page_type"].items() if count}
    total = sum(reads.values())
    if len(facts["reads_by_page_type"]) > 1 and total:
        made.append(("reads by page type", ", ".join(f"{units.share(n / total)} {name}" for name, n in reads.items())))
    modes = facts["reads_by_mode"]
    if sum(modes[1:]):
        made.append(
            (
                "reads by mode of block",
                ", ".join(f"{units.share(n / sum(modes))} mode {i}" for i, n in enumerate(modes)),
            )
        )
    replicas = facts["replicas"]
    if replicas["made"]:
        made += [
            ("replicas made", units.count(replicas["made"])),
            ("replicas that died by an update", units.count(replicas["died_by_update"])),
            ("replicas that died with their block", units.count(replicas["died_by_erase"])),
            ("replicas that replaced their original", units.count(replicas["promoted"])),
        ]
    for when, name in (("during", "reads during reclaims"), ("otherwise", "other reads")):
        distribution = look(facts, "response_us", when)
        if distribution:
            times = ", ".join(f"{label} {units.span(distribution[key] / 1e6)}" for key, label in TIMES.items())
            made.append((name, f"{units.count(distribution['count'])}: {times}"))
    if facts["memory_bytes"]:
        made.append(("tables of the manager", units.binary_bytes(facts["memory_bytes"])))
    return made


def disturbance(facts: dict[str, Any], width: int = WIDTH) -> vega.Chart:
    """Draw blocks by their disturbance."""
    histogram = facts["disturbance"]
    counts, edges = histogram["blocks"], histogram["edges"]
    # The last bin is open: blocks that are never reclaimed lie beyond.
    ends = [*edges[1:], edges[-1] + edges[1]]
    shown = [
        {"from": start, "to": end, "count": count}
        for start, end, count in zip(edges, ends, counts, strict=True)
        if count
    ]
    scale = vega.Scale(domain=[0, ends[-1] if counts[-1] else 1])
    title = "disturbance, share of the maximum"
    return binned(shown, title, "blocks", width, axis=vega.Axis(format="%"), scale=scale, log=True)


def service(facts: dict[str, Any], width: int = WIDTH) -> vega.Chart:
    """Draw the distribution of the times of reclaims."""
    points = [(0.0, 0.0), *facts["service_ms"]["cdf"]]
    shown = [{"ms": ms, "share": share} for ms, share in points]
    chart = (
        data_chart(shown)
        .mark_line(interpolate="step-after", color=palette.INK)
        .encode(
            x=vega.X("ms:Q", title="nominal time, ms"),
            y=vega.Y("share:Q", title="share of reclaims", axis=vega.Axis(format="%"), scale=vega.Scale(domain=[0, 1])),
        )
    )
    return finished(chart, width, HEIGHT)


def over_time(facts: dict[str, Any], width: int = WIDTH) -> vega.Composed:
    """Draw reclaims by interval, over time where the workload has time, else over the requests."""
    course = facts["over_time"]
    edges, title = (course["time_s"], "time, s") if course["time_s"] else (course["requests"], "requests")
    drawn = {kind: kind_look for kind, kind_look in KINDS.items() if sum(course[kind])}
    shown = [
        {"x": edge, "y": count, "series": kind_look.label}
        for kind, kind_look in drawn.items()
        for edge, count in zip(edges, [0, *course[kind]], strict=True)
    ]
    return throttle_charts.lines(
        shown, list(drawn.values()), title, "reclaims in an interval", width=width, height=HEIGHT, step=True
    )


def responses(facts: dict[str, Any], width: int = WIDTH) -> vega.Composed:
    """Return distributions of response times during reclaims and otherwise."""
    shown = [
        {"x": time_us / 1000, "y": share, "series": look.label}
        for when, look in (("during", DURING), ("otherwise", OTHERWISE))
        if (distribution := facts["response_us"][when])
        for time_us, share in zip(distribution["cdf"]["us"], distribution["cdf"]["share"], strict=True)
    ]
    drawn = [DURING, OTHERWISE]
    return throttle_charts.lines(
        shown, drawn, "response time, ms", "share of the reads", width=width, height=HEIGHT, x_log=True, share=True
    )


SECTION = section.Section(
    "disturb",
    lines=lambda _, result: [("reads", line(result))],
    parts=lambda _, result: parts(result),
    remarks=lambda result: [remark(result)],
    columns=[
        section.Columns(HEADER, lambda result, _: cells(result), applies=lambda result: bool(look(result, "reclaim")))
    ],
)
