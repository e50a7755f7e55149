"""The report of a folder of results again, whatever its kind."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floatgate.base.errors import RunError, input_error
from floatgate.results import shapes
from floatgate.results.run_folders import Found
from floatgate.run.lifetime import Lifetime
from floatgate.run.run import Run, load, read_text
from floatgate.study.compare import Comparison, Seeded, Setting
from floatgate.study.plan import Plan
from floatgate.study.repeat import Repetition
from floatgate.study.sweeps.loaded import load_sweep
from floatgate.study.tune.search import BEST, Search, begun


def report_of(one: Found) -> str:
    """The report as HTML.

    Raises:
        InputError: what the folder holds cannot be read.
    """
    if one.kind == "run":
        run, document = load(one.path), one.document()
        with shapes.consuming(one.kind, document):
            return run.report()
    if one.kind == "tune":
        return _of_search(one.path)
    if one.kind == "sweep":
        return load_sweep(one.path).report()
    document = one.document()
    with shapes.consuming(one.kind, document):
        if one.kind == "lifetime":
            return Lifetime(document.value, read_text(_toml(one)), one.path.absolute().name).report()
        if one.kind == "plan":
            return Plan.of(document.value, read_text(_toml(one))).report()
        return _loaded(one, document.value).report()


def _toml(one: Found) -> Path:
    return one.path / "experiment.toml"


def _of_search(folder: Path) -> str:
    from floatgate.study.tune.page import page

    with contextlib.closing(Search(folder, begun(folder), read_only=True)) as search:
        proof = search.proof() if (folder / BEST).is_file() else None
        trials = search.trials()
        return page(search.asked, trials, search.importance(), proof)


def loaded(one: Found) -> Comparison:
    """A comparison, or several seeds, read back.

    Raises:
        InputError: a run folder is missing or damaged.
    """
    document = one.document()
    with shapes.consuming(one.kind, document):
        return _loaded(one, document.value)


def _loaded(one: Found, content: Mapping[str, Any]) -> Comparison:
    if one.kind == "repeat":
        runs = zip(content["seeds"], content["runs"], content["errors"], strict=True)
        return Repetition([_seed_of(one.path, *entry) for entry in runs])
    settings = [_setting(one.path, number, told) for number, told in enumerate(content["settings"], start=1)]
    return Comparison(settings, content.get("baseline", 0))


def _seed_of(folder: Path, seed: int, result: Any, error: str | None) -> Setting:
    run = None if result is None else _run(folder / f"seed-{seed}")
    return Setting([("seed", str(seed))], run, None if error is None else RunError(error))


def _setting(folder: Path, number: int, told: dict[str, Any]) -> Setting:
    overrides = list(told["set"].items())
    naming = Comparison([Setting(overrides)])
    if "seeds" not in told:
        run = None if told["result"] is None else _run(folder / naming.folder_name(number, naming.settings[0]))
        error = None if told["error"] is None else RunError(told["error"])
        return Setting.of(overrides, [Seeded(None, run, error)])
    seeds = []
    for seed, result, error in zip(told["seeds"], told["results"], told["errors"], strict=True):
        name = naming.folder_name(number, naming.settings[0], seed)
        run = None if result is None else _run(folder / name)
        seeds.append(Seeded(seed, run, None if error is None else RunError(error)))
    return Setting.of(overrides, seeds)


def _run(folder: Path) -> Run:
    if not folder.is_dir():
        raise input_error(f"{folder}: no such folder; expected that run beside the comparison")
    return load(folder)
