"""The report of one run: the answer, where it comes from, and what it takes to repeat it."""

from __future__ import annotations

import shlex
from typing import Any

from floatgate import _core
from floatgate.base import units
from floatgate.pages.causes import by_cause, cause
from floatgate.pages.page import page as whole_page
from floatgate.pages.parts import (
    Box,
    Cards,
    Cell,
    Charts,
    Code,
    Grid,
    Part,
    Rows,
    Section,
    Swatch,
    Text,
    Title,
    figure,
    left_out,
)
from floatgate.report import (
    amplification,
    disturb_report,
    leveling,
    lifetime_headline,
    reduce,
    reduce_report,
    run_charts,
    separate_report,
    throttle_report,
    timed_report,
    timeline_chart,
)
from floatgate.report.summary import engines_alone, lines
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView


def page(run: RunView, command: str | None = None) -> str:
    """The report as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        run: the run.
        command: the command line that made it, where there was one.
    """
    result = run.result.to_dict()
    parts = [
        Title(run.name()),
        _origin(result),
        Cards(headline(result)),
        Rows(lines(run)),
        *timed_report.latency(run, result),
        *throttle_report.throttle(run, result),
        *reduce_report.section(run, result),
        *timeline_chart.section(run),
        *_where(run, result),
        *separate_report.streams(result),
        *disturb_report.section(result),
        *timed_report.energy(run, result),
        *_course(run),
        *_distributions(run, result),
        *_devices(result),
        *left_out(result.get("not_modelled") or []),
        *_repeat(run, result, command),
    ]
    return whole_page(f"{run.name()}: floatgate report", parts)


def _origin(result: dict[str, Any]) -> Part:
    version, mode = result.get("version", _core.__version__), result.get("mode", "functional")
    return Text(f"floatgate {version}, {mode} mode, seed {result.get('seed', '-')}", soft=True)


def headline(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Life, WAF, latency and energy: name, figure, basis; what the run does not know is left out."""
    cards = []
    life = look(result, "lifetime") or {}
    short = lifetime_headline.too_short(result)
    years, tbw = lifetime_headline.years(result), lifetime_headline.tbw_bytes(result)
    first = lifetime_headline.uneven(result)
    if short:
        cards.append(("life", "no figure yet", short))
    elif years is not None:
        below = [f"average block: {units.years(life['years'])}"] if first else []
        below += [lifetime_headline.tbw_text(tbw)] if tbw is not None else []
        below += [f"{units.figure(life['dwpd'], 2)} drive writes per day"] if life.get("dwpd") is not None else []
        below += [lifetime_headline.cycles_text(life)] if lifetime_headline.recovered(life) else []
        name = "life until the first block wears out" if first else "life at this rate"
        cards.append((name, units.years(years), ", ".join(below)))
    elif tbw is not None:
        cards.append(("life", lifetime_headline.tbw_text(tbw), "no years, since the workload has no time span"))
    waf, interval = amplification.amplification(result)
    if waf is not None:
        below = [f"95 %: {'-'.join(amplification.digits(waf, interval))}"] if interval else ["write amplification"]
        parts = amplification.sources(result)
        cards.append(("WAF", amplification.text(waf, interval), ", ".join(below + ([parts] if parts else []))))
    wear = look(result, "wear") or {}
    if wear.get("erases_mean") is not None:
        cards.append(("erases per block", units.figure(wear["erases_mean"]), f"max: {wear.get('erases_max', '-')}"))
    for kind in ("read", "write"):
        facts = look(result, "latency_us", kind) or {}
        if facts.get("count"):
            p50 = units.span(facts["p50"] * 1e-6)
            cards.append((f"{kind} latency, p99", units.span(facts["p99"] * 1e-6), f"p50: {p50}"))
    rates = look(result, "throughput")
    if rates:
        read, written = (units.figure(rates[f"{kind}_mb_per_s"]) for kind in ("read", "write"))
        cards.append(("IOPS", units.count(rates["iops"]), f"{read} MB/s read, {written} MB/s written"))
    return [*cards, *_reduced_and_energy(result)]


def _reduced_and_energy(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Written ratio and energy as :func:`headline` has them."""
    cards = []
    saved = reduce.at_work(result)
    if saved and saved.get("written_ratio") is not None:
        cards.append(("written ratio", f"{saved['written_ratio']:.2f}", "programs of host writes per host page"))
    energy = look(result, "energy") or {}
    if energy.get("total_j") is not None and not engines_alone(energy):
        name = "energy" if "hash" in (energy.get("by_operation_j") or {}) else "energy of the flash"
        cards.append((name, units.joules(energy["total_j"]), timed_report.energy_basis(energy)))
    return cards


def _where(run: RunView, result: dict[str, Any]) -> list[Part]:
    flash = look(result, "flash") or {}
    programs = look(flash, "programs") or {}
    total = programs.get("total")
    if not total:
        return []
    rows: list[list[Cell]] = []
    for name in _causes(flash):
        entry = cause(name)
        done = programs.get(name, 0)
        rows.append(
            [
                Swatch(entry, entry.label),
                f"{done:,}".replace(",", " "),
                units.share(done / total),
                *(_count(look(flash, kind, name)) for kind in ("reads", "erases")),
                _time(look(flash, "time_s", name)),
            ]
        )
    header = ["cause", "programs", "share", "reads", "erases", "time"]
    chart = figure(
        "shares",
        "Flash work by cause",
        "Share of each cause. Time is the busy time of the flash, summed over its operations.",
        lambda width: run_charts.shares(run, width),
    )
    beside = Charts([chart, Box([Grid(header, rows), *_collected(look(result, "gc") or {})])])
    return [Section("Programs and time by cause", [beside])]


def _collected(gc: dict[str, Any]) -> list[Part]:
    """How many blocks were collected, and what was left in them."""
    if not gc.get("victims"):
        return []
    copied = gc.get("copied_pages_per_victim")
    per = "" if copied is None else f", {units.figure(copied)} pages copied from each"
    dead = gc.get("dead_victims")
    left = "" if dead is None else f"; {_count(dead)} had no valid page left"
    return [Text(f"{_count(gc['victims'])} blocks collected{per}{left}.")]


def _causes(flash: dict[str, Any]) -> list[str]:
    together: dict[str, float] = {}
    for kind in ("programs", "reads", "erases"):
        for name, value in by_cause(look(flash, kind) or {}):
            together[name] = together.get(name, 0) + value
    return [name for name, _ in by_cause(together)]


def _course(run: RunView) -> list[Part]:
    if run.series.num_rows < 2:
        return []
    figures: list[Part] = []
    if look(run.result, "waf") is not None:
        figures.append(
            figure(
                "waf",
                "Write amplification",
                "Flash programs per host page write in each interval; dashed: mean of the run with its 95 % interval.",
                lambda width: run_charts.waf(run, width),
            )
        )
    # What reclaim moves is worth a picture even where the host writes nothing.
    if look(run.result, "flash", "programs", "total"):
        figures.append(
            figure(
                "writes",
                "Programs by cause",
                "Flash programs over the whole run.",
                lambda width: run_charts.writes(run, width),
            )
        )
    if "free_blocks" in run.series.column_names:
        figures.append(
            figure(
                "free", "Free blocks", "At the end of each interval.", lambda width: run_charts.free_blocks(run, width)
            )
        )
    return [Section("Over time", [Charts(figures)])] if figures else []


def _distributions(run: RunView, result: dict[str, Any]) -> list[Part]:
    figures: list[Part] = []
    if look(result, "wear", "histogram", "blocks"):
        leveled = leveling.line(result)
        said = f" Wear-leveling by {leveled}." if leveled else ""
        figures.append(
            figure(
                "wear",
                "Wear",
                f"Blocks by number of erases in the counted phase.{said}",
                lambda width: run_charts.wear(run, width),
            )
        )
    idle = look(result, "wear", "idle_h")
    if idle:
        mean, p50 = (units.span(3600.0 * idle[key]) for key in ("mean", "p50"))
        caption = f"Time between two erases of a block: {mean} on average over blocks, median {p50}."
        figures.append(figure("rest", "Rest of blocks", caption, lambda width: run_charts.rest(run, width)))
    if look(result, "valid_pages", "units"):
        figures.append(
            figure(
                "valid",
                "Valid pages",
                "Closed blocks by valid pages at the end of the run; full blocks are costly victims.",
                lambda width: run_charts.valid_pages(run, width),
            )
        )
    return [Section("Distributions", [Charts(figures)])] if figures else []


def _devices(result: dict[str, Any]) -> list[Part]:
    devices = look(result, "workload", "devices") or []
    if len(devices) < 2:
        return []
    rows = [
        [
            str(device.get("name", "-")),
            *(_count(device.get(f"{kind}_requests")) for kind in ("read", "write", "trim")),
            *(_bytes(device.get(f"{kind}_bytes")) for kind in ("read", "write", "trim")),
            _count(device.get("page_writes")),
        ]
        for device in devices
    ]
    header = ["device", "reads", "writes", "trims", "read", "written", "trimmed", "page writes"]
    return [Section("Devices of the trace", [Grid(header, rows)])]


def _repeat(run: RunView, result: dict[str, Any], command: str | None) -> list[Part]:
    folder = run.folder
    again = f"floatgate run {shlex.quote(str(folder / 'experiment.toml') if folder else 'experiment.toml')}"
    facts = [("version", str(result.get("version", "-"))), ("seed", str(result.get("seed", "-")))]
    facts += [("configuration", str(result["config_hash"]))] if result.get("config_hash") else []
    content = look(result, "workload", "content_hash")
    facts += [("trace content", str(content))] if content else []
    spent = look(result, "run") or {}
    if spent.get("wall_s") is not None and spent.get("peak_rss_bytes") is not None:
        cost = f"{units.span(spent['wall_s'])}, {units.binary_bytes(spent['peak_rss_bytes'])} peak memory"
        facts.append(("cost of the run", cost))
    given = [Text("Command of this run"), Code(command)] if command and command != again else []
    same = Text("The same result, byte for byte, from the resolved experiment")
    return [
        Section("How to repeat it", [*given, same, Code(again), Rows(facts)]),
        Section("Resolved experiment", [Code(run.experiment_toml)]),
    ]


def _count(value: Any) -> str:
    return "-" if value is None else f"{value:,}".replace(",", " ")


def _bytes(value: Any) -> str:
    return "-" if value is None else units.decimal_bytes(value)


def _time(value: Any) -> str:
    return "-" if value is None else units.span(value)
