"""Folders of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floatgate.study.compare import Comparison, Setting
from floatgate.study.kinds.kind import Document, Kind, Overview, Row, inner, overview_of, row_of
from floatgate.study.same_in_all import Shared


def _rows(content: Document) -> Iterator[Row]:
    for setting in content["settings"]:
        results = setting.get("results") or [setting["result"]]
        errors = setting.get("errors") or [setting["error"]]
        for result, error in zip(results, errors, strict=True):
            yield row_of(setting["set"], result, error)


def _overview(_path: Path, content: Document) -> Overview:
    settings = content["settings"]
    what = f"{len(settings)} settings of {', '.join(settings[0]['set'])}"
    return overview_of(what, [setting["result"] for setting in settings])


def _setting(path: Path, number: int, setting: dict[str, Any]) -> Setting:
    overrides = list(setting["set"].items())
    naming = Comparison([Setting(overrides)])
    several = zip(setting["seeds"], setting["results"], setting["errors"], strict=True) if "seeds" in setting else ()
    runs = list(several) or [(None, setting["result"], setting["error"])]
    seeds = [inner(path / naming.folder_name(number, naming.settings[0], one[0]), *one) for one in runs]
    return Setting.of(overrides, seeds)


def _report(path: Path, content: Document) -> str:
    settings = [_setting(path, number, setting) for number, setting in enumerate(content["settings"], start=1)]
    first = content.get("baseline", 0)
    places = [setting.get("baseline", first) for setting in content["settings"]]
    same = [
        Shared(key, one["value"], tuple(one["defaults"])) for key, one in (content.get("same_in_all") or {}).items()
    ]
    return Comparison(settings, places, same).report()


KIND = Kind("compare", _overview, _report, _rows)
