"""The report of a forecast life: the answer, the course of the throttle, the responses, where it comes from."""

from __future__ import annotations

from typing import Any

from floatgate import _core
from floatgate.base import units
from floatgate.pages import palette
from floatgate.pages.page import page as whole_page
from floatgate.pages.parts import Cards, Charts, Code, Figure, Part, Rows, Section, Text, Title, figure, left_out
from floatgate.report import throttle_charts
from floatgate.report.life_range import uneven
from floatgate.report.lifetime_summary import life_years, lines, under
from floatgate.report.sections import reduce
from floatgate.report.sections.amplification import amplification
from floatgate.report.throttle_charts import YEAR_S, look_of
from floatgate.results.result_view import look
from floatgate.results.run_view import ForecastView


def page(life: ForecastView, command: str | None = None) -> str:
    """The forecast as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        life: the forecast.
        command: the command line that made it, where there was one.
    """
    result = life.result.to_dict()
    title = f"life of a drive: {life.label}"
    parts = [
        Title(title),
        _origin(result),
        Cards(headline(result)),
        Rows(lines(result, life.label)),
        *_charts(result),
        *reduce.of_life(result),
        *left_out(result.get("not_modelled") or []),
        *_repeat(life, command),
    ]
    return whole_page(f"{title}: floatgate", parts)


def _origin(result: dict[str, Any]) -> Part:
    version, seed = result.get("version", _core.__version__), result.get("seed", "-")
    return Text(f"floatgate {version}, seed {seed}", soft=True)


def headline(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Life, write response, achievable cycles, WAF: name, figure, basis."""
    facts = look(result, "lifetime") or {}
    target, holds = facts.get("target_years"), facts.get("holds")
    below = under(result)
    if target is not None and holds is not None:
        below += f"; the target of {target:g} years is {'met' if holds else 'missed'}"
    cards = [("life", life_years(facts.get("years")), below)]
    first = uneven(result)
    if first is not None:
        cards.insert(0, ("life of the first block", units.years(first), "it wears out long before the average one"))
        cards[1] = ("life of the average block", cards[1][1], below)
    write = look(result, "latency_us", "write") or {}
    if write.get("mean") is not None:
        p99 = f"p99 {units.span(write['p99'] * 1e-6)}" if write.get("p99") is not None else ""
        cards.append(("mean page write", units.span(write["mean"] * 1e-6), p99))
    if facts.get("pe_cycles_achievable") is not None:
        rest = facts.get("mean_idle_h")
        said = "" if rest is None else f"at {units.span(rest * 3600)} of rest"
        cards.append(("cycles per block", f"{facts['pe_cycles_achievable']:.0f}", said))
    waf, _ = amplification(result)
    if waf is not None:
        cards.append(("WAF", f"{waf:.2f}", "flash bytes per host byte"))
    return cards


def _charts(result: dict[str, Any]) -> list[Part]:
    policy = str(look(result, "throttle", "policy") or "none")
    policy = reduce.INTEGRATED if reduce.policy(result) == reduce.INTEGRATED else policy
    figures = [*_written(result), *_responses(result, policy)]
    if policy != "none":
        figures += _course(
            result, policy, "delay_us", 1000.0, "Throttling delay", "delay of a page write, ms",
            "Delay of a page write at the end of each interval.",
        )  # fmt: skip
    figures += _course(
        result, policy, "pe_cycles", 1.0, "Endurance of a block", "program/erase cycles",
        "From the mean rest between erases so far.",
    )  # fmt: skip
    return [Section("Over the life", [Charts(figures)])] if figures else []


def _course(
    result: dict[str, Any], policy: str, column: str, scale: float, title: str, y_title: str, caption: str
) -> list[Figure]:
    looks = [look_of(policy)]
    rows, x_title = throttle_charts.course_rows(result, column, looks[0].label, scale=scale)
    if len(rows) < 2:
        return []
    drawn = figure(
        column.replace("_", "-"),
        title,
        caption,
        lambda width: throttle_charts.lines(rows, looks, x_title, y_title, width=width, step=True),
    )
    return [drawn]


def _written(result: dict[str, Any]) -> list[Figure]:
    """Bytes programmed, wanted and allowed over the life."""
    terabyte = 1e12
    looks = [
        throttle_charts.Look("programmed", palette.BLUE, (), "circle"),
        throttle_charts.Look("capacity so far", palette.BROWN, (6, 3), "square"),
    ]
    rows: list[dict[str, Any]] = []
    x_title = ""
    for one, column in zip(looks, ("written_bytes", "capacity_bytes"), strict=True):
        made, x_title = throttle_charts.course_rows(result, column, one.label, scale=terabyte)
        rows += made
    if len(rows) < 4:
        return []
    drawn = figure(
        "written",
        "Flash bytes programmed",
        "Compared with the flash endurance known so far, from the rest of its blocks.",
        lambda width: throttle_charts.lines(rows, looks, x_title, "TB", width=width),
    )
    return [drawn]


def _responses(result: dict[str, Any], policy: str) -> list[Figure]:
    looks = [look_of(policy)]
    rows = throttle_charts.cdf_rows(result, looks[0].label)
    if len(rows) < 2:
        return []
    drawn = figure(
        "responses",
        "Responses of page writes",
        "Share of page writes that took at most this long, flash service and throttling included.",
        lambda width: throttle_charts.lines(
            rows, looks, "response of a page write, ms", "share", width=width, x_log=True, share=True
        ),
    )
    return [drawn]


def _repeat(life: ForecastView, command: str | None) -> list[Part]:
    result = life.result.to_dict()
    facts = [("version", str(result.get("version", "-"))), ("seed", str(result.get("seed", "-")))]
    facts += [("configuration", str(result["config_hash"]))] if result.get("config_hash") else []
    facts += [("a year", f"{YEAR_S / 3600:.0f} hours of device time")]
    spent = look(result, "run") or {}
    if spent.get("wall_s") is not None:
        facts.append(("cost of the run", units.span(spent["wall_s"])))
    given = [Code(command)] if command else []
    return [
        Section("How to repeat it", [*given, Rows(facts)]),
        Section("Resolved experiment", [Code(life.experiment_toml)]),
    ]
