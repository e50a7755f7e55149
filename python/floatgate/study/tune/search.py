"""The search: Optuna proposes settings batch by batch, an engine runs them, the journal keeps their results.

All proposals of a batch are made before the sampler sees any of its results. The sampler of a batch is seeded by its
number: the same search gives the same trials on any number of cores. Optuna's study lives in memory. The folder has the
proposals of the trials that have ended (:mod:`.proposals`) and the journal of runs. A search that was stopped replays
them to a new study batch by batch, then continues as if it had never stopped.
A space with no more points than requested trials is searched in full.
"""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import InputError, input_error, quote, reading
from floatgate.base.json_in import Node
from floatgate.results import shapes
from floatgate.results.folder import write_text
from floatgate.run.experiment import Overrides
from floatgate.run.run import check
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE
from floatgate.study.runs.journaled import WRITABLE, Journaled
from floatgate.study.runs.plan import RunPlan, kept_experiment, kept_notes
from floatgate.study.runs.points import RUNS_END, Axis, Points
from floatgate.study.runs.requested import carry_out
from floatgate.study.runs.rows import wrong_against
from floatgate.study.runs.work import DONE, Answer
from floatgate.study.tune import proposals
from floatgate.study.tune.objective import Goal, Objective, goal_of
from floatgate.study.tune.proposals import Proposals, distribution, setting, suggested, word

SCHEMA = "floatgate.tune/1"
FILE = "tune.json"
BEST = "best.toml"
_OF_OLDER_VERSIONS = ("study.log", "study.log.lock")
"""Optuna's own log of a study, which is not read any more, and its lock, which outlived killed searches."""
SAMPLE, SAMPLES = "latin-hypercube", 16
"""The sample that represents a space of ranges before Optuna draws from them."""


@dataclass(frozen=True)
class SearchPlan:
    """The plan of a search.

    Attributes:
        runs: the experiment, the keys that vary, seeds and files; its points represent the space (:func:`space`).
        goal: of the search.
        trials: settings that are tried.
        batch: settings that are proposed at a time.
        search_seed: of the proposals.
        by_optuna: whether Optuna proposes even where the space has no more points than trials, since it has begun to.
    """

    runs: RunPlan
    goal: Goal
    trials: int
    batch: int
    search_seed: int = 1
    by_optuna: bool = False

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The keys that vary, with their values."""
        return self.runs.points.axes

    @property
    def whole(self) -> Points | None:
        """All points of the space, where they are no more than the trials."""
        if self.by_optuna or any(axis.ends is not None and axis.steps is None for axis in self.axes):
            return None
        points = Points(self.axes)
        return points if len(points) <= self.trials else None

    def wrong(self, number: int, settings: Mapping[str, Any]) -> str | None:
        """Describe settings of a journal's run that no trial can have, with what is expected; None if all fit."""
        repeat = self.runs.repeat
        if number >= self.trials * repeat:
            return f"no run of this search; expected a number below {self.trials * repeat}"
        missing = [key for key in self.runs.keys if key not in settings]
        if missing:
            return f"sets no {quote(missing[0])}; expected a value of it"
        possible = {key: settings[key] for key in self.runs.keys}
        return wrong_against(settings, {"seed": self.runs.seed + number % repeat, **possible})

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``tune.json`` keeps it."""
        runs = self.runs.to_dict()
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "experiment": runs["experiment"],
            "axes": runs["points"]["axes"],
            "goal": self.goal.to_dict(),
            "trials": self.trials,
            "batch": self.batch,
            "repeat": self.runs.repeat,
            "seed": self.runs.seed,
            "search_seed": self.search_seed,
            "files": runs["files"],
            "notes": list(self.runs.notes),
        }

    @classmethod
    def from_kept(cls, kept: Node) -> SearchPlan:
        """Read what :meth:`to_dict` has made.

        Raises:
            InputError: it is damaged.
        """
        goal = kept["goal"]
        parts = ("minimise", "maximise", "subject_to")
        minimise, maximise, subject_to = ([one.text() for one in goal[key].elements()] for key in parts)
        try:
            wanted = goal_of(minimise, maximise, subject_to)
        except InputError as error:
            raise goal.refusal(
                f"is not a valid goal ({error})", "figures to minimise or maximise, and bounds"
            ) from None
        axes = kept["axes"].elements()
        if not axes:
            raise kept["axes"].refusal("is an empty list", "a key that varies, or more")
        runs = RunPlan(
            kept_experiment(kept["experiment"]),
            space(tuple(map(Axis.from_kept, axes))),
            kept["repeat"].whole(1, RUNS_END),
            kept["seed"].whole(),
            kept["files"].table(),
            notes=kept_notes(kept),
        )
        trials, batch = (kept[key].whole(1, RUNS_END) for key in ("trials", "batch"))
        return cls(runs, wanted, trials, batch, kept["search_seed"].whole())


def space(axes: tuple[Axis, ...]) -> Points:
    """Return the points that a plan has of a space before any is proposed: a sample, for a range may have no steps."""
    return Points(axes, SAMPLE, SAMPLES)


@dataclass(frozen=True)
class Trial:
    """One setting that was tried.

    Attributes:
        number: from 0.
        settings: of the trial.
        figures: means over its seeds of the figures that count; empty where a run failed.
        excess: of each bound, how far it is beyond it.
    """

    number: int
    settings: Overrides
    figures: dict[str, float] = field(default_factory=dict)
    excess: tuple[float, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether it has figures and keeps to all bounds."""
        return bool(self.figures) and all(one <= 0 for one in self.excess)

    def values(self, goal: Goal) -> list[float]:
        """Return the objectives, in their order."""
        return [self.figures[one.key] for one in goal.objectives]


@dataclass(frozen=True)
class _Proposal:
    """A setting to try: the number of its trial, Optuna's values, and Optuna's trial if it has proposed it."""

    number: int
    params: dict[str, Any]
    trial: Any = None


class Search(Journaled):
    """A search in its folder."""

    files = (FILE, JOURNAL, TABLE, proposals.FILE)

    def __init__(self, folder: Path, plan: SearchPlan, *, read_only: bool = False) -> None:
        """Use :meth:`open`; with ``read_only`` only look at what a search has done that may be running."""
        super().__init__(folder, plan.runs.keys, plan.wrong, read_only=read_only)
        self.plan, self.tried = plan, plan.runs
        self._first: dict[tuple[tuple[str, str], ...], int] = {}
        self._study: Any = None
        try:
            self._proposals = Proposals(folder / proposals.FILE, plan.axes, read_only=read_only)
        except BaseException:
            self.journal.close()
            raise
        whole = plan.whole
        if whole is not None and any(self._of_point(whole, number) != one for number, one in self._proposals.items()):
            self.plan = replace(plan, by_optuna=True)

    @classmethod
    def open(cls, folder: Path, plan: SearchPlan, *, fresh: bool) -> Search:
        """Open the folder of a search; a new one with ``fresh``, else the one that was begun there."""
        if fresh:
            cls.remove(folder)
            (folder / BEST).unlink(missing_ok=True)
        if fresh or begun(folder).trials < plan.trials:
            cls.write_plan(folder, plan.to_dict())
        for name in _OF_OLDER_VERSIONS:
            (folder / name).unlink(missing_ok=True)
        return cls(folder, plan)

    def run(self, engine: Engine, on_run: Callable[[int, int], None] | None = None) -> list[Trial]:
        """Try settings until there are enough; the trials in order.

        Raises:
            InputError: a figure of the goal is null, there is no room, or the engine cannot be used.
            KeyboardInterrupt: Ctrl-C; finished runs are kept.
        """
        with self.leaving_table():
            return list(self._trials(lambda batch: self._do(batch, engine, on_run)))

    def trials(self) -> list[Trial]:
        """Return the trials that have ended so far, in order."""
        return list(self._trials(None))

    def _trials(self, do: Callable[[Sequence[_Proposal]], None] | None) -> Iterator[Trial]:
        """Go through the trials batch by batch.

        Args:
            do: does the runs of a batch that the journal lacks; None to end at the first trial that lacks one.
        """
        self._study, self._first = self._new_study(), {}
        listed: tuple[tuple[tuple[str, str], ...], ...] = ()
        while len(listed) < self._count():
            batch = self._proposed(len(listed))
            listed += tuple(map(self._settings, batch))
            self.tried = replace(self.plan.runs, points=Points((), listed=listed))
            for one in batch:
                self._must_have_run(one.number)
            if do is not None:
                do(batch)
            for one in batch:
                if do is None and not all(number in self.journal for number in self._runs_of(one.number)):
                    return
                trial = self._trial(one.number)
                self._tell(one, trial)
                if do is not None:
                    self._proposals.add(one.number, one.params)
                yield trial

    def _must_have_run(self, trial: int) -> None:
        """Refuse a journal with other runs of a trial than those that its settings ask for."""
        for number in self._own_runs(trial):
            if number in self.journal:
                what = self.tried.wrong(number, self.journal.entry(number)["set"])
                if what is not None:
                    raise input_error(f"{self.journal.path}: run {number}: {what} (trial {trial})")

    def _own_runs(self, trial: int) -> range:
        return range(trial * self.tried.repeat, (trial + 1) * self.tried.repeat)

    def _runs_of(self, trial: int) -> range:
        """Return the runs whose figures a trial uses: those of the first trial with the same settings."""
        return self._own_runs(self._first.setdefault(tuple(self.tried.points.at(trial)), trial))

    def proof(self) -> str:
        """Return the command that repeats the best run."""
        several = f" --repeat {self.tried.repeat}" if self.tried.repeat > 1 else ""
        return f"floatgate run {shlex.quote(str(self.folder / BEST))}{several}"

    def _count(self) -> int:
        whole = self.plan.whole
        return self.plan.trials if whole is None else len(whole)

    # Optuna

    def _new_study(self) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        return optuna.create_study(directions=[one.direction for one in self.plan.goal.objectives])

    def _proposed(self, done: int) -> list[_Proposal]:
        """Return the batch that begins with trial ``done``: kept proposals if there are any, else new ones."""
        import optuna

        size = min(self.plan.batch, self._count() - done)
        numbers = range(done, done + size)
        whole = self.plan.whole
        if whole is not None:
            return [_Proposal(number, self._of_point(whole, number)) for number in numbers]
        if numbers[-1] in self._proposals:
            return [_Proposal(number, self._proposals[number]) for number in numbers]
        # A batch that was stopped half-way is proposed again as a whole: its seed and the results before it are
        # the same, and so is each proposal.
        self._study.sampler = optuna.samplers.TPESampler(seed=self.plan.search_seed * 1_000_003 + done)
        suggestions = [(number, self._study.ask()) for number in numbers]
        return [
            _Proposal(number, {axis.key: suggested(one, axis) for axis in self.plan.axes}, one)
            for number, one in suggestions
        ]

    def _of_point(self, whole: Points, number: int) -> dict[str, Any]:
        """Convert a point of the whole space to Optuna's form."""
        point = dict(whole.at(number)) if number < len(whole) else {}
        return {axis.key: word(axis, point[axis.key]) for axis in self.plan.axes if point}

    def _settings(self, proposal: _Proposal) -> tuple[tuple[str, str], ...]:
        """Convert Optuna's proposal to settings."""
        return tuple((axis.key, setting(axis, proposal.params[axis.key])) for axis in self.plan.axes)

    def _tell(self, proposal: _Proposal, trial: Trial) -> None:
        """Tell Optuna the outcome of a proposal."""
        import optuna

        one = proposal.trial
        state = optuna.trial.TrialState.COMPLETE if trial.figures else optuna.trial.TrialState.FAIL
        values = trial.values(self.plan.goal) if trial.figures else None
        if one is None:
            distributions = {axis.key: distribution(axis) for axis in self.plan.axes}
            one = optuna.trial.create_trial(
                params=proposal.params, distributions=distributions, values=values, state=state
            )
        if trial.figures:
            for bound, excess in zip(self.plan.goal.bounds, trial.excess, strict=True):
                one.set_constraint(str(bound), excess)
        if proposal.trial is None:
            self._study.add_trial(one)
        else:
            self._study.tell(one, values, state)

    def importance(self) -> dict[str, dict[str, float]]:
        """Return per objective how much of the difference between good and other trials each key explains, from 0 to 1.

        By PED-ANOVA (Watanabe and others, IJCAI 2023), which needs no further library; empty where there are too few
        trials. It describes those that :meth:`run` or :meth:`trials` went through.
        """
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        importances: dict[str, dict[str, float]] = {}
        if self._study is None:
            return importances
        for number, objective in enumerate(self.plan.goal.objectives):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    shares = get_param_importances(
                        self._study,
                        evaluator=PedAnovaImportanceEvaluator(),
                        target=_target(number, objective),
                    )
            except (ValueError, RuntimeError):
                continue
            if all(math.isfinite(share) for share in shares.values()):
                importances[objective.key] = dict(shares)
        return importances

    # Runs

    def _do(self, batch: Sequence[_Proposal], engine: Engine, on_run: Callable[[int, int], None] | None) -> None:
        """Do the runs that the journal lacks; settings that were tried before are not run again."""
        numbers = dict.fromkeys(number for one in batch for number in self._runs_of(one.number))
        left = [self.tried.job(number) for number in numbers if number not in self.journal]

        def done(answer: Answer) -> None:
            if answer.status == DONE and not self.journal.counts.get(DONE):
                self.plan.goal.must_be_known(answer.figures)
            self.journal.add(answer, self.tried.row(answer.number))
            if on_run is not None:
                on_run(len(self.journal), self._count() * self.tried.repeat)

        if left:
            carry_out(engine, left, done)

    def _trial(self, number: int) -> Trial:
        """Return a trial with the means of its runs."""
        settings, goal = self.tried.points.at(number), self.plan.goal
        runs = [self.journal.entry(run)["figures"] for run in self._runs_of(number)]
        figures: dict[str, float] = {}
        for key in goal.keys:
            values = [run.get(key) for run in runs]
            if any(value is None for value in values):
                return Trial(number, settings)
            figures[key] = math.fsum(values) / len(values)
        return Trial(number, settings, figures, tuple(bound.excess(figures[bound.key]) for bound in goal.bounds))

    def write_best(self, trial: Trial) -> Path:
        """Write the experiment that won, with every default, and return where it is."""
        target = self.folder / BEST
        first = self.tried.job(trial.number * self.tried.repeat)
        write_text(str(target), check(first.experiment), WRITABLE)
        return target

    def close(self) -> None:
        """Close the files."""
        super().close()
        self._proposals.close()


def _target(number: int, objective: Objective) -> Callable[[Any], float]:
    # PED-ANOVA asks which keys make trials good, and takes small values for good.
    return lambda trial: -trial.values[number] if objective.maximise else trial.values[number]


def best_of(trials: Sequence[Trial], goal: Goal) -> list[Trial]:
    """Return the trials that no other one beats in every objective (the Pareto front); the first is the one to take.

    That is the best one under a single objective; under several the one nearest to the best of each, with all distances
    as shares of the front's width.
    """
    feasible = [trial for trial in trials if trial.feasible]
    signs = [-1 if one.maximise else 1 for one in goal.objectives]
    costs = {
        one.number: [sign * value for sign, value in zip(signs, one.values(goal), strict=True)] for one in feasible
    }
    front: list[Trial] = []
    seen: set[tuple[float, ...]] = set()
    for one in feasible:
        cost = costs[one.number]
        beaten = any(
            other != cost and all(theirs <= ours for theirs, ours in zip(other, cost, strict=True))
            for other in costs.values()
        )
        if not beaten and tuple(cost) not in seen:
            seen.add(tuple(cost))
            front.append(one)
    if not front:
        return []
    columns = list(zip(*(costs[one.number] for one in front), strict=True))
    low, wide = [min(column) for column in columns], [max(column) - min(column) or 1.0 for column in columns]

    def away(one: Trial) -> float:
        return math.hypot(
            *((cost - base) / width for cost, base, width in zip(costs[one.number], low, wide, strict=True))
        )

    return sorted(front, key=lambda one: (away(one), one.number))


def begun(folder: Path) -> SearchPlan:
    """Return the plan with which the search of a folder began.

    Raises:
        InputError: the folder holds no search.
    """
    path = folder / FILE
    if not path.is_file():
        raise input_error(f"{folder}: holds no search; expected a folder that floatgate tune --out has begun")
    plan = SearchPlan.from_kept(shapes.read(path, "tune"))
    with reading(path, "expected the settings of a search"):
        for axis in plan.axes:
            distribution(axis)
    return plan
