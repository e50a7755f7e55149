"""Folders of results: finding them, one flat row per run, and one line per folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from floatgate.base.errors import FloatgateError, input_error, one_line
from floatgate.study.kinds import KINDS, Folder, Kind
from floatgate.study.runs.resume import NAME as UNFINISHED

_DEPTH_MAX = 6
"""Folders below the requested one in which results are looked for."""


def kind_of(folder: Path) -> Kind | None:
    """Return the kind of a folder of results; None where it holds none."""
    return next((kind for kind in KINDS.values() if (folder / kind.file).is_file()), None)


def find(places: Sequence[str | os.PathLike[str]]) -> list[Folder]:
    """Return the results in some folders and below them, in the order of their names.

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


def _below(folder: Path, depth: int) -> Iterator[Folder]:
    kind = kind_of(folder)
    if kind is not None:
        yield Folder(kind, folder)
        return
    if depth == _DEPTH_MAX:
        return
    try:
        inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not _is_hidden(entry.name))
    except OSError as error:
        raise input_error(f"{folder}: {error.strerror or error}; expected a folder that can be read") from None
    for entry in inner:
        if not entry.is_symlink():
            yield from _below(entry, depth + 1)


def _is_hidden(name: str) -> bool:
    """Return whether a folder holds incomplete results."""
    return name.startswith(".") or name == UNFINISHED


def shown(path: Path) -> str:
    """Return a path as text; of bytes that are not UTF-8, which no table can hold, their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def rows(folder: Folder) -> Iterator[dict[str, Any]]:
    """Yield one flat row for each run in a folder; none where it has a table of them.

    Raises:
        InputError: the folder's document cannot be read.
    """
    if folder.kind.rows is None:
        return
    with folder.document() as content:
        for row in list(folder.kind.rows(content)):
            yield {"folder": shown(folder.path), "kind": folder.kind.name, **row}


def overview(folder: Folder) -> dict[str, Any]:
    """Return what a folder is: ``folder``, ``kind``, ``what`` (in words), ``WAF``, ``life``; the latter two as text."""
    facts = {"folder": str(folder.path), "kind": folder.kind.name}
    try:
        with folder.document() as content:
            one = folder.kind.overview(folder.path, content)
    except FloatgateError as error:
        return facts | {"what": f"cannot be read: {one_line(error)}", "WAF": "", "life": ""}
    return facts | {"what": one.what, "WAF": one.waf, "life": one.life}


def must_be_one(place: str) -> Folder:
    """Return the one folder of results that a place is.

    Raises:
        InputError: it is none.
    """
    path = Path(place)
    path = path.parent if path.is_file() else path
    kind = kind_of(path) if path.is_dir() else None
    if kind is None:
        what = "holds no results, such as 'result.json'" if path.exists() else "no such folder"
        raise input_error(f"{place}: {what}; expected a run folder that floatgate wrote")
    return Folder(kind, path)
