"""Write docs/fidelity.md, pages of settings, policies, formats and rules, and the table of reproduced papers.

--check: are they current?

Everything in them comes from the program: the catalogue, the closed forms, and runs of the engine.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import combining
import floatgate
from floatgate import _core
from floatgate.papers import paper
from floatgate.report.sections.limits.figures import FIGURES
from floatgate.report.sections.limits.rules import RULES, Condition
from floatgate.report.sections.limits.settings import SETTINGS as SUGGESTED
from floatgate.report.sections.limits.settings import Gain
from floatgate.results.shapes import FORECAST_ADDITIONS
from floatgate.study.citations import references

DOCS = Path(__file__).resolve().parent.parent / "docs"
GENERATED = "<!-- Written by scripts/docs.py (make docs); do not edit. -->"

BLOCKS = 4096
PASSES = 8
# A random victim reveals least about the state of the drive: that policy takes longest to average out.
PASSES_RANDOM = 40
SPARES = (0.05, 0.07, 0.1, 0.15, 0.2, 0.28, 0.4)
TOLERANCE = 0.005


@dataclass(frozen=True)
class Curve:
    """A closed form, and the settings under which the engine must meet it."""

    label: str
    policy: str
    pages_per_block: int
    choices: int | None = None

    def theory(self, spare_factor: float) -> float:
        """Return the closed form."""
        return _core.theory_wa(self.policy, spare_factor, self.pages_per_block, self.choices)

    def settings(self, spare_factor: float) -> dict[str, Any]:
        """Return the experiment that must meet it."""
        choices = {} if self.choices is None else {"choices": self.choices}
        passes = PASSES_RANDOM if self.policy == "random" else PASSES
        return {
            "drive": {
                "geometry": {"blocks_per_plane": BLOCKS, "pages_per_block": self.pages_per_block},
                "endurance": {"pe_cycles": 1_000_000},
            },
            "ftl": {
                "spare_factor": spare_factor,
                "precondition": "steady",
                "collect": {"policy": self.policy, **choices},
            },
            "workload": {"requests": passes * BLOCKS * self.pages_per_block},
        }


CURVES = (
    Curve("greedy, 64 pages per block", "greedy", 64),
    Curve("greedy, 256 pages per block", "greedy", 256),
    Curve("d-choices, d = 4, 64 pages per block", "d-choices", 64, 4),
    Curve("FIFO", "fifo", 64),
    Curve("random", "random", 64),
)


@dataclass(frozen=True)
class Point:
    """The engine compared with theory at one spare factor."""

    curve: Curve
    spare_factor: float
    effective: float
    theory: float
    engine: float
    half: float

    @property
    def error(self) -> float:
        """Of the engine, relative."""
        return self.engine / self.theory - 1


def measure(curve: Curve, spare_factor: float) -> Point:
    run = floatgate.run(curve.settings(spare_factor))
    effective = run.drive.effective_spare_factor
    low, high = run.waf_95
    return Point(curve, spare_factor, effective, curve.theory(effective), run.waf, (high - low) / 2)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: str = "") -> str:
    """Return a Markdown table; columns whose letter in `right` is `r` stand to the right."""
    marks = ["--:" if mark == "r" else "---" for mark in right.ljust(len(header))]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


CLOSED_FORMS = (
    ("`greedy`", ("desnoyers2012analytic", "vanhoudt2013mean"), ""),
    ("`d-choices`", ("vanhoudt2013mean",), ""),
    ("`fifo`, also with hot pages in the same log", ("desnoyers2012analytic",), ""),
    (
        "`fifo`, hot and cold pages in logs of their own",
        (),
        (
            "Desnoyers, *Analytic models of SSD write performance*, ACM TOS 2014; the condition for FIFO is derived in "
            "`crates/theory/src/separated.rs`"
        ),
    ),
    ("`random`", (), "a victim has the mean share of valid pages, 1 - S: 1 / S"),
)
"""Each closed form, the keys of its papers in the table of references, and what else it follows from."""


def sources() -> str:
    """Return the table of closed forms with the papers that they come from."""
    papers = {one.key: one for one in references()}
    rows = []
    for form, keys, more in CLOSED_FORMS:
        named = [
            f"{paper.named[0].split(',')[0]}, *{paper.title}*, {paper.venue} {paper.year}"
            for paper in (papers[key] for key in keys)
        ]
        rows.append((form, "; ".join([*named, *([more] if more else [])])))
    return table(("closed form", "source"), rows)


def fidelity(points: Sequence[Point]) -> str:
    worst = max(points, key=lambda p: abs(p.error))
    parts = [
        f"""\
# How well the engine meets theory
{GENERATED}

See how close the engine is to the closed forms of write amplification under uniform random writes. This computes one:

```sh
floatgate theory wa --policy greedy --pages-per-block 256 --spare-factor 0.07
```

The engine writes single pages to one plane of {BLOCKS} blocks, from the steady state on, {PASSES} drive writes each
({PASSES_RANDOM} for the random policy, whose figures scatter most). The closed forms are in `crates/theory`, each with
its source and derivation. They are compared at the *effective* spare factor, (T - mean free - U) / T, because free and
open blocks hold no live pages: at 0.07 this alone makes 1.4 % of greedy's amplification.

{sources()}
The largest error of {len(points)} points is {worst.error:+.2%} ({worst.curve.label}, spare factor
{worst.spare_factor}); {TOLERANCE:.1%} is allowed. The interval is the engine's own 95 % interval (batch means).

![Write amplification over the spare factor: theory as lines, engine as marks](img/fidelity-wa.svg)

![Error of the engine over the spare factor](img/fidelity-error.svg)
"""
    ]
    for curve in CURVES:
        mine = [p for p in points if p.curve == curve]
        rows = [
            (
                f"{p.spare_factor:.2f}",
                f"{p.effective:.5f}",
                f"{p.theory:.4f}",
                f"{p.engine:.4f} ± {p.half:.4f}",
                f"{p.error:+.2%}",
            )
            for p in mine
        ]
        header = ("spare factor", "effective", "theory", "engine, 95 %", "error")
        parts.append(f"## {curve.label[0].upper()}{curve.label[1:]}\n" + table(header, rows, "rrrrr"))
    parts.append("""\
## What else is held to theory
`crates/experiment/tests/it/closed_forms.rs` keeps the engine within 0.5 % of these too:

- FIFO with hot and cold pages in one log (20 % of the pages taking 80 % of the writes, 10/90, 50/99);
- cost-benefit with hot and cold pages, host and moved pages apart: 3.09 for 20/80 and 2.34 for 10/90 at a spare
  factor of 0.15 (within 2 %);
- four planes, each collecting for itself, and superblocks over four planes;
- trims: of live pages only (Frankie et al. 2012: alpha becomes alpha (1 - q) / (1 - 2 q)), and of any page, as the
  generator makes them (alpha / (1 - q), the same law with the trims that hit a live page counted alone);
- a drive warmed up from random order, beside one that starts from the law;
- the first tenth of a run from the steady state (within 1.5 %: it is short).

And no policy has a lower write amplification than greedy under uniform writes.
`crates/experiment/tests/it/reference.rs` follows the engine block by block with a second, plain implementation.
""")
    return "\n".join(parts)


def svg(chart: Any, label: str) -> str:
    """Return the chart as SVG text with a name for screen readers."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(chart.to_json())
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{label}" ', text, count=1) + "\n"


def figures(points: Sequence[Point]) -> dict[str, str]:
    """Return both figures; dashes and marks distinguish the curves in black and white, too."""
    import altair as alt

    labels = [curve.label for curve in CURVES]
    colors = ["#1b6ca8", "#6aaed6", "#c1571a", "#2f7d4f", "#6b4a9c"]
    legend = alt.Legend(title=None, orient="bottom", columns=2, symbolSize=60, labelLimit=260)
    encode = {
        "color": alt.Color("curve:N", scale=alt.Scale(domain=labels, range=colors), legend=legend),
        "shape": alt.Shape("curve:N", scale=alt.Scale(domain=labels), legend=legend),
    }
    dash = alt.StrokeDash("curve:N", scale=alt.Scale(domain=labels), legend=None)
    ticks = alt.Axis(values=[0.05 * i for i in range(1, 9)], format=".2f")
    x = alt.X("spare:Q", title="effective spare factor", scale=alt.Scale(domain=[0.04, 0.42]), axis=ticks)
    y = alt.Y(
        "wa:Q", title="write amplification (programs per host page write)", scale=alt.Scale(type="log", domain=[1, 25])
    )
    grid = [0.045 + 0.005 * i for i in range(74)]
    lines = [{"curve": c.label, "spare": s, "wa": c.theory(s)} for c in CURVES for s in grid]
    marks = [{"curve": p.curve.label, "spare": p.effective, "wa": p.engine, "error": p.error} for p in points]
    theory = (
        alt.Chart(alt.Data(values=lines))
        .mark_line(strokeWidth=1.5)
        .encode(x=x, y=y, color=encode["color"], strokeDash=dash)
    )
    engine = alt.Chart(alt.Data(values=marks)).mark_point(size=45, filled=True).encode(x=x, y=y, **encode)
    amplification = alt.layer(theory, engine)
    error = alt.Y("error:Q", title="engine / theory - 1", axis=alt.Axis(format="+.1%"))
    span = alt.Scale(domain=[-1.2 * TOLERANCE, 1.2 * TOLERANCE])
    bounds = alt.Chart(alt.Data(values=[{"error": e} for e in (-TOLERANCE, 0, TOLERANCE)]))
    errors = alt.layer(
        bounds.mark_rule(color="#808080", strokeDash=[4, 3]).encode(y=error.scale(span)),
        alt.Chart(alt.Data(values=marks)).mark_point(size=45, filled=True).encode(x=x, y=error.scale(span), **encode),
    )
    style = {"width": 600, "height": 320, "background": "white"}
    return {
        "fidelity-wa.svg": svg(amplification.properties(**style), "Write amplification: theory and engine"),
        "fidelity-error.svg": svg(errors.properties(**style | {"height": 200}), "Error of the engine"),
    }


NOTES = {
    "ftl.separate": """\
How much garbage collection reclaims at a time decides the ranking of separators: with a low stop level, or one block
at a share of garbage, `none` falls far behind; with the default stop level hot blocks die before they are collected,
and much of its handicap goes. [separation.md](separation.md#how-much-is-collected-at-a-time-decides-the-ranking) shows
both. Separators whose `variant` is `artifact` follow the public simulator of SepBIT's authors
([beside its code](separation.md#beside-the-code-of-sepbits-authors)).
""",
}
"""What a reader of a slot's tables must know, by slot."""


def policies(catalogue: dict[str, Any]) -> str:
    parts = [
        f"""\
# Policies
{GENERATED}

Choose a policy for each slot of an experiment (`policy`, in `drive.endurance` `model`) and set its parameters.

```sh
floatgate policies sepbit
```

This prints one policy with its source, cost and parameters. A parameter of a policy that is not chosen is refused.
"""
    ]
    for slot, rows in catalogue["policies"].items():
        cells = [(f"`{r['name']}`", r["summary"], r["source"], r["cost"], r["memory"]) for r in rows]
        heads = (rows[0]["selector"], "what it does", "source", "cost of a decision", "memory")
        note = NOTES.get(slot)
        text = f"## `{slot}`\n" + (f"{note}\n" if note else "") + table(heads, cells)
        own = [(f"`{p['name']}`", f"`{r['name']}`", p["summary"], p["values"]) for r in rows for p in r["params"]]
        shared = [(f"`{p['name']}`", "all", p["summary"], p["values"]) for p in catalogue["common_params"][slot]]
        if own or shared:
            text += "\n" + table(("parameter", heads[0], "meaning", "values"), [*shared, *own])
        parts.append(text)
    parts.append("More of models of endurance: [endurance.md](endurance.md).\n")
    return "\n".join(parts)


SETTINGS = f"""\
# Settings
{GENERATED}

Look up every key of an experiment: meaning, default and values. This prints an experiment with every default:

```sh
floatgate check configs/experiments/demo.toml
```

`--set TABLE.KEY=VALUE` sets a key for one run. A value out of its range is refused, and so is a key without effect: in
the other mode, without the value of another key that it needs, or of another policy ([policies](policies.md)).

"""


def settings(catalogue: dict[str, Any]) -> str:
    """Return every key of an experiment with its default, range, unit, mode and needs."""
    parts = []
    for part in catalogue["settings"]:
        rows = [
            (
                f"`{key['name']}`",
                key["summary"],
                key["default"],
                key["values"],
                key["unit"] or "-",
                acts(key),
            )
            for key in part["keys"]
        ]
        name = f"`[{part['table']}]`" if part["table"] else "Top of the file"
        head = ("key", "meaning", "default", "values", "unit", "acts")
        parts.append(f"## {name}\n{part['summary']}\n\n" + table(head, rows) if rows else "")
    return SETTINGS + "\n".join(part for part in parts if part)


def acts(key: dict[str, Any]) -> str:
    """Describe in which mode a key acts, with what value of another key, and under which policies."""
    needs = key["needs"]
    words = [f"in {key['mode']} mode"] if key["mode"] else []
    if needs:
        words.append(f"with `{needs['key']}` = " + " or ".join(f"`{value}`" for value in needs["values"]))
    if key["policies"]:
        words.append("with " + ", ".join(f"`{name}`" for name in key["policies"]))
    return "; ".join(words) or "always"


RESULTS = f"""\
# Results
{GENERATED}

Look up every figure of `result.json`: meaning, formula and unit. This prints one:

```sh
floatgate run --set drive.capacity="64 MiB" --set workload.requests=20000 --json -
```

A figure that a run cannot know is null. `{{cause}}` and other names in braces stand for each of several, `*` for any
name. Flat tables (sweeps, `floatgate query`) have these keys as columns, an interval as two (`waf_95.low`,
`waf_95.high`); lists and histograms are only in `result.json`. Figures in **bold** are in every flat table.

Causes of flash operations: `host` (whole pages of writes), `partial` (pages written in part), `gc` (moved by garbage
collection), `level` (moved by wear-leveling), `padding`, `reclaim` and `replica` (read disturb), `repack` (chunks
packed anew), and `total`.

"""

FORECASTS = """
# Forecasts

Every figure of `lifetime.json`, which `floatgate lifetime` writes (`floatgate schema forecast` prints its JSON
schema). By the full method, `reduce` has all figures that a result has there.

"""


def results(_catalogue: dict[str, Any]) -> str:
    """Return every figure of a result, and of a forecast, with meaning and unit."""
    additions = [(f"`{key}`", meaning, "-") for key, (_, meaning) in FORECAST_ADDITIONS.items()]
    head = "\n## Beside the figures\nWhat the summary of a forecast says.\n\n"
    more = head + table(("key", "meaning", "unit"), additions)
    of_forecasts = _figures(_core.metric_groups(of_forecast=True))
    return RESULTS + _figures(_core.metric_groups()) + FORECASTS + of_forecasts + more


def _figures(groups: str) -> str:
    """The tables of a document with their figures; one that a group before has is not repeated."""
    parts, listed = [], set()
    for group in json.loads(groups):
        new = [row for row in group["rows"] if (group["key"], row["key"]) not in listed]
        listed |= {(group["key"], row["key"]) for row in new}
        rows = []
        for row in new:
            key = f"`{row['key']}`"
            better = {"lower": "; less is better", "higher": "; more is better", None: ""}[row["better"]]
            unit = row["unit"] or {"flag": "yes or no", "text": "text", "list": "list"}.get(row["kind"], "-")
            rows.append((f"**{key}**" if row["everywhere"] else key, row["meaning"] + better, unit))
        name = f"`{group['key']}`" if group["key"] else "At the top"
        when = f" Known {group['when']}." if group["when"] else ""
        words = "\n".join(f"- `{{{word}}}`: {', '.join(names)}" for word, names in group["names"].items())
        about = f"{group['about']}{when}" + (f"\n\n{words}" if words else "")
        parts.append(f"## {name}\n{about}\n\n" + table(("key", "meaning", "unit"), rows))
    return "\n".join(parts)


def explain_rules() -> str:
    """Return the rules of `floatgate explain`, the settings that they suggest, and the figures of both."""
    head = f"""\
# Rules of floatgate explain
{GENERATED}

Look up when each sentence of [`floatgate explain`](explain.md) stands, and which settings it suggests:

```sh
floatgate run --set drive.capacity="64 MiB" --set workload.requests=20000 --out short --no-report --quiet
floatgate explain short
```

A rule holds where all of its conditions do and all of its figures are known. The numbers in braces are figures, listed
below with the [results](results.md) that they come from. Shares are numbers from 0 to 1.
"""
    parts = [head]
    for about, title in (("evidence", "What a run cannot show"), ("life", "Life"), ("latency", "Latency")):
        rows = [
            (f"`{rule.name}`", conditions_text(rule.when), rule.sentence, names_text(rule.settings))
            for rule in RULES
            if rule.about == about
        ]
        parts.append(f"## {title}\n" + table(("rule", "holds where", "sentence", "settings"), rows))
    suggested = [
        (
            f"`{one.name}`",
            f"`{one.key}`",
            conditions_text(one.when),
            "; ".join(f"{gain.of}: {gain_text(gain)}" for gain in one.gains),
            one.why,
        )
        for one in SUGGESTED.values()
    ]
    parts.append("## Settings\n" + table(("name", "key", "only where", "gain, as a share", "why"), suggested))
    listed = [(f"`{name}`", figure.about) for name, figure in FIGURES.items()]
    parts.append("## Figures\n" + table(("figure", "what it is"), listed))
    return "\n".join(parts)


def conditions_text(conditions: Sequence[Condition]) -> str:
    """Return conditions as a cell."""
    limits = (f"{one.limit:g}" if isinstance(one.limit, float) else one.limit for one in conditions)
    return ", ".join(f"`{one.figure} {one.test} {limit}`" for one, limit in zip(conditions, limits, strict=True)) or "-"


def names_text(names: Iterable[str]) -> str:
    """Return names as a cell."""
    return ", ".join(f"`{name}`" for name in names) or "-"


def gain_text(gain: Gain) -> str:
    """Return what a gain is worth and how that is known."""
    if not gain.figure:
        return "not known"
    factors = [f"{gain.part:g}"] if gain.part != 1 else []
    factors += [f"`{name}`" for name in (gain.figure, gain.scale) if name != "all"]
    return f"{' * '.join(factors)} ({gain.basis})"


FORMATS = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- end of formats -->)", re.DOTALL)


def formats(page: str, catalogue: dict[str, Any]) -> str:
    """Write the table of all trace formats into a page."""
    rows = [
        (
            f"`{f['name']}`",
            f["summary"],
            f["line"].removeprefix("expected "),
            f["units"],
            ", ".join(f".{e}" for e in f["extensions"]) or "-",
        )
        for f in catalogue["formats"]
    ]
    header = ("format", "what it is", "a line", "units", "extensions")
    return FORMATS.sub(lambda _: table(header, rows), page, count=1)


SETS = re.compile(r"(?<=<!-- sets -->\n).*?(?=<!-- end of sets -->)", re.DOTALL)
REFUSED = re.compile(r"(?<=<!-- refused -->\n).*?(?=<!-- end of refused -->)", re.DOTALL)
REASONS = re.compile(r"(?<=<!-- reasons -->\n).*?(?=<!-- end of reasons -->)", re.DOTALL)
REPRODUCTIONS = re.compile(r"(?<=<!-- reproductions -->\n).*?(?=<!-- end of reproductions -->)", re.DOTALL)


def reproductions(page: str) -> str:
    """Write the tables of all papers into a page, from the results of `scripts/reproductions.py`."""
    kept = json.loads((DOCS / "data/reproductions.json").read_text("utf-8"))
    rows, topics = [], []
    for name in paper.names():
        one = kept[name]
        counts = [str(one[key] or "-") for key in ("holds", "fails", "not_judged", "calibrated")]
        times = [f"{one[key]:,}" if one[key] else "-" for key in ("cpu_s", "quick_cpu_s")]
        rows.append([f"`{name}`", paper.load(name).title, *counts, *times, one["measured"]])
        for topic in one.get("topics", []):
            counts = [str(topic[key] or "-") for key in ("holds", "fails", "not_judged", "calibrated")]
            topics.append([f"`{name}`", topic["topic"], *counts, topic["why"], topic["decided_by"]])
    judged = ["hold", "fail", "not judged", "calibrated"]
    papers = table(["paper", "what", *judged, "CPU, s", "quick, s", "measured"], rows, "llrrrrrrl")
    reasons = table(
        ["paper", "claims on", *judged, "why claims fail or are not judged", "decided by"], topics, "llrrrrll"
    )
    page = REPRODUCTIONS.sub(lambda _: papers, page, count=1)
    return REASONS.sub(lambda _: reasons, page, count=1)


STANDINGS = re.compile(r"(?<=<!-- standings -->\n).*?(?=<!-- end of standings -->)", re.DOTALL)
FIELDS = re.compile(r"(?<=<!-- fields -->\n).*?(?=<!-- end of fields -->)", re.DOTALL)


def leaderboard(page: str) -> str:
    """Write the standings of all separators into a page, from the results of `scripts/leaderboard.py`."""
    kept = json.loads((DOCS / "data/leaderboard.json").read_text("utf-8"))
    rows = [[row[0], f"`{row[1]}`", *row[2:-1], "yes" if row[-1] == "*" else "-"] for row in kept["rows"]]
    standings = table(kept["header"], rows, "rl" + "r" * (len(kept["header"]) - 3) + "l")
    notes = "\n".join(f"- {note}" for note in kept["notes"])
    first, *fields = kept["fields"]
    by_field = table(["trace, drive", *first[1:]], fields, "l" + "r" * (len(first) - 1))
    made = f"{standings}\n{notes}\n- Measured {kept['measured']} with floatgate {kept['floatgate']}.\n"
    page = STANDINGS.sub(lambda _: made, page, count=1)
    return FIELDS.sub(lambda _: by_field, page, count=1)


def combinations(page: str, catalogue: dict[str, Any]) -> str:
    """Write the sets of policies, and what is refused together, into a page."""
    rows = []
    for one in catalogue["policy_sets"]:
        over = ", ".join(f"`{key} = {value}`" for key, value in one["over"].items())
        under = ", ".join(f"`{key} = {value}`" for key, value in one["under"].items())
        parts = ", ".join(f"`{name}`" for name in one["parts"])
        rows.append([f"`{one['name']}`", f"{one['summary']}: {over or parts}", under or "-"])
    page = SETS.sub(lambda _: table(["set", "turns on", "and, where nothing sets it"], rows, "lll"), page, count=1)
    return REFUSED.sub(lambda _: combining.tables() + "\n", page, count=1)


def samples(catalogue: dict[str, Any]) -> str:
    head = f"""\
# Samples of the trace formats
{GENERATED}

Compare a file that floatgate does not recognise with a sample of its [format](formats.md). The tests read these
samples. Binary formats are shown in hexadecimal. [Recording](recording.md#the-file) describes Parquet.
"""
    parts = [head]
    for f in catalogue["formats"]:
        if f["sample"] is not None:
            text = f["sample"]["text"].rstrip("\n")
            parts.append(f"## `{f['name']}`\n{f['summary']}. Sample: {f['sample']['origin']}.\n```\n{text}\n```\n")
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    check = parser.parse_args().check
    catalogue = json.loads(_core.catalogue())
    # The core releases the interpreter lock while it works.
    with ThreadPoolExecutor() as pool:
        points = list(pool.map(measure, *zip(*((c, s) for c in CURVES for s in SPARES), strict=True)))
    pages = {
        "policies.md": policies(catalogue),
        "settings.md": settings(catalogue),
        "formats.md": formats((DOCS / "formats.md").read_text("utf-8"), catalogue),
        "results.md": results(catalogue),
        "format-samples.md": samples(catalogue),
        "explain-rules.md": explain_rules(),
        "fidelity.md": fidelity(points),
        "combining.md": combinations((DOCS / "combining.md").read_text("utf-8"), catalogue),
        "leaderboard.md": leaderboard((DOCS / "leaderboard.md").read_text("utf-8")),
        "reproduce.md": reproductions((DOCS / "reproduce.md").read_text("utf-8")),
    }
    missed = [p for p in points if abs(p.error) >= TOLERANCE]
    for point in missed:
        print(f"error: {point.curve.label} at {point.spare_factor}: {point.error:+.2%}", file=sys.stderr)
    if check:
        # Figures follow from the pages' numbers, and their text from the version of the renderer.
        pages |= {f"img/{name}": "" for name in ("fidelity-wa.svg", "fidelity-error.svg")}
        stale = [
            name
            for name, text in pages.items()
            if not (DOCS / name).exists() or (text and (DOCS / name).read_text(encoding="utf-8") != text)
        ]
        for name in stale:
            print(f"error: docs/{name} is not current; expected make docs to have been run", file=sys.stderr)
        return int(bool(stale or missed))
    pages |= {f"img/{name}": text for name, text in figures(points).items()}
    for name, text in pages.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"docs/{name}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
