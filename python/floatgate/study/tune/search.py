"""The search: Optuna proposes settings batch by batch, an engine runs them, the journal keeps what came of them.

All proposals of a batch are made before any of its results is told, and the sampler of a batch is seeded by its number:
the same search gives the same trials on any number of cores. Optuna's study lives in memory. The folder has the
proposals of the trials that have ended (:mod:`.proposals`) and the journal of runs; a search that was stopped tells a
new study of them batch by batch and goes on as if it never had stopped.
A space that has no more points than trials are asked for is gone through whole.
"""

from __future__ import annotations

import json
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
from floatgate.results.flat import plain
from floatgate.results.folder import write_text
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.run import check
from floatgate.study.runs.engine import Engine
from floatgate.study.runs.journal import FILE as JOURNAL
from floatgate.study.runs.journal import TABLE, Journal
from floatgate.study.runs.plan import experiment_told, kept_experiment, placed
from floatgate.study.runs.points import RUNS_END, Axis, Points
from floatgate.study.runs.requested import carry_out
from floatgate.study.runs.rows import wrong_against
from floatgate.study.runs.work import DONE, Answer, Job
from floatgate.study.sweeps.sweep import WRITABLE
from floatgate.study.tune import proposals
from floatgate.study.tune.objective import Goal, Objective, goal_of
from floatgate.study.tune.proposals import Proposals, distribution, setting, suggested, word

SCHEMA = "floatgate.tune/1"
FILE = "tune.json"
BEST = "best.toml"
_OF_OLDER_VERSIONS = ("study.log", "study.log.lock")
"""Optuna's own log of a study, which is not read any more, and its lock, which outlived killed searches."""


@dataclass(frozen=True)
class Asked:
    """What is searched.

    Attributes:
        base: the experiment.
        axes: the keys that vary.
        goal: what is wanted.
        trials: settings that are tried.
        batch: settings that are proposed at a time.
        repeat: seeds of each setting; its figures are their means.
        seed: the first of them.
        search_seed: of the proposals.
        files: where the files are that values name.
        by_optuna: whether Optuna proposes even where the space has no more points than trials, since it has begun to.
    """

    base: Experiment
    axes: tuple[Axis, ...]
    goal: Goal
    trials: int
    batch: int
    repeat: int
    seed: int
    search_seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)
    by_optuna: bool = False

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return [axis.key for axis in self.axes]

    @property
    def whole(self) -> Points | None:
        """All points of the space, where they are no more than the trials."""
        if self.by_optuna or any(axis.ends is not None and axis.steps is None for axis in self.axes):
            return None
        points = Points(self.axes)
        return points if len(points) <= self.trials else None

    def wrong(self, number: int, settings: Mapping[str, Any]) -> str | None:
        """Say what a journal has for a run that no trial can set, with what is expected; None where all fits."""
        if number >= self.trials * self.repeat:
            return f"no run of this search; expected a number below {self.trials * self.repeat}"
        seed = self.seed + number % self.repeat
        missing = [key for key in self.keys if key not in settings]
        if missing:
            return f"sets no {quote(missing[0])}; expected a value of it"
        return wrong_against(settings, {**{key: settings[key] for key in self.keys}, "seed": seed})

    def to_dict(self) -> dict[str, Any]:
        """As ``tune.json`` keeps it."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "experiment": experiment_told(self.base),
            "axes": [axis.to_dict() for axis in self.axes],
            "goal": self.goal.to_dict(),
            "trials": self.trials,
            "batch": self.batch,
            "repeat": self.repeat,
            "seed": self.seed,
            "search_seed": self.search_seed,
            "files": dict(self.files),
        }

    @classmethod
    def from_kept(cls, kept: Node) -> Asked:
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
            raise goal.refusal(f"is no goal ({error})", "figures to minimise or maximise, and bounds") from None
        axes = kept["axes"].elements()
        if not axes:
            raise kept["axes"].refusal("is an empty list", "a key that varies, or more")
        return cls(
            kept_experiment(kept["experiment"]),
            tuple(map(Axis.from_kept, axes)),
            wanted,
            trials=kept["trials"].whole(1, RUNS_END),
            batch=kept["batch"].whole(1, RUNS_END),
            repeat=kept["repeat"].whole(1, RUNS_END),
            seed=kept["seed"].whole(),
            search_seed=kept["search_seed"].whole(),
            files=kept["files"].table(),
        )


@dataclass(frozen=True)
class Trial:
    """One setting that was tried.

    Attributes:
        number: from 0.
        settings: what it sets.
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
        """The objectives, in their order."""
        return [self.figures[one.key] for one in goal.objectives]


@dataclass(frozen=True)
class _Proposal:
    """A setting to try: the number of its trial, what Optuna calls it, and Optuna's trial where it has proposed it."""

    number: int
    params: dict[str, Any]
    settings: Overrides
    trial: Any = None


class Search:
    """A search in its folder."""

    def __init__(self, folder: Path, asked: Asked, *, read_only: bool = False) -> None:
        """Use :meth:`open`; with ``read_only`` only look at what a search has done that may be running."""
        self.folder, self.asked = folder, asked
        self.journal = Journal(folder / JOURNAL, asked.keys, asked.wrong, read_only=read_only)
        self._rows: dict[int, dict[str, Any] | None] = {}
        self._set: dict[int, dict[str, Any]] = {}
        self._tried: dict[tuple[tuple[str, str], ...], int] = {}
        self._study: Any = None
        for entry in self.journal.entries():
            self._rows[entry["run"]] = entry["figures"] if entry["status"] == DONE else None
            self._set[entry["run"]] = entry["set"]
        try:
            self._proposals = Proposals(folder / proposals.FILE, asked.axes, read_only=read_only)
        except BaseException:
            self.journal.close()
            raise
        whole = asked.whole
        if whole is not None and any(self._of_point(whole, number) != one for number, one in self._proposals.items()):
            self.asked = replace(asked, by_optuna=True)

    @classmethod
    def open(cls, folder: Path, asked: Asked, *, fresh: bool) -> Search:
        """Open the folder of a search; a new one with ``fresh``, else the one that was begun there."""
        if fresh:
            for name in (FILE, proposals.FILE, JOURNAL, TABLE, BEST):
                (folder / name).unlink(missing_ok=True)
        if fresh or begun(folder).trials < asked.trials:
            write_text(str(folder / FILE), json.dumps(asked.to_dict(), indent=2, ensure_ascii=False) + "\n", WRITABLE)
        for name in _OF_OLDER_VERSIONS:
            (folder / name).unlink(missing_ok=True)
        return cls(folder, asked)

    def clear(self) -> None:
        """Remove what was written, where nothing is worth keeping."""
        self.close()
        for name in (FILE, proposals.FILE, JOURNAL, TABLE):
            (self.folder / name).unlink(missing_ok=True)

    def run(self, engine: Engine, told: Callable[[int, int], None] | None = None) -> list[Trial]:
        """Try settings until there are enough; the trials in order.

        Raises:
            InputError: a figure of the goal is null, there is no room, or the engine cannot be used.
            KeyboardInterrupt: Ctrl-C; what has been done is kept.
        """
        try:
            return list(self._trials(lambda batch: self._do(batch, engine, told)))
        finally:
            if len(self.journal):
                self.journal.write_table(self.folder / TABLE)

    def trials(self) -> list[Trial]:
        """The trials that have ended so far, in order."""
        return list(self._trials(None))

    def _trials(self, do: Callable[[Sequence[_Proposal]], None] | None) -> Iterator[Trial]:
        """Go through the trials batch by batch.

        Args:
            do: runs what the journal lacks of a batch; None to end at the first trial of which it lacks a run.
        """
        self._study, self._tried = self._new_study(), {}
        done = 0
        while done < self._count():
            batch = self._proposed(done)
            for one in batch:
                self._must_have_run(one)
            if do is not None:
                do(batch)
            for one in batch:
                if do is None and not self._has_ended(one):
                    return
                trial = self._trial(one.number, one.settings)
                self._tell(one, trial)
                if do is not None:
                    self._proposals.add(one.number, one.params)
                yield trial
            done += len(batch)

    def _must_have_run(self, one: _Proposal) -> None:
        """Refuse a journal with other runs of a trial than those that its settings ask for."""
        for number in self._runs_of(one.number):
            wanted = self._row(one.settings, number)
            what = wrong_against(self._set[number], wanted) if number in self._set else None
            if what is not None:
                raise input_error(f"{self.journal.path}: run {number}: {what} (trial {one.number})")

    def _has_ended(self, one: _Proposal) -> bool:
        first = self._tried.setdefault(tuple(one.settings), one.number)
        return all(number in self.journal for number in self._runs_of(first))

    def _runs_of(self, trial: int) -> range:
        return range(trial * self.asked.repeat, (trial + 1) * self.asked.repeat)

    def _row(self, settings: Overrides, number: int) -> dict[str, Any]:
        """What a run sets, as values of the table."""
        return {key: plain(value) for key, value in [*settings, self._seed(number % self.asked.repeat)]}

    def proof(self) -> str:
        """The command that repeats the best run."""
        several = f" --repeat {self.asked.repeat}" if self.asked.repeat > 1 else ""
        return f"floatgate run {shlex.quote(str(self.folder / BEST))}{several}"

    def _count(self) -> int:
        whole = self.asked.whole
        return self.asked.trials if whole is None else len(whole)

    # Optuna

    def _new_study(self) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        return optuna.create_study(directions=[one.direction for one in self.asked.goal.objectives])

    def _proposed(self, done: int) -> list[_Proposal]:
        """The batch that begins with trial ``done``: what was proposed for it before, else new proposals."""
        import optuna

        size = min(self.asked.batch, self._count() - done)
        numbers = range(done, done + size)
        whole = self.asked.whole
        if whole is not None:
            made = [self._of_point(whole, number) for number in numbers]
        elif numbers[-1] in self._proposals:
            made = [self._proposals[number] for number in numbers]
        else:
            # A batch that was stopped half-way is proposed again as a whole: its seed and what was told before are
            # the same, and so is each proposal.
            self._study.sampler = optuna.samplers.TPESampler(seed=self.asked.search_seed * 1_000_003 + done)
            asked = [self._study.ask() for _ in numbers]
            made = [{axis.key: suggested(one, axis) for axis in self.asked.axes} for one in asked]
            return [
                _Proposal(one.number, params, self._settings(params), one)
                for one, params in zip(asked, made, strict=True)
            ]
        return [_Proposal(number, params, self._settings(params)) for number, params in zip(numbers, made, strict=True)]

    def _of_point(self, whole: Points, number: int) -> dict[str, Any]:
        """A point of the whole space as Optuna has it."""
        point = dict(whole.at(number)) if number < len(whole) else {}
        return {axis.key: word(axis, point[axis.key]) for axis in self.asked.axes if point}

    def _settings(self, params: Mapping[str, Any]) -> Overrides:
        """What Optuna proposes, as settings."""
        return [(axis.key, setting(axis, params[axis.key])) for axis in self.asked.axes]

    def _tell(self, proposal: _Proposal, trial: Trial) -> None:
        """Tell Optuna what came of a proposal."""
        import optuna

        one = proposal.trial
        state = optuna.trial.TrialState.COMPLETE if trial.figures else optuna.trial.TrialState.FAIL
        values = trial.values(self.asked.goal) if trial.figures else None
        if one is None:
            distributions = {axis.key: distribution(axis) for axis in self.asked.axes}
            one = optuna.trial.create_trial(
                params=proposal.params, distributions=distributions, values=values, state=state
            )
        if trial.figures:
            for bound, excess in zip(self.asked.goal.bounds, trial.excess, strict=True):
                one.set_constraint(str(bound), excess)
        if proposal.trial is None:
            self._study.add_trial(one)
        else:
            self._study.tell(one, values, state)

    def importance(self) -> dict[str, dict[str, float]]:
        """For each objective how much of what differs between good and other trials each key explains, from 0 to 1.

        By PED-ANOVA (Watanabe and others, IJCAI 2023), which needs no further library; empty where there are too few
        trials. It is told of those that :meth:`run` or :meth:`trials` went through.
        """
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        found: dict[str, dict[str, float]] = {}
        if self._study is None:
            return found
        for number, objective in enumerate(self.asked.goal.objectives):
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
                found[objective.key] = dict(shares)
        return found

    # Runs

    def _do(self, batch: Sequence[_Proposal], engine: Engine, told: Callable[[int, int], None] | None) -> None:
        """Run what the journal does not have yet; settings that were tried before are not run again."""
        jobs: list[Job] = []
        for one in batch:
            if self._tried.setdefault(tuple(one.settings), one.number) == one.number:
                jobs += [self._job(one.number, one.settings, each) for each in range(self.asked.repeat)]
        settings_of = {one.number: one.settings for one in batch}

        def done(answer: Answer) -> None:
            if answer.status == DONE and not any(row is not None for row in self._rows.values()):
                self.asked.goal.must_be_known(answer.figures)
            settings = self._row(settings_of[answer.number // self.asked.repeat], answer.number)
            self.journal.add(answer, settings)
            self._rows[answer.number] = answer.figures if answer.status == DONE else None
            self._set[answer.number] = settings
            if told is not None:
                told(len(self.journal), self._count() * self.asked.repeat)

        left = [job for job in jobs if job.number not in self.journal]
        if left:
            carry_out(engine, left, done)

    def _job(self, number: int, settings: Overrides, each: int) -> Job:
        laid = placed([*settings, self._seed(each)], self.asked.files)
        return Job(number * self.asked.repeat + each, self.asked.base.with_overrides(laid))

    def _seed(self, each: int) -> tuple[str, str]:
        return ("seed", str(self.asked.seed + each))

    def _trial(self, number: int, settings: Overrides) -> Trial:
        """A trial with the means of its runs, or of those of an earlier trial with the same settings."""
        first = self._tried.setdefault(tuple(settings), number)
        runs = [self._rows.get(first * self.asked.repeat + each) for each in range(self.asked.repeat)]
        goal = self.asked.goal
        figures: dict[str, float] = {}
        for key in goal.keys:
            values = [run.get(key) if run is not None else None for run in runs]
            if any(value is None for value in values):
                return Trial(number, settings)
            figures[key] = math.fsum(values) / len(values)  # type: ignore[arg-type]
        return Trial(number, settings, figures, tuple(bound.excess(figures[bound.key]) for bound in goal.bounds))

    def write_best(self, trial: Trial) -> Path:
        """Write the experiment that won, with every default, and return where it is."""
        experiment = self.asked.base.with_overrides(placed([*trial.settings, self._seed(0)], self.asked.files))
        target = self.folder / BEST
        write_text(str(target), check(experiment), WRITABLE)
        return target

    def close(self) -> None:
        """Close the files."""
        self.journal.close()
        self._proposals.close()


def _target(number: int, objective: Objective) -> Callable[[Any], float]:
    # PED-ANOVA asks which keys make trials good, and takes small values for good.
    return lambda trial: -trial.values[number] if objective.maximise else trial.values[number]


def best_of(trials: Sequence[Trial], goal: Goal) -> list[Trial]:
    """The trials that no other one beats in every objective (the Pareto front); the first is the one to take.

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


def begun(folder: Path) -> Asked:
    """What the search of a folder was begun with.

    Raises:
        InputError: there is none.
    """
    path = folder / FILE
    if not path.is_file():
        raise input_error(f"{folder}: holds no search; expected a folder that floatgate tune --out has begun")
    asked = Asked.from_kept(shapes.read(path, "tune"))
    with reading(path, "expected the settings of a search"):
        for axis in asked.axes:
            distribution(axis)
    return asked
