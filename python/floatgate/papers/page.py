"""The page of a reproduction: claims with verdicts, tables and figures beside the paper's, what differs and why."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base import units
from floatgate.pages.page import page as document
from floatgate.pages.parts import (
    Box,
    Cards,
    Charts,
    Code,
    Grid,
    Items,
    Part,
    Rows,
    Section,
    Template,
    Text,
    Title,
    figure,
    left_out,
)
from floatgate.papers.judge import Verdict, rule_text, shown
from floatgate.papers.strips import MARKS as MARKS_OF_PARTS
from floatgate.papers.strips import strips
from floatgate.papers.tables import cells
from floatgate.report.sections import not_modelled
from floatgate.run.experiment import Experiment

if TYPE_CHECKING:
    from floatgate.papers.reproduction import Reproduction

MARKS: dict[bool | None, str] = {True: "✓ holds", False: "✗ fails", None: "○ not judged"}
MANY = 8
"""More names than this of a claim are folded away."""
LEGEND = (
    "In the small charts, dots are our values, upright lines the paper's, and the grey ranges pass. Values in an order "
    "stand from left to right."
)
CLASSES: dict[bool | None, str] = {True: "v1", False: "v0", None: "v2"}


def page(done: Reproduction, command: str | None = None) -> str:
    """Return the reproduction as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        done: the reproduction.
        command: the command line that made it, where there was one.
    """
    paper = done.paper
    parts = [
        Title(paper.title),
        Text(paper.source, soft=True),
        Text(_origin(done), soft=True),
        _headline(done),
        *([Text(done.about())] if paper.about else []),
        *_ways(done),
        *(Text(f"Failed: {text}") for text in done.failures),
        *_in_short(done),
        _claims(done.verdicts),
        *_differs(done),
        *_tables(done.tables()),
        *_figures(done),
        *left_out(_not_modelled(done.findings.results)),
        _repeat(done, command),
    ]
    return document(f"{paper.title}: reproduced", parts)


def _origin(done: Reproduction) -> str:
    quick = ", quick" if done.settings.quick else ""
    return f"reproduced by floatgate {_core.__version__} in {units.span(done.wall_s)}{quick}"


def _headline(done: Reproduction) -> Part:
    counts = done.counts()
    total = len(done.evidence())
    entries = [("claims that hold", f"{counts[True]} of {total}", "each with its rule below")]
    entries += [("claims that fail", str(counts[False]), "each is a finding; see what differs and why")]
    if done.calibrated():
        entries.append(("calibrated", str(len(done.calibrated())), "no evidence, and not counted: see each of them"))
    if done.undecided():
        entries.append(("not judged", str(len(done.undecided())), "this setup cannot decide them; each says why"))
    if counts[None]:
        entries.append(
            ("without a verdict", str(counts[None]), "no difference, or runs are missing or lack the figure")
        )
    return Cards(entries)


def _ways(done: Reproduction) -> list[Part]:
    """Describe how quick runs and the user's own traces differ from the full reproduction."""
    phrases = [done.paper.quick.label] if done.settings.quick else []
    if done.settings.traces:
        own = ", ".join(f"{name} ({file})" for name, file in sorted(done.settings.traces.items()))
        phrases.append(f"Traces in place of the shipped workloads: {own}. {done.paper.originals.label}")
    return [Text(text, strong=True) for text in phrases]


def _in_short(done: Reproduction) -> list[Part]:
    """Tabulate the claims by topic: how many hold, why others do not, and which experiments decided."""
    rows = [[one["topic"], _tally(one), one["why"], one["decided_by"]] for one in done.topics() if one["topic"]]
    if not rows:
        return []
    header = ["claims on", "verdict", "why", "decided by"]
    return [Section("In short", [Box([Grid(header, rows, 4, stacks=True)], style="short")])]


def _tally(topic: Mapping[str, Any]) -> str:
    words = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "not_judged": ("is not judged", "are not judged"),
        "calibrated": ("is calibrated", "are calibrated"),
    }
    return ", ".join(f"{topic[key]} {forms[topic[key] > 1]}" for key, forms in words.items() if topic[key])


def _claims(verdicts: Sequence[Verdict]) -> Part:
    entries = [_claim(one) for one in verdicts]
    parts: list[Part] = [Template("papers/claims.html", {"claims": entries})]
    if any(entry["strips"] for entry in entries):
        parts.insert(0, Text(LEGEND, soft=True))
    return Section("Every claim", parts)


def _claim(verdict: Verdict) -> dict[str, Any]:
    """Return the fields of a claim that ``claims.html`` shows."""
    claim, rule = verdict.claim, verdict.claim.rule
    unit = rule.get("unit", "")
    return {
        "id": claim.id,
        "text": claim.text,
        "where": claim.where,
        "notes": _notes(rule) + ([f"Not judged: {verdict.undecided}."] if verdict.undecided else []),
        "style": CLASSES[verdict.holds],
        "verdict": MARKS[verdict.holds],
        "calibrated": claim.is_calibrated,
        "paper": shown(rule.get("paper"), unit),
        "ours": _ours(verdict, unit),
        "strips": strips(verdict, unit),
        "summary": _summary(verdict, unit),
        "rule": rule_text(rule),
    }


def _notes(rule: Mapping[str, Any]) -> list[str]:
    notes = [str(rule["note"])] if rule.get("note") else []
    return notes + ([f"Calibrated: {rule['calibrated']}"] if rule.get("calibrated") else [])


def _ours(verdict: Verdict, unit: str) -> str:
    """Format our values, each with its name if there are several."""
    if not verdict.parts:
        return shown(verdict.ours, unit)
    return "; ".join(
        f"{name}: {shown(value, unit)} {MARKS_OF_PARTS[verdict.parts[name]]}".rstrip()
        for name, value in verdict.ours.items()
    )


def _summary(verdict: Verdict, unit: str) -> str:
    """Summarize our values, if there are so many that they are folded away."""
    parts = verdict.parts
    if not parts or not isinstance(verdict.ours, dict):
        return ""
    values = [value for value in verdict.ours.values() if isinstance(value, int | float)]
    if len(parts) <= MANY or not values:
        return ""
    held = sum(holds is True for holds in parts.values())
    return f"{held} of {len(parts)} hold; {shown(min(values), unit)} to {shown(max(values), unit)}"


def _differs(done: Reproduction) -> list[Part]:
    texts = done.differs()
    return [Section("What differs, and why", [Items(texts)])] if texts else []


def _tables(tables: list[dict[str, Any]]) -> list[Part]:
    made = []
    for entry in tables:
        header, rows, texts = cells(entry)
        if not rows:
            continue
        note = [Text(entry["note"], soft=True)] if entry.get("note") else []
        title = f"{entry['title']} ({entry['where']})" if entry.get("where") else entry["title"]
        table = Section(title, [Grid(header, rows, texts, stacks=True), *note], level=3)
        made.append(Box([table], style="table"))
    return [Section("Tables: paper and ours", made)] if made else []


def _figures(done: Reproduction) -> list[Part]:
    made: list[Part] = []
    for section, group in itertools.groupby(done.figures(), key=lambda one: one.section):
        figures = list(group)
        drawn = Charts([figure(one.id, one.title, one.caption, one.draw) for one in figures])
        # A figure by itself says it in its own title.
        alone = [one.title for one in figures] == [section]
        made.append(Section(section, [drawn], level=3) if section and not alone else drawn)
    return [Section("Figures", made)] if made else []


def _not_modelled(results: Any) -> list[str]:
    """List what the results of all runs leave out."""
    phrases: list[str] = []
    for batch in results.values():
        for variants in batch.values():
            for result in variants.values():
                phrases += not_modelled.of(result)
    return phrases


def _repeat(done: Reproduction, command: str | None) -> Part:
    call = command or f"floatgate reproduce {done.paper.name}{' --quick' if done.settings.quick else ''}"
    experiment: Experiment = done.paper.experiment
    rows = [
        (f"workload {choice.name}", ", ".join(f"{key} = {value}" for key, value in choice.overrides))
        for choice in done.paper.workloads.values()
    ]
    rows += [
        (f"variant {choice.name} ({choice.label})", ", ".join(f"{key} = {value}" for key, value in choice.overrides))
        for choice in done.paper.variants.values()
    ]
    files = Text("The claims, workloads and variants are files in the paper's folder; every run starts from")
    return Section("How to repeat it", [Code(call), files, Code((experiment.toml or "").strip()), Rows(rows)])
