"""The views of a query over folders of results. Names of folders are literal, even with special characters.

DuckDB takes the path of a file for a pattern, a home folder or a URL, and reads columns from folders named ``key=3``.
It reads paths with such characters through links with plain names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import input_error
from floatgate.results.columns import types_of, written
from floatgate.study.kinds import Folder
from floatgate.study.kinds import folders as result_folders
from floatgate.study.runs.journal import TABLE

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_PLAIN = re.compile(r"(?!~)[^\x00-\x1f*?\[\]\\:\ud800-\udfff]+")
"""Paths that DuckDB takes as they are."""
SERIES = "series.parquet"


def register(connection: duckdb.DuckDBPyConnection, folders: Sequence[Folder], scratch: Path) -> list[str]:
    """Make the views.

    Args:
        connection: where to.
        folders: the results.
        scratch: a folder for links.

    Returns:
        The files that the views read, as DuckDB names them.

    Raises:
        InputError: results cannot be read.
    """
    links = _Links(scratch)
    sweeps = [one.path / TABLE for one in folders if one.kind.rows is None and (one.path / TABLE).is_file()]
    rows = [row for one in folders for row in result_folders.rows(one)]
    parts = []
    if sweeps:
        connection.execute(f"create view sweep as {links.select(sweeps, kind='sweep')}")
        parts.append("select * from sweep")
    if rows:
        connection.register("single", _arrow(rows))
        parts.append("select * from single")
    if parts:
        connection.execute(f"create view runs as {' union all by name '.join(parts)}")
    series = [file for one in folders for file in sorted(_below(one.path))]
    if series:
        connection.execute(f"create view series as {links.select(series)}")
    return links.files


class _Links:
    """Links with names that DuckDB takes literally."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: list[str] = []

    def select(self, files: Sequence[Path], kind: str | None = None) -> str:
        """Return the SELECT of all rows of some Parquet files, with their ``folder`` and perhaps their ``kind``."""
        places, linked = [], []
        for file in files:
            place = self._place(file)
            places.append(sql_text(place))
            if place != str(file):
                linked.append(f"when {sql_text(place)} then {sql_text(result_folders.shown(file.parent))}")
        folder = "regexp_replace(filename, '/[^/]*$', '')"
        if linked:
            folder = f"case filename {' '.join(linked)} else {folder} end"
        kinds = "" if kind is None else f"{sql_text(kind)} as kind, "
        source = f"[{', '.join(places)}], union_by_name = true, filename = true, hive_partitioning = false"
        return f"select {folder} as folder, {kinds}* exclude (filename) from read_parquet({source})"  # noqa: S608

    def _place(self, file: Path) -> str:
        place = str(file)
        if not _PLAIN.fullmatch(place):
            link = self._folder / f"{len(self.files)}.parquet"
            place = str(link)
            if not _PLAIN.fullmatch(place):
                what = "cannot be a folder for temporary files"
                raise input_error(f"{self._folder.parent}: {what}; expected TMPDIR without any of * ? [ ] \\ :")
            link.symlink_to(file.absolute())
        self.files.append(place)
        return place


def _below(folder: Path) -> Iterator[Path]:
    """Yield the series in a folder and below it; hidden folders are not complete, and links lead elsewhere."""
    for place, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        if SERIES in files:
            yield Path(place, SERIES)


def _arrow(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return written(rows, pa.schema(types_of(rows)))


def sql_text(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"
