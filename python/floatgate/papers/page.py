"""The page of a reproduction: claims with verdicts, tables and figures beside the paper's, what differs and why."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base import units
from floatgate.pages import html
from floatgate.papers.judge import Verdict, rule_text, shown
from floatgate.papers.tables import cells
from floatgate.run.experiment import Experiment

if TYPE_CHECKING:
    from floatgate.papers.reproduction import Reproduction

MARKS: dict[bool | None, str] = {True: "✓ holds", False: "✗ fails", None: "○ not judged"}
MANY = 8
"""More names than this of a claim are folded away."""
CLASSES: dict[bool | None, str] = {True: "v1", False: "v0", None: "v2"}


def page(done: Reproduction, command: str | None = None) -> str:
    """The reproduction as one self-contained HTML page, readable at 360 pixels and in black and white.

    Args:
        done: the reproduction.
        command: the command line that made it, where there was one.
    """
    paper = done.paper
    sections = [
        f"<h1>{html.escape(paper.title)}</h1>",
        f'<p class="soft">{html.escape(paper.source)}</p>',
        f'<p class="soft">{_origin(done)}</p>',
        _headline(done),
        f"<p>{html.escape(done.about())}</p>" if paper.about else "",
        _ways(done),
        "".join(f"<p>Failed: {html.escape(text)}</p>" for text in done.failures),
        _claims(done.verdicts),
        _differs(done),
        _tables(done.tables()),
        _figures(done),
        html.left_out(_not_modelled(done.found.results)),
        _repeat(done, command),
    ]
    return html.document(f"{paper.title}: reproduced", "\n".join(section for section in sections if section))


def _origin(done: Reproduction) -> str:
    quick = ", quick" if done.settings.quick else ""
    return f"reproduced by floatgate {html.escape(_core.__version__)} in {units.span(done.wall_s)}{quick}"


def _headline(done: Reproduction) -> str:
    counts = done.counts()
    total = len(done.evidence())
    entries = [("claims that hold", f"{counts[True]} of {total}", "each with its rule below")]
    entries += [("claims that fail", str(counts[False]), "each is a finding; see what differs and why")]
    if done.calibrated():
        entries.append(("calibrated", str(len(done.calibrated())), "no evidence, and not counted: see each of them"))
    if counts[None]:
        entries.append(("not judged", str(counts[None]), "their runs are missing or lack the figure"))
    return html.cards(entries)


def _ways(done: Reproduction) -> str:
    """How quick runs and the user's own traces differ from the full reproduction."""
    said = [done.paper.quick.label] if done.settings.quick else []
    if done.settings.traces:
        own = ", ".join(f"{name} ({file})" for name, file in sorted(done.settings.traces.items()))
        said.append(f"Traces in place of the shipped workloads: {own}. {done.paper.originals.label}")
    return "".join(f"<p><b>{html.escape(text)}</b></p>" for text in said)


def _claims(verdicts: list[Verdict]) -> str:
    rows = []
    for verdict in verdicts:
        rule = verdict.claim.rule
        unit = rule.get("unit", "")
        ours = _ours(verdict, unit)
        cells = (
            f'<td class="{CLASSES[verdict.holds]}">{MARKS[verdict.holds]}{_calibrated(verdict)}</td>',
            f"<td>{html.escape(verdict.claim.text)}<br>"
            f'<span class="soft">{html.escape(verdict.claim.id)}; {html.escape(verdict.claim.where)}</span>'
            + "".join(f'<br><span class="soft">{html.escape(text)}</span>' for text in _notes(rule))
            + "</td>",
            f'<td data-of="paper">{html.escape(shown(rule.get("paper"), unit))}</td>',
            f'<td data-of="ours">{ours}</td>',
            f'<td data-of="judged by">{html.escape(rule_text(rule))}</td>',
        )
        rows.append(f'<tr id="{html.escape(verdict.claim.id)}">{"".join(cells)}</tr>')
    head = "".join(f"<th>{name}</th>" for name in ("verdict", "claim", "paper", "ours", "judged by"))
    return (
        f'<h2>Every claim</h2><div class="claims"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _notes(rule: Mapping[str, Any]) -> list[str]:
    notes = [str(rule["note"])] if rule.get("note") else []
    return notes + ([f"Calibrated: {rule['calibrated']}"] if rule.get("calibrated") else [])


def _calibrated(verdict: Verdict) -> str:
    return '<br><span class="soft">calibrated</span>' if verdict.claim.is_calibrated else ""


def _ours(verdict: Verdict, unit: str) -> str:
    """Our figures; where there are many, how they lie together and each of them folded away."""
    parts = verdict.parts
    if not parts or not isinstance(verdict.ours, dict):
        return html.escape(shown(verdict.ours, unit))
    marks = {True: "", False: " ✗", None: " ○"}
    each = html.escape(
        "; ".join(f"{name}: {shown(value, unit)}{marks[parts[name]]}" for name, value in verdict.ours.items())
    )
    figures = [value for value in verdict.ours.values() if isinstance(value, int | float)]
    if len(parts) <= MANY or not figures:
        return each
    held = sum(holds is True for holds in parts.values())
    ends = f"{shown(min(figures), unit)} to {shown(max(figures), unit)}"
    said = f"{held} of {len(parts)} hold; {ends}"
    return f"<details><summary>{html.escape(said)}</summary>{each}</details>"


def _differs(done: Reproduction) -> str:
    items = "".join(f"<li>{html.escape(text)}</li>" for text in done.differs())
    return f"<h2>What differs, and why</h2><ul>{items}</ul>" if items else ""


def _tables(tables: list[dict[str, Any]]) -> str:
    if not tables:
        return ""
    made = []
    for entry in tables:
        header, rows, texts = cells(entry)
        note = f'<p class="soft">{html.escape(entry["note"])}</p>' if entry.get("note") else ""
        title = f"{entry['title']} ({entry['where']})" if entry.get("where") else entry["title"]
        made.append(f"<h3>{html.escape(title)}</h3>{html.grid(header, rows, texts, stacks=True)}{note}")
    return "<h2>Tables: paper and ours</h2>" + "".join(f'<div class="table">{one}</div>' for one in made)


def _figures(done: Reproduction) -> str:
    made = []
    for section, group in itertools.groupby(done.figures(), key=lambda figure: figure.section):
        figures = list(group)
        drawn = "".join(html.figure(one.id, one.title, one.caption, one.draw) for one in figures)
        # A figure by itself says it in its own title.
        alone = [one.title for one in figures] == [section]
        heading = f"<h3>{html.escape(section)}</h3>" if section and not alone else ""
        made.append(f'{heading}<div class="charts">{drawn}</div>')
    return f"<h2>Figures</h2>{''.join(made)}" if made else ""


def _not_modelled(results: Any) -> list[str]:
    """What the results of all runs say that they leave out."""
    said: list[str] = []
    for batch in results.values():
        for variants in batch.values():
            for result in variants.values():
                said += result.get("not_modelled") or []
    return said


def _repeat(done: Reproduction, command: str | None) -> str:
    asked = command or f"floatgate reproduce {done.paper.name}{' --quick' if done.settings.quick else ''}"
    experiment: Experiment = done.paper.experiment
    rows = [
        (f"workload {choice.name}", ", ".join(f"{key} = {value}" for key, value in choice.overrides))
        for choice in done.paper.workloads.values()
    ]
    rows += [
        (f"variant {choice.name} ({choice.label})", ", ".join(f"{key} = {value}" for key, value in choice.overrides))
        for choice in done.paper.variants.values()
    ]
    return (
        f"<h2>How to repeat it</h2><pre>{html.escape(asked)}</pre>"
        f"<p>The claims, workloads and variants are files in the paper's folder; every run starts from</p>"
        f"<pre>{html.escape((experiment.toml or '').strip())}</pre>{html.rows_table(rows)}"
    )
