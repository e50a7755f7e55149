"""A comparison that is read back from its folder, with another baseline where one is wanted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from floatgate.base.arguments import checked
from floatgate.base.errors import RunError, input_error
from floatgate.results import shapes
from floatgate.run.experiment import Settings, toml_value
from floatgate.run.run import load
from floatgate.study.compare import Comparison, Seeded, Setting, baselines_of
from floatgate.study.same_in_all import Shared


@checked
def load_comparison(folder: str | os.PathLike[str], *, baseline: Settings | None = None) -> Comparison:
    """Read a comparison back.

    Args:
        folder: the folder of ``floatgate compare --out``, or the ``compare.json`` in it.
        baseline: what the others are measured against, as :func:`floatgate.compare` takes it; None for the baseline
            that the comparison was made with.

    Returns:
        The comparison, with its runs; their series are read when differences are first needed.

    Raises:
        InputError: no comparison, a damaged one, or no setting has the values of the baseline.
    """
    path = Path(folder)
    file = shapes.DOCUMENTS["compare"].file
    path = path.parent if path.name == file else path
    if not (path / file).is_file():
        raise input_error(f"{path}: holds no comparison; expected a folder that floatgate compare --out has written")
    node = shapes.read(path / file, "compare")
    with shapes.consuming("compare", node):
        return restored(path, node.value, baseline)


def restored(path: Path, content: Any, baseline: Settings | None = None) -> Comparison:
    """Make a comparison of its document and the run folders beside it.

    Args:
        path: of the folder.
        content: of its document.
        baseline: as :func:`load_comparison` takes it.

    Raises:
        InputError: a run is missing or damaged, or no setting has the values of the baseline.
    """
    settings = [_setting(path, number, setting) for number, setting in enumerate(content["settings"], start=1)]
    first = content.get("baseline", 0)
    places = [setting.get("baseline", first) for setting in content["settings"]]
    if baseline is not None:
        wanted = {key: toml_value(key, value) for key, value in baseline.items()}
        places = baselines_of([setting.overrides for setting in settings], wanted)
    same = [
        Shared(key, one["value"], tuple(one["defaults"]), one.get("stated", False), tuple(one.get("one_victim", ())))
        for key, one in (content.get("same_in_all") or {}).items()
    ]
    return Comparison(settings, places, same)


def _setting(path: Path, number: int, setting: dict[str, Any]) -> Setting:
    overrides = list(setting["set"].items())
    naming = Comparison([Setting(overrides)])
    several = zip(setting["seeds"], setting["results"], setting["errors"], strict=True) if "seeds" in setting else ()
    runs = list(several) or [(None, setting["result"], setting["error"])]
    seeds = [inner(path / naming.folder_name(number, naming.settings[0], one[0]), *one) for one in runs]
    return Setting.of(overrides, seeds)


def inner(folder: Path, seed: int | None, result: Any, error: str | None) -> Seeded:
    """Read back a run that stands in the folder of several, where it has a result.

    Raises:
        InputError: it is missing or damaged.
    """
    if result is not None and not folder.is_dir():
        raise input_error(f"{folder}: no such folder; expected that run beside the comparison")
    run = None if result is None else load(folder)
    return Seeded(seed, run, None if error is None else RunError(error))
