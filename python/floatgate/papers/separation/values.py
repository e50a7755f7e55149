"""Means over traces, who is lowest, how far ORA and FK are, and the first lines of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.separation.workloads import BLOCKS

COLLECTORS = {"greedy": "greedy", "cost-benefit": "cost-benefit", "sqrt": "cost-benefit with the root of age"}
MAIN = "sqrt"
"""The collector of SepBIT's evaluation, which seeds, spare spaces and superblocks are run with."""
SEEDS = (MAIN, "seed-2", "seed-3")
SPARES = ("spare-28", "spare-15", "spare-7")
BATCHES = (*COLLECTORS, *SEEDS[1:], *SPARES, "superblock", "garbage")
KNOWING = ("fk", "ora")
"""Separators that know the future."""
COUNTS_FROM = 1.05
"""WAF without separation from which on a trace counts in a mean: below, all separators are alike."""

Runs = dict[str, dict[str, dict[str, Any]]]
"""Result by separator and trace."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    runs = {batch: _runs(findings, batch) for batch in BATCHES}
    for batch, by_separator in runs.items():
        plain = by_separator.get("none", {})
        counted = [trace for trace, result in plain.items() if result["waf"] >= COUNTS_FROM and trace != BLOCKS]
        for separator, results in by_separator.items():
            made |= {f"waf.{separator}/{batch}.{trace}": result["waf"] for trace, result in results.items()}
            made |= {
                f"ratio.{separator}/{batch}.{trace}": result["waf"] / plain[trace]["waf"]
                for trace, result in results.items()
                if trace in plain
            }
            of = _of(by_separator, separator, counted)
            made |= {f"of.{separator}/{batch}.{key}": value for key, value in of.items()}
        made |= _ranks(by_separator, counted, batch)
    made |= _over_seeds(runs)
    made |= _process(findings, runs[MAIN])
    return made | _words(runs, made)


def _runs(findings: Findings, batch: str) -> Runs:
    """Return the runs of a batch, including those of the trace of blocks."""
    runs: Runs = {}
    for name in (batch, f"{batch}:blocks"):
        for trace, variants in findings.results.get(name, {}).items():
            for separator, result in variants.items():
                runs.setdefault(separator, {})[trace] = result
    return runs


def online(separators: Iterable[str]) -> list[str]:
    """Return those that do not know the future."""
    return [one for one in separators if one not in KNOWING]


def _geometric(figures: Iterable[float | None]) -> float | None:
    known = list(figures)
    whole = [figure for figure in known if figure is not None and figure > 0]
    return math.exp(sum(math.log(one) for one in whole) / len(whole)) if whole and len(whole) == len(known) else None


def _of(runs: Runs, separator: str, counted: list[str]) -> dict[str, float | None]:
    """Average a separator over the traces that count; empty if it could not run on one of them."""
    results, plain, best = runs[separator], runs.get("none", {}), runs.get("ora", {})
    if not counted or any(trace not in results for trace in counted):
        return {}
    victims = sum(results[trace]["gc"]["victims"] for trace in counted)
    copied = sum(results[trace]["gc"]["copied_pages"] for trace in counted)
    dead = sum(results[trace]["gc"]["dead_victims"] for trace in counted)
    pages = sum(results[trace]["drive"]["logical_bytes"] / 4096 for trace in counted)
    memory = sum((results[trace]["separate"]["memory_bytes"] or 0) for trace in counted)
    programs = sum(results[trace]["flash"]["programs"]["total"] for trace in counted)
    cpu_s = sum(results[trace]["run"]["cpu_s"] for trace in counted)
    excess = sum(plain[trace]["waf"] - best[trace]["waf"] for trace in counted if trace in best)
    left = sum(results[trace]["waf"] - best[trace]["waf"] for trace in counted if trace in best)
    return {
        "waf": _geometric(results[trace]["waf"] for trace in counted),
        "waf_ratio": _geometric(results[trace]["waf"] / plain[trace]["waf"] for trace in counted),
        "time_ratio": _geometric(
            results[trace]["gc"]["time_s"] / plain[trace]["gc"]["time_s"] if plain[trace]["gc"]["time_s"] else None
            for trace in counted
        ),
        "gap": left / excess if excess > 0 else None,
        "worst": max(results[trace]["waf"] / plain[trace]["waf"] for trace in counted),
        "copies": copied / victims if victims else None,
        "dead": dead / victims if victims else None,
        "open": _geometric(results[trace]["separate"]["open_blocks_max"] for trace in counted),
        "memory": memory / pages if pages else None,
        "cpu_ns": 1e9 * cpu_s / programs if programs else None,
    }


def _ranks(runs: Runs, counted: list[str], batch: str) -> dict[str, Any]:
    """Compare separators by their means over the traces that count, and on each of these traces."""
    if not counted or any(trace not in results for results in runs.values() for trace in counted):
        return {}
    waf = {one: _geometric(results[trace]["waf"] for trace in counted) for one, results in runs.items()}
    least = {one: figure for one, figure in waf.items() if figure is not None}
    if len(least) != len(waf) or not {"none", "sepbit", *KNOWING} <= set(least):
        return {}
    others = online(least)

    def below_all(separator: str, key: str) -> bool:
        mine = runs[separator]
        return all(mine[trace]["gc"][key] <= runs[one][trace]["gc"][key] for trace in counted for one in others)

    return {
        f"sepbit_lowest.{batch}": all(least["sepbit"] <= least[one] for one in others),
        f"fk_lowest.{batch}": all(least["fk"] < least[one] for one in others),
        f"ora_lowest.{batch}": all(least["ora"] < least[one] for one in others),
        f"ora_copies.{batch}": below_all("ora", "copied_pages"),
        f"ora_time.{batch}": below_all("ora", "time_s"),
        f"best.{batch}": min(others, key=lambda one: (least[one], one)),
    }


def _over_seeds(runs: Mapping[str, Runs]) -> dict[str, Any]:
    """Return WAF over none's in the mean of the seeds, and the distance between the highest and the lowest."""
    made: dict[str, Any] = {}
    seeds = [batch for batch in SEEDS if runs[batch]]
    for separator in runs[MAIN]:
        figures = []
        for batch in seeds:
            plain = runs[batch].get("none", {})
            counted = [trace for trace, result in plain.items() if result["waf"] >= COUNTS_FROM and trace != BLOCKS]
            figures.append(_of(runs[batch], separator, counted).get("waf_ratio") if separator in runs[batch] else None)
        known = [figure for figure in figures if figure is not None]
        if known and len(known) == len(seeds):
            made[f"seeds.{separator}.mean"] = sum(known) / len(known)
            made[f"seeds.{separator}.apart"] = max(known) - min(known) if len(known) > 1 else None
    return made


def _process(findings: Findings, main: Runs) -> dict[str, Any]:
    """Compare by process, on the recordings that know it."""
    made: dict[str, Any] = {}
    for trace, variants in findings.results.get("process", {}).items():
        if "process" in variants and trace in main.get("none", {}):
            made[f"waf.process/{MAIN}.{trace}"] = variants["process"]["waf"]
            made[f"ratio.process/{MAIN}.{trace}"] = variants["process"]["waf"] / main["none"][trace]["waf"]
    return made


def _words(runs: Mapping[str, Runs], made: Mapping[str, Any]) -> dict[str, Any]:
    """Write sentences with our figures."""
    plain = runs[MAIN].get("none", {})
    counted = [trace for trace, result in plain.items() if result["waf"] >= COUNTS_FROM]
    left = [trace for trace in plain if trace not in counted]
    spare = [f"{trace} {100 * result['config']['ftl']['spare_factor']:.0f} %" for trace, result in plain.items()]
    return {
        "traces.counted": ", ".join(trace for trace in counted if trace != BLOCKS) or "none",
        "traces.left_out": ", ".join(left) or "none",
        "traces.spare": ", ".join(spare) or "none",
        "first.lines": " ".join([*_of_means(made), *_of_blocks(runs)]) or "The runs are missing.",
    }


def _of_means(made: Mapping[str, Any]) -> list[str]:
    ratios = {
        name.removeprefix("of.").removesuffix(f"/{MAIN}.waf_ratio"): figure
        for name, figure in made.items()
        if name.endswith(f"/{MAIN}.waf_ratio") and figure is not None
    }
    ranked = sorted(online(ratios), key=lambda one: (ratios[one], one))
    if not {"none", "sepbit", "ora"} <= set(ratios):
        return []
    text = ", ".join(f"{one} {ratios[one]:.2f}" for one in ranked[:4])
    worse = [one for one in ranked if ratios[one] > 1]
    sepbit = "" if "sepbit" in ranked[:4] else f"; sepbit {ratios['sepbit']:.2f}"
    first = (
        "Write amplification over that of no separation, in the geometric mean of the recordings: the lowest of what "
        f"does not know the future are {text}{sepbit}; ora, which knows it, has {ratios['ora']:.2f}."
    )
    return [first, *([f"Worse than no separation in the mean: {', '.join(worse)}."] if worse else [])]


def _of_blocks(runs: Mapping[str, Runs]) -> list[str]:
    waf = {one: results[BLOCKS]["waf"] for one, results in runs[MAIN].items() if BLOCKS in results}
    if not {"none", "sepbit", "dac", "ora"} <= set(waf):
        return []
    best = min(online(waf), key=lambda one: (waf[one], one))
    gained = (waf["none"] - waf[best]) / (waf["none"] - waf["ora"]) if waf["none"] > waf["ora"] else None
    lowest = "" if best == "sepbit" else f"{best}, the lowest, {waf[best]:.2f}, "
    text = (
        f"On {BLOCKS}, a database below a file system, sepbit has a WAF of {waf['sepbit']:.2f}, dac {waf['dac']:.2f}, "
        f"{lowest}no separation {waf['none']:.2f} and ora {waf['ora']:.2f}"
    )
    return [f"{text}." if gained is None else f"{text}: {100 * gained:.0f} % of the possible gain."]
