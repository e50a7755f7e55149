"""A paper reproduced: its claims judged, its tables and figures beside ours."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.text_table import table
from floatgate.papers import runner
from floatgate.papers.jobs import Settings
from floatgate.papers.judge import Findings, Verdict, judge, rule_text, shown
from floatgate.papers.outcomes import Keep
from floatgate.papers.paper import Figure, Paper
from floatgate.papers.runner import Progress
from floatgate.papers.tables import filled
from floatgate.results.folder import RunFolder

SCHEMA = "floatgate.reproduce/1"
FILE = "reproduce.json"
WORDS = {True: "holds", False: "fails", None: "not judged"}
"""The verdicts in words."""

_VALUE = re.compile(r"\{([^{}|]+)(?:\|([^{}]*))?\}")


class Reproduction:
    """The outcome of the experiments of a paper.

    Attributes:
        paper: the paper.
        settings: quick or full, and the user's traces.
        findings: the results and the values.
        verdicts: one for each claim, in the order of the paper's file.
        failures: what ended runs that failed.
        wall_s: how long it took.
    """

    def __init__(
        self, paper: Paper, settings: Settings, findings: Findings, failures: list[str], wall_s: float = 0.0
    ) -> None:
        """Use :func:`reproduce`."""
        self.paper = paper
        self.settings = settings
        self.findings = findings
        self.failures = failures
        self.wall_s = wall_s
        self.verdicts: list[Verdict] = [judge(claim, findings, quick=settings.quick) for claim in paper.claims]

    def counts(self) -> dict[bool | None, int]:
        """Return how many claims hold, fail, and could not be judged; without those that are counted apart."""
        decided = [verdict for verdict in self.evidence() if not verdict.undecided]
        return {word: sum(verdict.holds is word for verdict in decided) for word in WORDS}

    def undecided(self) -> list[Verdict]:
        """Return the verdicts of claims that the setup cannot decide, which are counted apart."""
        return [verdict for verdict in self.evidence() if verdict.undecided]

    def evidence(self) -> list[Verdict]:
        """Return the verdicts that count: those of claims that nothing was tuned to meet."""
        return [verdict for verdict in self.verdicts if not verdict.claim.is_calibrated]

    def calibrated(self) -> list[Verdict]:
        """Return the others."""
        return [verdict for verdict in self.verdicts if verdict.claim.is_calibrated]

    def tables(self) -> list[dict[str, Any]]:
        """Return the tables, filled."""
        return [filled(entry, self.findings) for entry in self.paper.tables]

    def figures(self) -> list[Figure]:
        """Return the figures."""
        return self.paper.figures(self.findings)

    def about(self) -> str:
        """Return the result of the experiments in words, with our values."""
        return self._with_values(self.paper.about)

    def reasons(self, verdicts: Sequence[Verdict]) -> str:
        """Return why some claims fail or are not judged, each reason once, with our values."""
        texts = [
            one.undecided or (str(one.claim.rule.get("why", "")) if one.holds is False else "") for one in verdicts
        ]
        return " ".join(_sentence(self._with_values(text)) for text in dict.fromkeys(filter(None, texts)))

    def topics(self) -> list[dict[str, Any]]:
        """Return each topic with the counts of its claims, why they fail or are not judged, and what decided them."""
        rows = []
        for topic in dict.fromkeys(one.claim.rule.get("topic", "") for one in self.verdicts):
            verdicts = [one for one in self.verdicts if one.claim.rule.get("topic", "") == topic]
            evidence = [one for one in verdicts if not one.claim.is_calibrated]
            decided = dict.fromkeys(
                part for one in verdicts for part in str(one.claim.rule.get("decided_by", "")).split("; ")
            )
            rows.append(
                {
                    "topic": str(topic),
                    "holds": sum(one.holds is True for one in evidence),
                    "fails": sum(one.holds is False for one in evidence),
                    "not_judged": sum(one.holds is None for one in evidence),
                    "calibrated": len(verdicts) - len(evidence),
                    "why": self.reasons(verdicts),
                    "decided_by": "; ".join(filter(None, decided)),
                }
            )
        return rows

    def differs(self) -> list[str]:
        """Return what differs from the paper and why, with our values in it; last, which rules were changed and why."""
        return [self._with_values(text) for text in self.paper.differs] + changed_rules(self.paper)

    def _with_values(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            ours = self.findings.look(match[1])
            return "(not in --quick)" if ours is None and self.settings.quick else shown(ours, match[2] or "")

        return _VALUE.sub(value, text)

    def headline(self) -> str:
        """Format as ``31 of 38 claims hold, 6 fail, 1 is not judged; 4 more are calibrated and not counted``."""
        counts = self.counts()
        parts = [f"{counts[True]} of {len(self.evidence())} claims hold"]
        parts += [f"{counts[False]} fail"] if counts[False] else []
        apart = len(self.undecided())
        parts += [f"{apart} {'is' if apart == 1 else 'are'} not judged"] if apart else []
        parts += [f"{counts[None]} could not be judged"] if counts[None] else []
        more = len(self.calibrated())
        text = f"; {more} more {'is' if more == 1 else 'are'} calibrated and not counted" if more else ""
        return ", ".join(parts) + text

    def text(self) -> str:
        """Return the verdicts as lines of text."""
        rows = [
            [_word(verdict), verdict.claim.id, ours_text(verdict), rule_text(verdict.claim.rule)]
            for verdict in self.verdicts
        ]
        quick = " (quick)" if self.settings.quick else ""
        header = ["verdict", "claim", "ours", "judged by"]
        # Differences that quote figures of the run come first.
        first = [self.about(), ""] if _VALUE.search(self.paper.about) else []
        lines = [f"{self.paper.name}{quick}: {self.headline()}", "", *first, table(header, rows)]
        return "\n".join([*lines, *(f"failed: {text}" for text in self.failures)])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it (schema ``floatgate.reproduce/1``)."""
        counts = self.counts()
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "paper": self.paper.name,
            "title": self.paper.title,
            "about": self.about(),
            "quick": self.settings.quick,
            "traces": sorted(self.settings.traces),
            "holds": counts[True],
            "fails": counts[False],
            "not_judged": counts[None] + len(self.undecided()),
            "calibrated": len(self.calibrated()),
            "topics": self.topics(),
            "claims": [verdict.to_dict() for verdict in self.verdicts],
            "tables": self.tables(),
            "failures": self.failures,
            "run": {"wall_s": self.wall_s},
        }

    def report(self, command: str | None = None) -> str:
        """Render everything as one self-contained HTML page."""
        from floatgate.papers.page import page

        return page(self, command)

    def write(self, target: RunFolder, *, report: bool = True, command: str | None = None) -> Path:
        """Write ``reproduce.json``, the results themselves and ``report.html``.

        Raises:
            InputError: the folder cannot be written.
        """

        def fill(staging: Path, _final: Path) -> None:
            (staging / FILE).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
            (staging / "results.json").write_text(json.dumps(_kept(self.findings.results)) + "\n", "utf-8")

        return target.write(fill, report=(lambda: self.report(command)) if report else None)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _word(verdict: Verdict) -> str:
    return WORDS[verdict.holds] + (" (calibrated)" if verdict.claim.is_calibrated else "")


def changed_rules(paper: Paper) -> list[str]:
    """Return every rule that was changed after a first run, with the claims that it judges; empty if none was.

    The list comes from the claims themselves (``changed``); the page cannot leave one out.
    """
    claims: dict[str, list[str]] = {}
    for claim in paper.claims:
        if "changed" in claim.rule:
            claims.setdefault(str(claim.rule["changed"]), []).append(claim.id)
    if not claims:
        return []
    listed = [f"Rule changed after a first run ({', '.join(ids)}): {text}" for text, ids in claims.items()]
    return [*listed, "All other rules are as they were written down before the first run."]


def _kept(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results without the records second by second, which are large and drawn already."""
    return {
        batch: {
            workload: {variant: {**result, "detail": None} for variant, result in variants.items()}
            for workload, variants in workloads.items()
        }
        for batch, workloads in results.items()
    }


def ours_text(verdict: Verdict) -> str:
    """Summarize the outcome: the figure, or how many names passed and what the others have."""
    unit = verdict.claim.rule.get("unit", "")
    if not verdict.parts:
        return shown(verdict.ours, unit)
    passed = [name for name, holds in verdict.parts.items() if holds]
    others = [f"{name} {shown(verdict.ours[name], unit)}" for name, holds in verdict.parts.items() if not holds]
    text = f"{len(passed)} of {len(verdict.parts)}" if others else f"all {len(passed)}"
    return f"{text}; not {', '.join(others[:2])}{', ...' if len(others) > 2 else ''}" if others else text


def reproduce(
    paper: Paper, settings: Settings | None = None, progress: Progress | None = None, keep: Keep | None = None
) -> Reproduction:
    """Run a paper's experiments and judge its claims.

    Args:
        paper: from :func:`floatgate.papers.load`.
        settings: quick or full, and traces in place of the paper's workloads.
        progress: called with (done, total, phase).
        keep: where outcomes are kept until all are there; kept ones are not done again.

    Raises:
        InputError: a trace or a setting is unusable, or the kept outcomes are damaged or of other settings. A run that
            fails leaves its claims unjudged.
    """
    settings = settings or Settings()
    begun = time.perf_counter()
    results, failures = runner.run(paper, settings, progress, keep)
    findings = Findings(results)
    findings.values.update(paper.values(findings))
    return Reproduction(paper, settings, findings, failures, time.perf_counter() - begun)
