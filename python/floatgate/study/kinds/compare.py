"""Folders of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floatgate.base.errors import RunError
from floatgate.study.compare import Comparison, Seeded, Setting
from floatgate.study.kinds.kind import Document, Folder, Kind, Row, Told, lives_of, load_inner, row_of, wafs_of


def _rows(content: Document) -> Iterator[Row]:
    for setting in content["settings"]:
        results = setting.get("results") or [setting["result"]]
        errors = setting.get("errors") or [setting["error"]]
        for result, error in zip(results, errors, strict=True):
            yield row_of(setting["set"], result, error)


def _told(_path: Path, content: Document) -> Told:
    settings = content["settings"]
    known = [setting["result"] for setting in settings if setting["result"] is not None]
    failed = f", {len(settings) - len(known)} failed" if len(known) < len(settings) else ""
    keys = ", ".join(settings[0]["set"])
    return Told(f"{len(settings)} settings of {keys}{failed}", wafs_of(known), lives_of(known))


def _loaded(path: Path, content: Document) -> Comparison:
    settings = [_setting(path, number, setting) for number, setting in enumerate(content["settings"], start=1)]
    return Comparison(settings, content.get("baseline", 0))


def _setting(path: Path, number: int, setting: dict[str, Any]) -> Setting:
    overrides = list(setting["set"].items())
    naming = Comparison([Setting(overrides)])
    if "seeds" not in setting:
        name = naming.folder_name(number, naming.settings[0])
        return Setting.of(overrides, [_seeded(path / name, None, setting["result"], setting["error"])])
    seeds = [
        _seeded(path / naming.folder_name(number, naming.settings[0], seed), seed, result, error)
        for seed, result, error in zip(setting["seeds"], setting["results"], setting["errors"], strict=True)
    ]
    return Setting.of(overrides, seeds)


def _seeded(path: Path, seed: int | None, result: Any, error: str | None) -> Seeded:
    run = None if result is None else load_inner(path)
    return Seeded(seed, run, None if error is None else RunError(error))


def _report(folder: Folder) -> str:
    with folder.document() as content:
        return _loaded(folder.path, content).report()


KIND = Kind("compare", _told, _report, _rows)
