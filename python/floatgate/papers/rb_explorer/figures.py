"""Figures 5 to 12: errors of a pin and of a simulator, and write amplification by state, partition and volume."""

from __future__ import annotations

from typing import Any

from floatgate.pages import palette, vega
from floatgate.pages.charts import configured, data_chart
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.rb_explorer.micros import SIZES, micros
from floatgate.papers.rb_explorer.states import DRIVES, courses
from floatgate.papers.rb_explorer.volumes import OPS, SUBTESTS
from floatgate.report import throttle_charts
from floatgate.report.throttle_charts import Look

SOURCES = {
    "error.paper": Look("one pin, worn", palette.INK, (), "circle"),
    "error.new": Look("one pin, new", palette.BLUE, (), "square"),
    "off.worn.ssdsim": Look("simulator, worn", palette.BROWN, (), "triangle-up"),
    "error.ssdsim": Look("simulator, new", palette.MAGENTA, (), "diamond"),
}
FACTORS = {"worn": Look("worn", palette.BROWN, (), "triangle-up"), "new": Look("new", palette.MAGENTA, (), "diamond")}
SHARES = {"100w": ("only writes", 0.01), "50w": ("half writes, half reads", 0.1)}
"""By write share: its label, and the paper's bound."""
PATTERNS = {
    "sq-align": Look("SQ, aligned", palette.BLUE, (), "circle"),
    "sq-no-align": Look("SQ, not aligned", palette.BLUE, (5, 3), "square"),
    "rd-align": Look("RD, aligned", palette.BROWN, (), "triangle-up"),
    "rd-no-align": Look("RD, not aligned", palette.BROWN, (5, 3), "diamond"),
}
STATES = {("initial", "50w"): 6, ("initial", "100w"): 7, ("steady", "50w"): 8, ("steady", "100w"): 9}
"""Numbers of the figures."""
WAY = {
    "initial": "Write amplification by size of requests, as one pin tells it. Logarithmic.",
    "steady": "Write amplification by size of requests, of whole tests until bandwidth is stable. Logarithmic.",
}
"""How write amplification is counted, by state."""
COURSES = {
    "ssd-i": Look("SSD-I", palette.BLUE, (), "circle"),
    "ssd-m": Look("SSD-M", palette.BROWN, (5, 3), "square"),
    "ssd-s": Look("SSD-S", palette.GREEN, (1, 2), "triangle-up"),
}
COURSE_MICRO = "32k-sq-100w-align"
PARTITIONS = dict(
    zip(
        OPS,
        (
            Look("37.2 GB (7 %)", palette.INK, (), "circle"),
            Look("32.2 GB (8 %)", palette.BLUE, (8, 3), "square"),
            Look("25.2 GB (10 %)", palette.BROWN, (5, 2, 1, 2), "triangle-up"),
            Look("20.5 GB (12 %)", palette.GREEN, (3, 2), "diamond"),
            Look("15.9 GB (15 %)", palette.MAGENTA, (1, 2), "cross"),
        ),
        strict=True,
    )
)
TRACES = {"f1": ("Financial1", 11), "f2": ("Financial2", 12)}
OF_STATE = {
    "initial": Look("initial state", palette.BLUE, (), "circle"),
    "steady": Look("steady state", palette.BROWN, (5, 3), "square"),
}


def figures(findings: Findings) -> list[Figure]:
    """Return all figures for which there are values."""
    made = [_errors(findings, writes) for writes in SHARES] + [_factors(findings)]
    made += [_state(findings, state, writes, number) for (state, writes), number in STATES.items()]
    made += [_courses(findings), _partitions(findings)]
    made += [_trace(findings, trace, what) for trace in TRACES for what in ("oltp", "rate")]
    return [figure for figure in made if figure is not None]


def _errors(findings: Findings, writes: str) -> Figure | None:
    what, bound = SHARES[writes]
    rows = [
        {"thing": micro, "value": 100 * error, "series": look.label}
        for micro in micros(writes=[writes])
        for source, look in SOURCES.items()
        if (error := findings.figure(f"{source}.{micro}")) is not None
    ]
    if not rows:
        return None
    return Figure(
        f"figure-5-{writes}",
        f"Figure 5: errors of write amplification on SSD-v, {what}",
        f"Logarithmic; errors of 0 are left out. The dashed line is the paper's bound for a pin, {100 * bound:g} %.",
        lambda width: throttle_charts.dots(
            rows,
            list(SOURCES.values()),
            micros(writes=[writes]),
            "relative error, per cent",
            width=width,
            log=True,
            rule=100 * bound,
        ),
        "Figure 5",
    )


def _factors(findings: Findings) -> Figure | None:
    rows = [
        {"thing": micro, "value": factor, "series": look.label}
        for micro in micros()
        for state, look in FACTORS.items()
        if (factor := findings.figure(f"factor.{state}.{micro}")) is not None
    ]
    if not rows:
        return None
    return Figure(
        "figure-5c",
        "Figure 5(c): the simulator's error over the pin's (F_SIM_RB, Equation 14)",
        "The simulator is floatgate with SSDsim's deviations. Logarithmic; right of the dashed line the pin is more "
        "accurate. Cases without any error are left out.",
        lambda width: throttle_charts.dots(
            rows, list(FACTORS.values()), micros(), "the simulator's error / the pin's", width=width, log=True, rule=1
        ),
        "Figure 5",
    )


def _state(findings: Findings, state: str, writes: str, number: int) -> Figure | None:
    rows = [
        {"size": size, "y": wa, "series": look.label, "drive": drive}
        for drive in DRIVES
        for pattern, look in PATTERNS.items()
        for size in SIZES
        if (wa := _wa(findings, state, drive, size, pattern, writes)) is not None
    ]
    if not rows:
        return None
    share = {"100w": "100 % writes", "50w": "50 % writes"}[writes]
    return Figure(
        f"figure-{number}",
        f"Figure {number}: {share}, {state} state",
        WAY[state],
        lambda width: _panels(rows, width),
        "Figures 6 to 9",
    )


def _wa(findings: Findings, state: str, drive: str, size: str, pattern: str, writes: str) -> float | None:
    order, alignment = pattern.split("-", 1)
    return findings.figure(f"wa.{state}.{size}-{order}-{writes}-{alignment}.{drive}")


def _courses(findings: Findings) -> Figure | None:
    tests = courses(findings)
    rows = [
        {"x": 2.0 * (number + 1), "y": flash / host, "series": look.label}
        for drive, look in COURSES.items()
        if (one := tests.get((drive, COURSE_MICRO))) is not None
        for number, (flash, host) in enumerate(zip(one.flash_bytes, one.host_bytes, strict=True))
    ]
    if not rows:
        return None
    return Figure(
        "until-stable",
        "Sequential requests of 32 KiB on worn drives, round by round",
        "Write amplification of each round of 2 GiB. A test ends where five rounds are alike (table of ends); 2 GiB "
        "are the volume of section 4.3 alone. Once all has been written again, nothing is left to collect.",
        lambda width: throttle_charts.lines(
            rows, list(COURSES.values()), "GiB written", "write amplification", width=width, points=True
        ),
        "Figures 6 to 9",
    )


def _panels(rows: list[dict[str, Any]], width: int) -> Any:
    """Draw a panel for each drive, all on the same axes."""
    looks = list(PATTERNS.values())
    labels = [one.label for one in looks]
    narrow = width < 500
    legend = vega.Legend(title=None, orient="top", columns=2, symbolSize=110, symbolStrokeWidth=2)
    scale = vega.Scale(type="log", nice=False, domain=[0.8, 200])
    y = vega.Y("y:Q", title="write amplification", scale=scale, axis=vega.Axis(values=[1, 2, 5, 10, 20, 50, 100, 200]))
    across = max(60, width - 90 if narrow else width // 3 - 75)
    x = vega.X("size:N", title=None, sort=list(SIZES), axis=vega.Axis(labelAngle=-45 if across < 180 else 0))
    color = vega.Color("series:N", scale=vega.Scale(domain=labels, range=[one.color for one in looks]), legend=legend)
    dash = vega.StrokeDash(
        "series:N", scale=vega.Scale(domain=labels, range=[list(one.dash) or [1, 0] for one in looks]), legend=legend
    )
    shape = vega.Shape("series:N", scale=vega.Scale(domain=labels, range=[one.shape for one in looks]), legend=legend)
    panels = []
    for drive in DRIVES:
        mine = [row for row in rows if row["drive"] == drive]
        one = data_chart([{"y": 1.0}]).mark_rule(color=palette.GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(y="y:Q")
        line = data_chart(mine).mark_line(strokeWidth=1.6).encode(x=x, y=y, color=color, strokeDash=dash)
        marks = data_chart(mine).mark_point(size=60, filled=False, strokeWidth=1.6)
        marks = marks.encode(x=x, y=y, color=color, shape=shape)
        name = f"SSD-{drive[-1].upper()}"
        panels.append(vega.layer(one, line, marks).properties(width=across, height=220, title=name))
    return configured(vega.concat(*panels, columns=1 if narrow else 3).resolve_scale(x="shared", y="shared"))


def _partitions(findings: Findings) -> Figure | None:
    rows = [
        {"x": k, "y": wa, "series": look.label}
        for op, look in PARTITIONS.items()
        for k in range(1, SUBTESTS + 1)
        if (wa := findings.figure(f"walvd.{op}.{k}")) is not None
    ]
    if not rows:
        return None
    return Figure(
        "figure-10",
        "Figure 10: sub-tests of 5 GiB in partitions of SSD-I",
        "Logarithmic. The first sub-test has the initial data on its account: they are programmed, and not counted as "
        "written by the host.",
        lambda width: throttle_charts.lines(
            rows,
            list(PARTITIONS.values()),
            "sub-test",
            "write amplification",
            width=width,
            y_log=True,
            points=True,
        ),
        "Figure 10",
    )


def _trace(findings: Findings, trace: str, what: str) -> Figure | None:
    name, number = TRACES[trace]
    rows = [
        {"x": k, "y": value, "series": look.label}
        for state, look in OF_STATE.items()
        for k in range(1, SUBTESTS + 1)
        if (value := findings.figure(f"{what}.{state}.{trace}.{k}")) is not None
    ]
    if not rows:
        return None
    title = {"oltp": "write amplification", "rate": "host writes, MB/s"}[what]
    return Figure(
        f"figure-{number}-{what}",
        f"Figure {number}: {name} on SSD-I, {title}",
        "Sub-tests of 5 GiB written, 32 requests at a time.",
        lambda width: throttle_charts.lines(rows, list(OF_STATE.values()), "sub-test", title, width=width, points=True),
        "Figures 11 and 12",
    )
