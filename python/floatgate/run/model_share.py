"""The share of a drive as sold that an experiment models: of the largest, the catalogue models half of the blocks."""

from __future__ import annotations

import tomllib

from floatgate.results.result_view import look
from floatgate.results.sold_drives import entry_of, modelled_share
from floatgate.run.experiment import Experiment
from floatgate.run.needs import flash_bytes


def share_of(experiment: Experiment, resolved: str) -> float:
    """Return the share of the drive as sold that an experiment models.

    1 unless its drive is one of the catalogue as it is listed: a capacity or geometry of one's own is another drive.

    Args:
        experiment: the experiment.
        resolved: the same, resolved.
    """
    settings = tomllib.loads(resolved)
    entry = entry_of(look(settings, "drive", "preset"))
    if entry is None or _sets_capacity(experiment) or flash_bytes(settings) != entry["physical_bytes"]:
        return 1.0
    return modelled_share(entry)


def _sets_capacity(experiment: Experiment) -> bool:
    own = look(tomllib.loads(experiment.toml or ""), "drive", "capacity")
    return own is not None or any(key == "drive.capacity" for key, _ in experiment.overrides)
