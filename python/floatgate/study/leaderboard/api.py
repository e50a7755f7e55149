"""Leaderboards from Python."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from floatgate.base.arguments import checked
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import Settings, flatten, toml_value
from floatgate.study.leaderboard.drives import SPARES
from floatgate.study.leaderboard.loaded import Leaderboard, load_leaderboard
from floatgate.study.leaderboard.request import SEEDS, Request
from floatgate.study.leaderboard.runs import begun
from floatgate.study.runs.engines import engine_of
from floatgate.study.sweeps.sweep import PLAN

__all__ = ["Leaderboard", "leaderboard", "load_leaderboard"]


@checked
def leaderboard(
    traces: Sequence[str | os.PathLike[str]] = (),
    *,
    out: str | os.PathLike[str],
    slot: str = "separator",
    policies: Sequence[str] = (),
    params: Mapping[str, object] | None = None,
    spare_factors: Sequence[float] = SPARES,
    seeds: int = SEEDS,
    against: str | None = None,
    set: Settings | None = None,
    on: str = "local",
    jobs: int | None = None,
    resume: bool = False,
    force: bool = False,
) -> Leaderboard:
    """Run all policies of a slot on several traces and drives, and rank them; see ``docs/leaderboard.md``.

    Args:
        traces: files, or names of shipped traces; all shipped ones where empty.
        out: the folder; new, empty, or with ``resume`` that of the leaderboard to go on with.
        slot: ``separator`` or ``collector``.
        policies: names; all of the slot where empty, loaded ones included.
        params: parameters of single policies, as ``{"midas.groups": 4}``.
        spare_factors: of the drives of each trace.
        seeds: runs of each policy on each drive.
        against: test each policy against this one too; the first in rank where None.
        set: settings that all runs share.
        on: ``local``, ``dask://HOST:PORT`` or ``tls://HOST:PORT``.
        jobs: runs at a time under ``local``; None for one per core.
        resume: go on with what ``out`` holds.
        force: start over in a folder that is not empty.

    Returns:
        The leaderboard that ``out`` holds.

    Raises:
        InputError: unusable input, or no room for the results.
    """
    own = {key: toml_value(key, value) for key, value in (params or {}).items()}
    request = Request(
        tuple(str(os.fspath(trace)) for trace in traces),
        slot,
        tuple(policies),
        own,
        tuple(map(float, spare_factors)),
        seeds,
        against,
        list(flatten(set or {})),
    )
    going_on = resume and (Path(out) / PLAN).is_file()
    folder = RunFolder.named(os.fspath(out), force=force or going_on)
    with contextlib.closing(engine_of(on, jobs)) as engine, folder:
        runs = begun(folder.path, request, resume=going_on)
        with contextlib.closing(runs):
            runs.run(engine)
    return load_leaderboard(out)
