"""The folder of the run or the forecast that is explained, and an experiment that repeats it."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from floatgate.base.errors import FloatgateError, input_error
from floatgate.report.sections.limits.subject import FORECAST, RUN, Subject
from floatgate.results import shapes
from floatgate.run.experiment import Experiment, Overrides
from floatgate.run.lifetime import check_forecast
from floatgate.run.run import check, read_text
from floatgate.study.kinds.folders import must_be_one

EXPERIMENT = "experiment.toml"
_FIXED_BY_SNAPSHOT = (
    "drive.geometry.",
    "ftl.collect.policy",
    "ftl.mapping_bytes",
    "ftl.separate.policy",
    "ftl.spare_factor",
)
"""Settings of the drive in a file that ``--save-drive`` wrote (``docs/snapshots.md``)."""


@dataclass(frozen=True)
class Case(Subject):
    """One run or forecast in its folder.

    Attributes:
        folder: where it is, as the user named it.
        experiment: repeats it.
        toml: the same, resolved, as the core writes it.
    """

    folder: Path
    experiment: Experiment
    toml: str

    @property
    def file(self) -> Path:
        """The file of its experiment."""
        return self.folder / EXPERIMENT

    def refusal(self, changes: Overrides) -> str | None:
        """Return why the experiment cannot run with some settings changed; None where a check finds no reason."""
        snapshot = self.setting("ftl.snapshot")
        fixed = [key for key, _ in changes if key.startswith(_FIXED_BY_SNAPSHOT)]
        if snapshot is not None and fixed:
            return f"{fixed[0]}: the run starts from the drive in {snapshot}, which fixes it; expected no such change"
        changed = self.experiment.with_overrides(changes)
        try:
            resolved(changed, self.kind)
        except FloatgateError as error:
            return error.message
        return None


@contextlib.contextmanager
def reading(place: str) -> Iterator[Case]:
    """Read the folder of a run or a forecast; errors in the block that its figures cause are errors of the folder.

    Raises:
        InputError: it is neither, its files are missing or damaged, or its experiment is refused.
    """
    folder = must_be_one(place)
    name = folder.kind.name
    if name not in (RUN, FORECAST):
        if folder.kind.name == "plan":
            raise input_error(
                f"{place}: is a plan of drives; expected the folder of one forecast: floatgate lifetime --drive "
                "NAME --out DIR with the trace and settings of the plan, then floatgate explain DIR"
            )
        raise input_error(
            f"{place}: holds the results of several runs ('{folder.kind.file}'); expected the folder of one run "
            "('result.json') or of a forecast ('lifetime.json')"
        )
    node = shapes.read(folder.path / folder.kind.file, name, folder.kind.most_bytes)
    experiment = Experiment.of_text(read_text(folder.path / EXPERIMENT), str(folder.path / EXPERIMENT))
    toml = resolved(experiment, name)
    with shapes.consuming(name, node):
        yield Case(name, node.value, tomllib.loads(toml), folder.path, experiment, toml)


def resolved(experiment: Experiment, kind: str) -> str:
    """Return the experiment of a run or forecast with all defaults, as TOML.

    Raises:
        InputError: the core refuses it.
    """
    return check_forecast(experiment) if kind == FORECAST else check(experiment)
