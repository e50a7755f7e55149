"""Folders of results: what is in a place, and one flat row for each run of any kind.

A run folder has ``result.json``, a sweep ``sweep.json``, a comparison ``compare.json``, several seeds ``repeat.json``,
a forecast ``lifetime.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.errors import input_error, quote
from floatgate.base.json_in import Node
from floatgate.results import shapes
from floatgate.results.flat import flat, plain

KINDS = {
    "run": "result.json",
    "sweep": "sweep.json",
    "tune": "tune.json",
    "compare": "compare.json",
    "repeat": "repeat.json",
    "lifetime": "lifetime.json",
    "plan": "plan.json",
}
"""What a folder of each kind holds."""
_DEPTH_MAX = 6
"""Folders below the one that was asked for in which results are looked for."""


@dataclass(frozen=True)
class Found:
    """A folder of results: its kind (of :data:`KINDS`) and its path."""

    kind: str
    path: Path

    def document(self) -> Node:
        """Read the JSON that makes it what it is.

        Raises:
            InputError: it cannot be read.
        """
        return shapes.read(self.path / KINDS[self.kind], self.kind)


def kind_of(folder: Path) -> str | None:
    """The kind of a folder of results; None where it holds none."""
    return next((kind for kind, name in KINDS.items() if (folder / name).is_file()), None)


def found(places: Sequence[str | os.PathLike[str]]) -> list[Found]:
    """The results in some folders and below them, in the order of their names.

    Runs within a comparison or a sweep are part of it.

    Raises:
        InputError: a place is not there, or holds no results.
    """
    results = []
    for place in places:
        path = Path(place)
        if path.is_file():
            path = path.parent
        if not path.is_dir():
            raise input_error(f"{place}: no such folder; expected a folder with results of floatgate")
        here = list(_below(path, 0))
        if not here:
            raise input_error(f"{place}: holds no results; expected run folders, sweeps or comparisons of floatgate")
        results += here
    return results


def _below(folder: Path, depth: int) -> Iterator[Found]:
    kind = kind_of(folder)
    if kind is not None:
        yield Found(kind, folder)
        return
    if depth == _DEPTH_MAX:
        return
    try:
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise input_error(f"{folder}: {error.strerror or error}; expected a folder that can be read") from None
    for entry in inner:
        if not entry.is_symlink():
            yield from _below(entry, depth + 1)


def shown(path: Path) -> str:
    """Return a path as text; of bytes that are not UTF-8, which no table can hold, their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def rows(one: Found) -> Iterator[dict[str, Any]]:
    """One flat row for each run in a folder that is no sweep; a sweep has its table.

    Raises:
        InputError: the folder's document cannot be read.
    """
    document = one.document()
    with shapes.consuming(one.kind, document):
        yield from list(_rows(shown(one.path), one, document.value))


def _rows(folder: str, one: Found, content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if one.kind in ("run", "lifetime"):
        yield {"folder": folder, "kind": one.kind, "status": "done", **flat(content)}
    elif one.kind == "repeat":
        for result, error in zip(content["runs"], content["errors"], strict=True):
            yield _row(folder, one.kind, {}, result, error)
    elif one.kind == "compare":
        for setting in content["settings"]:
            results = setting.get("results") or [setting["result"]]
            errors = setting.get("errors") or [setting["error"]]
            for result, error in zip(results, errors, strict=True):
                yield _row(folder, one.kind, setting["set"], result, error)
    elif one.kind == "plan":
        for point in content["points"]:
            yield _row(folder, one.kind, {}, point if point["error"] is None else None, point["error"])


def _row(
    folder: str, kind: str, settings: Mapping[str, str], result: Mapping[str, Any] | None, error: str | None
) -> dict[str, Any]:
    laid = {key: plain(value) for key, value in settings.items()}
    status = "done" if result is not None else "failed"
    return {"folder": folder, "kind": kind, "status": status, "error": error, **flat(result or {}), **laid}


def must_be_one(place: str) -> Found:
    """The one folder of results that a place is.

    Raises:
        InputError: it is none.
    """
    path = Path(place)
    path = path.parent if path.is_file() else path
    kind = kind_of(path) if path.is_dir() else None
    if kind is None:
        what = "no such folder" if not path.exists() else f"holds none of {', '.join(map(quote, KINDS.values()))}"
        raise input_error(f"{place}: {what}; expected a run folder that floatgate wrote")
    return Found(kind, path)
