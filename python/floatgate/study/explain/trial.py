"""The suggested settings, run: what each measures before and after, and whether it helped."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate.base import units
from floatgate.base.errors import FloatgateError, one_line
from floatgate.base.parallel import cores
from floatgate.report.sections import lifetime_headline
from floatgate.report.sections.limits.settings import Gain, plain_text
from floatgate.run.experiment import Overrides
from floatgate.run.lifetime import forecast
from floatgate.study.explain.case import Case, resolved
from floatgate.study.explain.defaults import overrides_of
from floatgate.study.explain.explanation import Choice, Explanation, Known, Suggestion
from floatgate.study.runs.engine import Local, Progress
from floatgate.study.runs.requested import carry_out
from floatgate.study.runs.work import Answer, Job
from floatgate.study.visible_capacity import loss

HELPED, NO_DIFFERENCE, WORSE = "helped", "did not help: no difference beyond the error", "did not help: worse"
UNSURE = 0.05
"""Relative difference up to which two runs count as alike in a figure whose error is not known."""
MUCH = 0.25
"""Relative rise of a figure from which on a trial that helped names it as much worse."""
LABELS: Mapping[str, str] = {
    "wear": "erases per block",
    "erases_max": "erases of the most erased block",
    "reads_beyond": "reads beyond the limit",
    "target_loss": "gap to the target",
    "unserved": "demand held back",
    "read_mean_us": "mean read",
    "write_mean_us": "mean write",
    "read_p99_us": "read p99",
    "write_p99_us": "write p99",
    "read_p999_us": "read p99.9",
    "write_p999_us": "write p99.9",
    "read_max_us": "longest read",
    "amplification": "WAF",
    "short_life": "life",
}
"""Names of measured figures."""
_FORECAST_LABELS = {"wear": "erases per block and TB"}
_BESIDE = (
    "amplification",
    "short_life",
    "unserved",
    "read_mean_us",
    "write_mean_us",
    "read_p99_us",
    "read_p999_us",
    "write_p99_us",
    "write_p999_us",
)
"""Figures that stand beside those that a setting is to change."""

_P99_OF = {"read_mean_us": "read_p99_us", "write_mean_us": "write_p99_us"}
"""The mean latencies that settings are judged by, and the p99 that a user sees beside each."""
_NOUGHT = 1e-9
"""A figure below counts as nought: relative to it nothing can be said."""

AS_IT_WAS: Overrides = []
Outcome = Mapping[str, Any] | FloatgateError
"""A result, or what ended the run."""


@dataclass(frozen=True)
class Measured:
    """A figure before and after.

    Attributes:
        figure: its name.
        before: its value without the setting.
        after: with it.
        shown: both, as people read them.
        gain: the gain that it measures; None for a figure beside.
        error: relative; a larger difference counts.
        lives: the life that counts before and after, of which more is better; None of other figures.
    """

    figure: str
    before: float | str
    after: float | str
    shown: tuple[str, str]
    gain: Gain | None = None
    error: float = UNSURE
    lives: tuple[float, float] | None = None

    @property
    def change(self) -> float | None:
        """The relative change; None of a text, or where it was nought before."""
        if self.lives is not None and self.gain is not None and self.lives[0] > _NOUGHT:
            return self.lives[1] / self.lives[0] - 1.0
        if isinstance(self.before, str) or isinstance(self.after, str) or abs(self.before) < _NOUGHT:
            return None
        return self.after / self.before - 1.0

    @property
    def verdict(self) -> str:
        """Whether it became less; of a life, whether it became more."""
        change = self.change
        if change is None or abs(change) <= self.error:
            return f"{NO_DIFFERENCE} of {units.share(self.error)}"
        return HELPED if (change > 0) is (self.lives is not None) else WORSE

    @property
    def is_worse(self) -> bool:
        """Whether it rose, or a life fell, by more than its error."""
        change = self.change or 0.0
        return (change if self.lives is None else -change) > self.error

    @property
    def is_much_worse(self) -> bool:
        """Whether it rose by more than :data:`MUCH`."""
        return self.lives is None and (self.change or 0.0) > MUCH

    def text(self, labels: Mapping[str, str]) -> str:
        """Format as ``erases per block 47.1 to 23.4 (-50 %)``."""
        before, after = self.shown
        change = "" if self.change is None else f" ({100 * self.change:+.0f} %)"
        return f"{labels[self.figure]} {before} to {after}{change}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {
            "figure": self.figure,
            "before": self.before,
            "after": self.after,
            "change": self.change,
            "verdict": None if self.gain is None else self.verdict,
        }


@dataclass(frozen=True)
class Trial:
    """One value of a suggestion, run.

    Attributes:
        value: the value.
        figures: what was measured; empty where the run failed.
        error: what ended the run.
        is_forecast: whether it is a forecast.
        life: relative change of the life that counts; None where it is not known.
        space: how the visible space falls, in words; None where it does not.
        notes: why a run of it is not steady, or too short, as comparisons say.
    """

    value: Any
    figures: Sequence[Measured] = ()
    error: str | None = None
    is_forecast: bool = False
    life: float | None = None
    space: str | None = None
    notes: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """Whether it helped, by the gain that matters first, and what it made worse; if it helped, much worse.

        Less visible space is named in either case.
        """
        judged = [one for one in self.figures if one.gain is not None]
        if self.error is not None:
            return "failed"
        if not judged:
            return "not known: the figures to compare are missing"
        verdict = judged[0].verdict
        if verdict != HELPED:
            return f"{verdict}{self._worse_beside(judged[0])}{f', and {self.space}' if self.space else ''}"
        fell = ["the life fell"] if (self.life or 0.0) < -UNSURE else []
        worse = [self._labels[one.figure] for one in self.figures if one.is_much_worse]
        rose = [f"{' and '.join(worse)} rose by more than {units.share(MUCH)}"] if worse else []
        costs = (*fell, *self._first_seen(judged[0]), *rose, *([self.space] if self.space else []))
        return f"{verdict}, but {' and '.join(costs)}" if costs else verdict

    def _first_seen(self, judged: Measured) -> list[str]:
        """Say that p99 did not fall with the mean latency that did, and that the other mean rose."""
        own = _P99_OF.get(judged.figure)
        phrases = []
        for one in self.figures:
            change = 100 * (one.change or 0.0)
            if own is None or one.figure not in (own, *_P99_OF) or one.is_much_worse:
                continue
            if one.is_worse:
                phrases.append(f"{self._labels[one.figure]} rose ({change:+.0f} %)")
            elif one.figure == own and change > -100 * UNSURE:
                phrases.append(f"{self._labels[own]} did not fall ({change:+.0f} %)")
        return phrases

    def _worse_beside(self, judged: Measured) -> str:
        """Return the other figures that are worse by more than their error, as ``, and worse: write p99 (+28 %)``."""
        worse = [
            f"{self._labels[one.figure]} ({100 * (one.change or 0.0):+.0f} %)"
            for one in self.figures
            if one.figure != judged.figure and one.is_worse
        ]
        return f", and worse: {', '.join(worse)}" if worse else ""

    @property
    def _labels(self) -> Mapping[str, str]:
        return {**LABELS, **_FORECAST_LABELS} if self.is_forecast else LABELS

    def text(self) -> str:
        """Format as ``0.14 helped: erases per block 47.1 to 23.4 (-50 %), WAF 7.72 to 3.84 (-50 %)``."""
        head = f"{plain_text(self.value)} {self.verdict}"
        if self.error is not None:
            return f"{head}: {self.error}"
        measured = ", ".join(one.text(self._labels) for one in self.figures)
        return "; ".join([f"{head}: {measured}", *(note.rstrip(".") for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {
            "value": self.value,
            "verdict": self.verdict,
            "figures": [one.to_dict() for one in self.figures],
            "error": self.error,
            "notes": list(self.notes),
        }


Tried = Sequence[tuple[Trial, ...]]
"""The trials of each suggestion, in their order."""


def sides(explanation: Explanation) -> list[Overrides]:
    """Return the experiments that a trial runs, the one of the folder first, as settings laid over it."""
    changed = [overrides for one in explanation.suggestions for overrides in _overrides(one)]
    return [AS_IT_WAS, *changed]


def labels_of(explanation: Explanation) -> list[str]:
    """Return a label for each of :func:`sides`."""
    return [", ".join(f"{key} = {value}" for key, value in one) or "as it was" for one in sides(explanation)]


def run(explanation: Explanation, jobs: int | None = None, progress: Progress | None = None) -> Tried:
    """Run the suggested settings and the experiment without them.

    Args:
        explanation: the suggestions.
        jobs: runs at a time; None for one per core. Forecasts use all cores.
        progress: called with the number of the run, the amount done, the total or None, and the phase.

    A run that fails, or whose settings turn out to be unusable, is the outcome of its trial.
    """
    case, experiments = explanation.case, sides(explanation)
    do = _forecasts if case.is_forecast else _runs
    before, *others = do(case, experiments, jobs, progress)
    after = iter(others)
    return [
        tuple(_trial(one, choice, case, (before, next(after))) for choice in one.choices)
        for one in explanation.suggestions
    ]


def _overrides(one: Suggestion) -> list[Overrides]:
    """Return the settings of each value of a suggestion."""
    return [overrides_of(choice.changes(one.key)) for choice in one.choices]


def _runs(case: Case, experiments: Sequence[Overrides], jobs: int | None, progress: Progress | None) -> list[Outcome]:
    """Run experiments on all cores."""
    base = case.experiment
    answers: dict[int, Outcome] = {}

    def take(answer: Answer) -> None:
        failure = answer.failure()
        answers[answer.number] = answer.run.result.to_dict() if failure is None else failure

    waiting = (Job(number, base.with_overrides(one), whole=True) for number, one in enumerate(experiments))
    carry_out(Local(jobs or cores()), waiting, take, progress)
    return [answers[number] for number in range(len(experiments))]


def _forecasts(
    case: Case, experiments: Sequence[Overrides], _jobs: int | None, progress: Progress | None
) -> list[Outcome]:
    """Forecast lives, one after the other: one that fails leaves the others."""
    outcomes: list[Outcome] = []
    for number, one in enumerate(experiments):
        report = None if progress is None else _numbered(progress, number)
        try:
            outcomes.append(forecast(case.experiment, [one], progress=report)[0])
        except FloatgateError as error:
            outcomes.append(error)
    return outcomes


def _numbered(progress: Progress, number: int) -> Callable[[int, int | None, str], None]:
    return lambda done, total, phase: progress(number, done, total, phase)


def _trial(one: Suggestion, choice: Choice, case: Case, outcomes: tuple[Outcome, Outcome]) -> Trial:
    """Return the trial of one value, from the outcomes without and with it."""
    pair = []
    for outcome, overrides in zip(outcomes, (AS_IT_WAS, overrides_of(choice.changes(one.key))), strict=True):
        if isinstance(outcome, FloatgateError):
            return Trial(choice.value, error=one_line(outcome.message), is_forecast=case.is_forecast)
        pair.append(_changed(case, overrides, outcome))
    lives = _figure("life_value", (Known(pair[0]), Known(pair[1])))
    life = None if lives is None else lives.change
    figures, space = _measured(one, pair[0], pair[1]), loss(pair[0].result, pair[1].result)
    notes = lifetime_headline.shortages({"now": pair[0].result, plain_text(choice.value): pair[1].result})
    return Trial(choice.value, figures, is_forecast=case.is_forecast, life=life, space=space, notes=notes)


def _changed(case: Case, overrides: Overrides, result: Any) -> Case:
    """Return the case of a run with some settings changed."""
    experiment = case.experiment.with_overrides(overrides)
    toml = resolved(experiment, case.kind)
    return replace(case, result=result, config=tomllib.loads(toml), experiment=experiment, toml=toml)


def _measured(one: Suggestion, before: Case, after: Case) -> list[Measured]:
    """Return the figures that a suggestion is to change, then those beside them that are known."""
    known = (Known(before), Known(after))
    error = _error(*known)
    figures = []
    for estimate in one.estimates:
        names = filter(None, (estimate.gain.measured, estimate.gain.instead))
        measured = (_figure(name, known, estimate.gain, error if name == "wear" else UNSURE) for name in names)
        figures.append(next((one for one in measured if one is not None), None))
    named = {figure.figure for figure in figures if figure is not None}
    beside = [_figure(name, known) for name in _BESIDE if name not in named]
    own = {_P99_OF.get(name) for name in named}
    figures += [one for one in beside if one is not None and (one.shown[0] != one.shown[1] or one.figure in own)]
    return [figure for figure in figures if figure is not None]


def _figure(name: str, known: tuple[Known, Known], gain: Gain | None = None, error: float = UNSURE) -> Measured | None:
    """Return a figure of both sides; None where one does not know it."""
    before, after = (one.value(name) for one in known)
    if before is None or after is None:
        return None
    shown = known[0].text(name), known[1].text(name)
    return Measured(name, before, after, shown, gain, error, _lives(known) if name == "short_life" else None)


def _lives(known: tuple[Known, Known]) -> tuple[float, float] | None:
    """Return the life that counts of both sides as numbers."""
    before, after = (one.value("life_value") for one in known)
    return (before, after) if isinstance(before, float) and isinstance(after, float) else None


def _error(before: Known, after: Known) -> float:
    """Return the relative error of a difference in wear: that of write amplification, as comparisons have it."""
    value, *halves = before.value("amplification"), *(one.value("amplification_error") for one in (before, after))
    known = [half for half in halves if isinstance(half, float)]
    if not isinstance(value, float) or not value or len(known) < len(halves):
        return UNSURE
    return math.hypot(*known) / value


def failures(tried: Tried) -> list[str]:
    """Return what ended the runs that failed."""
    return [f"{plain_text(trial.value)}: {trial.error}" for trials in tried for trial in trials if trial.error]
