"""Sweeps from Python."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from floatgate.base.arguments import checked
from floatgate.base.errors import input_error
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import ExperimentLike, Settings, resolve, toml_value
from floatgate.study.runs.engines import engine_of
from floatgate.study.sweeps.loaded import LoadedSweep, load_sweep
from floatgate.study.sweeps.spec import SweepOptions, points_of
from floatgate.study.sweeps.sweep import PLAN, Sweep, begun_from, must_be_few, must_go_on, plan_of

__all__ = ["LoadedSweep", "load_sweep", "sweep"]


@checked
def sweep(
    experiment: ExperimentLike,
    vary: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str],
    sample: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    repeat: int | None = None,
    own_defaults: bool = False,
    set: Settings | None = None,
    on: str = "local",
    jobs: int | None = None,
    resume: bool = False,
    force: bool = False,
) -> LoadedSweep:
    """Run an experiment under many settings and leave one flat table; see ``docs/sweeps.md``.

    Args:
        experiment: as :func:`floatgate.run` takes it; a ``[sweep]`` table of it counts too.
        vary: key -> a list of values, or a range as a text, ``"0.05..0.3:6"``.
        out: the folder; new, empty, or with ``resume`` that of the sweep to go on with.
        sample: ``grid`` (default), ``list``, ``random`` or ``latin-hypercube``.
        samples: points of the last two.
        sample_seed: seed of the sample.
        repeat: seeds of each setting, the same for all.
        own_defaults: leave each setting its own default of ``ftl.collect.trigger_free_blocks``; else all have the
            largest one, where nothing states it.
        set: settings that all share.
        on: ``local``, ``dask://HOST:PORT`` or ``tls://HOST:PORT``.
        jobs: runs at a time under ``local``; None for one per core.
        resume: go on with what ``out`` holds.
        force: start over in a folder that is not empty.

    Returns:
        The sweep that ``out`` holds. A run that fails is a row of the table.

    Raises:
        InputError: unusable input, or no room for the results.
    """
    base = resolve(experiment, set=set)
    points, repeats = points_of(
        SweepOptions(tuple(map(_vary_text, (vary or {}).items())), sample, samples, sample_seed, repeat),
        base.sweep,
        "sweep",
    )
    must_be_few(len(points) * repeats, yes=False)
    base, notes = begun_from(base, points, own_defaults=own_defaults)
    plan = plan_of(base, points, repeats, notes=notes)
    engine = engine_of(on, jobs)
    going_on = resume and (Path(out) / PLAN).is_file()
    with RunFolder.named(os.fspath(out), force=force or going_on) as folder, contextlib.closing(engine):
        if going_on:
            must_go_on(folder.path, plan)
        begun = Sweep.open(folder.path, plan, fresh=not going_on)
        try:
            begun.run(engine)
        finally:
            begun.close()
    return load_sweep(out)


def _vary_text(setting: tuple[str, object]) -> str:
    """Format a key with its values as ``--vary`` takes them."""
    key, values = setting
    if isinstance(values, str):
        return f"{key}={values}"
    if not isinstance(values, Sequence) or not values:
        raise input_error(f"vary: {key} has no list of values; expected one such as [0.07, 0.28], or '0.05..0.3:6'")
    return f"{key}={','.join(toml_value(key, value) for value in values)}"
