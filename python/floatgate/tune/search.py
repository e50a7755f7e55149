"""The search: Optuna proposes settings batch by batch, an engine runs them, the journal keeps what came of them.

All proposals of a batch are made before any of its results is told, and the sampler of a batch is seeded by its number:
the same search gives the same trials on any number of cores, and one that was stopped goes on as if it never had.
A space that has no more points than trials are asked for is gone through whole.
"""

from __future__ import annotations

import json
import math
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floatgate import _core, shapes
from floatgate.errors import InputError, input_error
from floatgate.experiment import Experiment, Overrides
from floatgate.folder import write_text
from floatgate.json_in import Node
from floatgate.run import check
from floatgate.sweeps.engine import Engine
from floatgate.sweeps.journal import FILE as JOURNAL
from floatgate.sweeps.journal import TABLE, Journal
from floatgate.sweeps.points import RUNS_END, Axis, Points
from floatgate.sweeps.spec import placed
from floatgate.sweeps.sweep import WRITABLE, kept_experiment, plain
from floatgate.sweeps.work import DONE, Answer, Job
from floatgate.tune.objective import Goal, Objective

SCHEMA = "floatgate.tune/1"
FILE = "tune.json"
STUDY = "study.log"
BEST = "best.toml"
_NAME = "floatgate"


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

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return [axis.key for axis in self.axes]

    @property
    def whole(self) -> Points | None:
        """All points of the space, where they are no more than the trials."""
        if any(axis.ends is not None and axis.steps is None for axis in self.axes):
            return None
        points = Points(self.axes)
        return points if len(points) <= self.trials else None

    def to_dict(self) -> dict[str, Any]:
        """As ``tune.json`` keeps it."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "experiment": {
                "toml": self.base.toml,
                "path": self.base.path,
                "overrides": [list(p) for p in self.base.overrides],
            },
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
        from floatgate.tune.objective import goal_of

        goal = kept["goal"]
        parts = ("minimise", "maximise", "subject_to")
        minimise, maximise, subject_to = ([one.text() for one in goal[key].elements()] for key in parts)
        try:
            wanted = goal_of(minimise, maximise, subject_to)
        except InputError as error:
            raise goal.refusal(f"is no goal ({error})", "figures to minimise or maximise, and bounds") from None
        axes = kept["axes"].elements()
        if not axes:
            kept["axes"].refuse("a key that varies, or more")
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

    def __init__(self, folder: Path, asked: Asked) -> None:
        """Use :meth:`open`."""
        self.folder, self.asked = folder, asked
        self.journal = Journal(folder / JOURNAL, asked.keys)
        self._rows: dict[int, dict[str, Any] | None] = {}
        self._tried: dict[tuple[tuple[str, str], ...], int] = {}
        for entry in self.journal.entries():
            self._rows[entry["run"]] = entry["figures"] if entry["status"] == DONE else None

    @classmethod
    def open(cls, folder: Path, asked: Asked, *, fresh: bool) -> Search:
        """Open the folder of a search; a new one with ``fresh``, else the one that was begun there."""
        if fresh:
            for name in (FILE, STUDY, JOURNAL, TABLE, BEST):
                (folder / name).unlink(missing_ok=True)
            write_text(str(folder / FILE), json.dumps(asked.to_dict(), indent=2, ensure_ascii=False) + "\n", WRITABLE)
        return cls(folder, asked)

    def clear(self) -> None:
        """Remove what was written, where nothing is worth keeping."""
        self.journal.close()
        for name in (FILE, STUDY, JOURNAL, TABLE):
            (self.folder / name).unlink(missing_ok=True)

    def run(self, engine: Engine, told: Callable[[int, int], None] | None = None) -> list[Trial]:
        """Try settings until there are enough; the trials in order.

        Raises:
            InputError: a figure of the goal is null, there is no room, or the engine cannot be used.
            KeyboardInterrupt: Ctrl-C; what has been done is kept.
        """
        study = self._study()
        trials = self._ended(study)
        try:
            while len(trials) < self._count():
                batch = self._proposed(study, len(trials))
                self._do(batch, engine, told)
                for one in batch:
                    trial = self._trial(one.number, one.settings)
                    self._tell(study, one, trial)
                    trials.append(trial)
        finally:
            if len(self.journal):
                self.journal.write_table(self.folder / TABLE)
        return trials

    def _ended(self, study: Any) -> list[Trial]:
        return [self._trial(one.number, self._settings(one.params)) for one in study.trials if one.state.is_finished()]

    def trials(self) -> list[Trial]:
        """The trials that have ended so far, in order."""
        return self._ended(self._study())

    def proof(self) -> str:
        """The command that repeats the best run."""
        several = f" --repeat {self.asked.repeat}" if self.asked.repeat > 1 else ""
        return f"floatgate run {shlex.quote(str(self.folder / BEST))}{several}"

    def _count(self) -> int:
        whole = self.asked.whole
        return self.asked.trials if whole is None else len(whole)

    # Optuna

    def _study(self) -> Any:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            storage = JournalStorage(JournalFileBackend(str(self.folder / STUDY)))
            return optuna.create_study(
                storage=storage,
                study_name=_NAME,
                directions=[one.direction for one in self.asked.goal.objectives],
                load_if_exists=True,
            )

    def _proposed(self, study: Any, done: int) -> list[_Proposal]:
        """The next batch: what was proposed before the search was stopped, else new proposals."""
        import optuna

        size = min(self.asked.batch, self._count() - done)
        whole = self.asked.whole
        if whole is not None:
            points = [dict(whole.at(number)) for number in range(done, done + size)]
            made = [{axis.key: _word(axis, point[axis.key]) for axis in self.asked.axes} for point in points]
            return [_Proposal(done + place, params, self._settings(params)) for place, params in enumerate(made)]
        study.sampler = optuna.samplers.TPESampler(seed=self.asked.search_seed * 1_000_003 + done)
        left = [one for one in study.trials if one.state == optuna.trial.TrialState.RUNNING]
        asked = [optuna.trial.Trial(study, one._trial_id) for one in left[:size]]
        asked += [study.ask() for _ in range(size - len(asked))]
        proposals = []
        for one in asked:
            params = {axis.key: _suggested(one, axis) for axis in self.asked.axes}
            proposals.append(_Proposal(one.number, params, self._settings(params), one))
        return proposals

    def _settings(self, params: Mapping[str, Any]) -> Overrides:
        """What Optuna proposes, as settings."""
        return [(axis.key, _setting(axis, params[axis.key])) for axis in self.asked.axes]

    def _tell(self, study: Any, proposal: _Proposal, trial: Trial) -> None:
        """Tell Optuna what came of a proposal."""
        import optuna

        one = proposal.trial
        state = optuna.trial.TrialState.COMPLETE if trial.figures else optuna.trial.TrialState.FAIL
        values = trial.values(self.asked.goal) if trial.figures else None
        if one is None:
            distributions = {axis.key: _distribution(axis) for axis in self.asked.axes}
            one = optuna.trial.create_trial(
                params=proposal.params, distributions=distributions, values=values, state=state
            )
        if trial.figures:
            for bound, excess in zip(self.asked.goal.bounds, trial.excess, strict=True):
                one.set_constraint(str(bound), excess)
        if proposal.trial is None:
            study.add_trial(one)
        else:
            study.tell(one, values, state)

    def importance(self) -> dict[str, dict[str, float]]:
        """For each objective how much of what differs between good and other trials each key explains, from 0 to 1.

        By PED-ANOVA (Watanabe and others, IJCAI 2023), which needs no further library; empty where there are too few
        trials.
        """
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        study = self._study()
        found = {}
        for number, objective in enumerate(self.asked.goal.objectives):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    shares = get_param_importances(
                        study,
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
        rows = {one.number: one.settings for one in batch}

        def done(answer: Answer) -> None:
            settings = [*rows[answer.number // self.asked.repeat], self._seed(answer.number % self.asked.repeat)]
            if answer.status == DONE and not any(row is not None for row in self._rows.values()):
                self.asked.goal.must_be_known(answer.figures)
            self.journal.add(answer, {key: plain(value) for key, value in settings})
            self._rows[answer.number] = answer.figures if answer.status == DONE else None
            if told is not None:
                told(len(self.journal), self._count() * self.asked.repeat)

        engine.run((job for job in jobs if job.number not in self.journal), done)

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
        """Close the journal."""
        self.journal.close()


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


def _distribution(axis: Axis) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.ends is not None and axis.steps is None:
        if axis.whole:
            return IntDistribution(int(axis.ends[0]), int(axis.ends[1]), log=axis.log)
        return FloatDistribution(*axis.ends, log=axis.log)
    values = axis.listed()
    # Numbers have an order that a search can use; names have none.
    if all(isinstance(plain(value), int | float) and not isinstance(plain(value), bool) for value in values):
        return IntDistribution(0, len(values) - 1)
    return CategoricalDistribution(values)


def _suggested(one: Any, axis: Axis) -> Any:
    """The value that Optuna proposes for a key."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    found = _distribution(axis)
    if isinstance(found, CategoricalDistribution):
        return one.suggest_categorical(axis.key, found.choices)
    if isinstance(found, IntDistribution):
        return one.suggest_int(axis.key, found.low, found.high, log=found.log)
    return one.suggest_float(axis.key, found.low, found.high, log=found.log)


def _setting(axis: Axis, value: Any) -> str:
    """A value that Optuna proposes, as TOML."""
    from optuna.distributions import IntDistribution

    if axis.ends is not None and axis.steps is None:
        return axis.text(float(value))
    if isinstance(_distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text)))[int(value)]
    return str(value)


def _word(axis: Axis, setting: str) -> Any:
    """A setting as Optuna has it."""
    from optuna.distributions import IntDistribution

    if isinstance(_distribution(axis), IntDistribution):
        return sorted(axis.listed(), key=lambda text: float(plain(text))).index(setting)
    return setting


def begun(folder: Path) -> Asked:
    """What the search of a folder was begun with.

    Raises:
        InputError: there is none.
    """
    path = folder / FILE
    if not path.is_file():
        raise input_error(f"{folder}: holds no search; expected a folder that floatgate tune --out has begun")
    return Asked.from_kept(shapes.read(path, "tune"))
