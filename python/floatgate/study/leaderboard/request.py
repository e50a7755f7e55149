"""The request for a leaderboard, and the plan of its runs: those of a sweep over traces, drives, policies and seeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import input_error, meant, quote, quoted, repeated
from floatgate.base.parallel import at_once
from floatgate.plugins import kept
from floatgate.run.experiment import Experiment, Overrides, from_file, parse_set, toml_value
from floatgate.run.run import check
from floatgate.study.leaderboard.drives import SPARES, large, pages_per_block, scaled
from floatgate.study.leaderboard.slots import Slot, slot_of
from floatgate.study.leaderboard.traces import FOLDER, ONE_WRITE, Entry, LeftOut, named, one_write, prepared
from floatgate.study.runs.plan import RunPlan
from floatgate.study.runs.points import Points
from floatgate.study.same_in_all import shared_in_sweep
from floatgate.study.sweeps.sweep import plan_of
from floatgate.trace.dense_traces import PAGE_BYTES

SCHEMA = "floatgate.leaderboard/1"
FILE = "leaderboard.json"
SEEDS = 3
SPARE_MIN = 0.01
_OF_RUNS = (
    *("workload.file", "workload.repeat", "workload.warmup_passes", "ftl.precondition", "ftl.spare_factor"),
    *("drive.geometry.blocks_per_plane", "drive.geometry.pages_per_block", "seed"),
)
"""Keys that runs set, beside that of the policy."""


@dataclass(frozen=True)
class Request:
    """What a leaderboard compares.

    Attributes:
        traces: files or names of shipped traces; all shipped ones where empty.
        slot: of the policies.
        policies: their names; all of the slot where empty.
        params: parameters of single policies, by ``POLICY.KEY``.
        spares: spare factors of the drives.
        seeds: runs of each policy on each drive.
        against: the policy that each other one is tested against beside the baseline; the first one where None.
        settings: what all runs set.
    """

    traces: tuple[str, ...] = ()
    slot: str = "separator"
    policies: tuple[str, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    spares: tuple[float, ...] = SPARES
    seeds: int = SEEDS
    against: str | None = None
    settings: Overrides = field(default_factory=list)


@dataclass(frozen=True)
class Board:
    """A leaderboard as ``leaderboard.json`` keeps it: what is compared on what.

    Attributes:
        slot: of the policies.
        policies: in the order of the runs.
        labels: of the policies, with parameters of their own.
        own: the hashes of those that were loaded from outside.
        traces: that are run.
        left_out: that are not, with the reason.
        spares: spare factors of the drives of each trace.
        seeds: runs of each policy on each drive.
        against: see :class:`Request`.
    """

    slot: Slot
    policies: tuple[str, ...]
    labels: Mapping[str, str]
    own: Mapping[str, str]
    traces: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    spares: tuple[float, ...]
    seeds: int
    against: str | None

    @property
    def runs(self) -> int:
        """How many runs there are: every policy and seed on every field, and on the drive that tells its memory."""
        return (len(self.fields) + 1) * len(self.policies) * self.seeds

    @property
    def fields(self) -> list[tuple[Entry, float]]:
        """Every trace on every drive, in the order of the runs."""
        return [(trace, spare) for trace in self.traces for spare in self.spares]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it (schema ``floatgate.leaderboard/1``)."""
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "slot": self.slot.name,
            "policies": list(self.policies),
            "labels": dict(self.labels),
            "own": dict(self.own),
            "traces": [trace.to_dict() for trace in self.traces],
            "left_out": [vars(one) for one in self.left_out],
            "spares": list(self.spares),
            "seeds": self.seeds,
            "against": self.against,
        }


@dataclass(frozen=True)
class Ready:
    """A request whose traces are prepared: what is compared, parameters by policy, and settings of all runs."""

    board: Board
    params: Mapping[str, Overrides]
    settings: Overrides


Prepared = Callable[[int, "int | None", str], None]
"""Called with the amount of traces that are prepared, the total, and an empty text."""


def prepare(request: Request, folder: Path, progress: Prepared | None = None) -> Ready:
    """Check a request and prepare its traces.

    Args:
        request: what to compare.
        folder: where the traces are written.
        progress: called after each trace.

    Returns:
        What is compared, and what :func:`planned` needs beside it.

    Raises:
        InputError: a policy, a parameter, a setting or a trace is unusable, or no trace is left.
    """
    slot = slot_of(request.slot)
    policies = _policies(slot, request)
    params = _params(slot, policies, request)
    _must_be_usable(request, slot, params)
    files = named(request.traces)
    names = list(files)
    ready: list[str] = []

    def one(number: int) -> Entry | LeftOut:
        entry = prepared(names[number], files[names[number]], folder)
        ready.append(names[number])
        if progress is not None:
            progress(len(ready), len(names), "")
        return entry

    made = at_once(one, len(names), threading.Event())
    traces = tuple(each for each in made if isinstance(each, Entry))
    left_out = tuple(each for each in made if isinstance(each, LeftOut))
    if not traces:
        first = left_out[0]
        raise input_error(f"{first.name}: {first.reason}")
    one_write(folder)
    labels = {name: _label(name, params[name]) for name in policies}
    codes = kept.codes()
    own = {name: codes[name] for name in policies if name in codes}
    board = Board(slot, policies, labels, own, traces, left_out, request.spares, request.seeds, request.against)
    return Ready(board, params, request.settings)


def planned(made: Ready, folder: Path) -> RunPlan:
    """Plan the runs, with the traces where they stay.

    Args:
        made: from :func:`prepare`.
        folder: of the leaderboard, which has the traces.

    Raises:
        InputError: the runs are unusable.
    """
    return _runs(made.board, made.params, made.settings, folder)


def _policies(slot: Slot, request: Request) -> tuple[str, ...]:
    known = slot.policies()
    chosen = list(request.policies) or known
    for name in [*chosen, *([request.against] if request.against else [])]:
        if name not in known:
            instead = meant(name, known, "floatgate policies")
            raise input_error(f"{quote(name)}: unknown policy of {slot.table}; {instead}")
    twice = repeated(chosen)
    if twice:
        raise input_error(f"--only: {quoted(twice)} given twice; expected each policy once")
    more = [slot.baseline, *([request.against] if request.against else [])]
    return tuple(dict.fromkeys([*(name for name in more if name not in chosen), *chosen]))


def _params(slot: Slot, policies: Sequence[str], request: Request) -> dict[str, Overrides]:
    """Return the parameters of each policy as settings."""
    made: dict[str, Overrides] = {name: [] for name in policies}
    for own, table in ((False, slot.params), (True, request.params)):
        for key, value in table.items():
            name, _, param = key.partition(".")
            if name in made and param:
                others = [one for one in made[name] if one[0] != f"{slot.table}.{param}"]
                made[name] = [*others, (f"{slot.table}.{param}", value)]
            elif own:
                what = "expected POLICY.KEY=VALUE with a policy of this leaderboard"
                raise input_error(f"--param {quote(key)}: no such policy here; {what}")
    return made


def parsed_params(texts: Sequence[str]) -> dict[str, str]:
    """Return parameters from texts ``POLICY.KEY=VALUE``.

    Raises:
        InputError: one is none.
    """
    return dict(parse_set(text, "--param") for text in texts)


def _must_be_usable(request: Request, slot: Slot, params: Mapping[str, Overrides]) -> None:
    """Refuse drives, settings and parameters before traces are prepared."""
    wrong = next((spare for spare in request.spares if not SPARE_MIN <= spare < 1), None)
    if wrong is not None:
        what = f"expected numbers from {SPARE_MIN} to below 1, such as 0.07,0.28"
        raise input_error(f"--spare-factors: {wrong:g}; {what}")
    if not request.spares or repeated([str(spare) for spare in request.spares]):
        raise input_error("--spare-factors: expected different numbers, such as 0.07,0.28")
    own_keys = [key for key, _ in request.settings if key in (slot.key, *_OF_RUNS)]
    if own_keys:
        what = "every run of a leaderboard has its own; expected other settings, or --param"
        raise input_error(f"--set {own_keys[0]}: {what}")
    base = _base(slot, request.settings).with_overrides([("workload.file", '"trace"'), *large(PAGE_BYTES)])
    for name, own in params.items():
        check(base.with_overrides([(slot.key, toml_value(slot.key, name)), *own]))


def _label(name: str, params: Overrides) -> str:
    params_text = ", ".join(f"{key.rpartition('.')[2]} = {value.strip(chr(34))}" for key, value in params)
    return f"{name} ({params_text})" if params_text else name


def _runs(board: Board, params: Mapping[str, Overrides], settings: Overrides, folder: Path) -> RunPlan:
    base = _base(board.slot, settings)
    listed = [
        (*_field(trace, spare, folder), (board.slot.key, toml_value(board.slot.key, name)), *params[name])
        for trace, spare in board.fields
        for name in board.policies
    ]
    listed += [
        (*_measured(folder), (board.slot.key, toml_value(board.slot.key, name)), *params[name])
        for name in board.policies
    ]
    points = Points((), listed=tuple(listed))
    begun, same, _ = shared_in_sweep(base, points)
    notes = tuple(f"all {board.slot.what} have {one.key} = {one.value}, the largest of their defaults" for one in same)
    return plan_of(begun, points, board.seeds, notes=notes)


def _base(slot: Slot, settings: Overrides) -> Experiment:
    """Return the experiment that all runs share."""
    shared = from_file(str(resources.files(__package__) / "experiment.toml"))
    return shared.with_overrides([*slot.settings, *settings])


def _measured(folder: Path) -> Overrides:
    """Return the settings of the run that tells how much memory a policy takes: a write to a large drive."""
    return [
        ("workload.file", toml_value("workload.file", str(folder / FOLDER / ONE_WRITE))),
        ("workload.repeat", "1"),
        *large(PAGE_BYTES),
        ("workload.warmup_passes", "0"),
        ("ftl.precondition", '"none"'),
    ]


def _field(trace: Entry, spare: float, folder: Path) -> Overrides:
    file = toml_value("workload.file", str(folder / trace.file))
    drive = scaled(trace.pages, spare, pages_per_block(trace.pages))
    return [("workload.file", file), ("workload.repeat", str(trace.passes)), *drive]
