"""The journal of a study: one line of JSON for each run that has ended, and the flat table that is made from it.

Errors in a line are refused with their place (:mod:`.rows`). The table is written from the lines in the order of
the runs, a few thousand at a time: a study of any size takes little memory, and the same runs give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import FloatgateError, InputError, input_error, quote
from floatgate.results.columns import arrow_type, kind_of, written
from floatgate.results.flat import CONTRACT, order
from floatgate.results.folder import replacing
from floatgate.study.runs.lines import Lines
from floatgate.study.runs.rows import LINE, WrongFigures, entry_of, flat_row, kind_name, setting_kinds, shape_of, shown
from floatgate.study.runs.work import DONE, Answer

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "journal.jsonl"
TABLE = "sweep.parquet"
GROUP = 2_500
"""Rows of a row group."""
_SHAPES_MAX = 1000

Wrong = Callable[[int, Mapping[str, Any]], "str | None"]
"""Called with a run and its settings; returns the objection of the plan, with what it expects, or None."""


class Journal:
    """The finished runs, on disk and as an index in memory.

    Attributes:
        path: the file.
        counts: how many runs have each status.
    """

    def __init__(
        self,
        path: Path,
        keys: list[str],
        wrong: Wrong | None = None,
        *,
        wrong_figures: WrongFigures | None = None,
        read_only: bool = False,
    ) -> None:
        """Open the journal of a sweep over ``keys``; a line at the end that is not complete is cut off.

        Args:
            path: the file.
            keys: the keys that vary.
            wrong: the plan's check of the settings of a run; None without a plan.
            wrong_figures: checks the figures of a run; None where they are the flat row of its result.
            read_only: only look at it, as at that of a sweep that may be running: nothing is made or cut off.

        Raises:
            InputError: it cannot be read or written, or is damaged.
        """
        self.path, self.keys = path, keys
        self.counts: dict[str, int] = {}
        self._wrong, self._wrong_figures = wrong, wrong_figures
        self._places: dict[int, int] = {}
        self._types: dict[str, set[type]] = {}
        self._kinds: dict[str, tuple[str, int]] = {}
        self._shapes: set[tuple[Any, ...] | None] = set()
        self._lines = Lines(
            path, LINE, self._take, partial(_unreadable if read_only else no_room, path), read_only=read_only
        )

    def _take(self, line: bytes, where: str, place: int) -> None:
        entry = entry_of(line, where, self._wrong_figures)
        self._must_fit(entry, where)
        self._note(entry, place)

    def _must_fit(self, entry: dict[str, Any], where: str) -> None:
        """Refuse what does not fit to the plan, or to the lines before."""
        number = entry["run"]
        what = self._wrong(number, entry["set"]) if self._wrong is not None else None
        if what is not None:
            raise input_error(f"{where}: run {number}: {what}")
        before = self._places.get(number)
        if before is not None and _content(entry) != _content(self.entry(number)):
            raise input_error(f"{where}: run {number} is there twice, with different content; expected it once")
        if shape_of(entry["figures"]) in self._shapes:
            return
        for key, value in entry["figures"].items():
            # Settings may be numbers in one run and names in another.
            if value is None or key in setting_kinds():
                continue
            kind = kind_name(value)
            first, its_run = self._kinds.setdefault(key, (kind, number))
            if kind != first:
                raise input_error(f"{where}: {quote(key)} is {shown(value)}; expected {first}, as in run {its_run}")

    def _note(self, entry: dict[str, Any], place: int) -> None:
        if entry["run"] in self._places:
            return
        self._places[entry["run"]] = place
        self.counts[entry["status"]] = self.counts.get(entry["status"], 0) + 1
        shape = shape_of(entry["figures"])
        tables = [entry["set"]] if shape in self._shapes else [entry["set"], entry["figures"]]
        if shape is not None and len(self._shapes) < _SHAPES_MAX:
            self._shapes.add(shape)
        for table in tables:
            for key, value in table.items():
                if value is not None:
                    self._types.setdefault(key, set()).add(kind_of(value))

    def __contains__(self, number: object) -> bool:
        return number in self._places

    def __len__(self) -> int:
        return len(self._places)

    @property
    def failed(self) -> int:
        """How many runs have no result."""
        return len(self) - self.counts.get(DONE, 0)

    def add(self, answer: Answer, settings: dict[str, Any]) -> None:
        """Record the outcome of a run; the first answer of a run counts.

        Raises:
            InputError: there is no room.
        """
        if answer.number in self._places:
            return
        entry = {
            "run": answer.number,
            "status": answer.status,
            "error": answer.error,
            "set": settings,
            "figures": answer.figures,
            "spent": answer.spent,
        }
        self._note(entry, self._lines.add(entry))

    def entry(self, number: int) -> dict[str, Any]:
        """Return the entry of a run that has ended."""
        with self.path.open("rb") as file:
            file.seek(self._places[number])
            entry: dict[str, Any] = json.loads(file.readline())
            return entry

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entry of each run, in the order of their numbers."""
        with self.path.open("rb") as file:
            for number in sorted(self._places):
                file.seek(self._places[number])
                yield json.loads(file.readline())

    def first(self, status: str) -> dict[str, Any] | None:
        """Return the first run in order that has a status."""
        if not self.counts.get(status):
            return None
        return next((entry for entry in self.entries() if entry["status"] == status), None)

    def write_table(self, target: Path) -> None:
        """Write the flat table of the finished runs.

        Raises:
            InputError: there is no room.
        """
        import pyarrow.parquet as pq

        schema = self.schema()
        try:
            with (
                replacing(target) as temporary,
                pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
            ):
                for rows in self._groups():
                    writer.write_table(written(rows, schema), row_group_size=GROUP)
        except FloatgateError:
            raise
        except OSError as error:
            raise no_room(target, error) from None

    def _groups(self) -> Iterator[list[dict[str, Any]]]:
        rows: list[dict[str, Any]] = []
        for entry in self.entries():
            rows.append(flat_row(entry["run"], entry["set"], entry["status"], entry["error"], entry["figures"]))
            if len(rows) == GROUP:
                yield rows
                rows = []
        if rows or not len(self):
            yield rows

    def schema(self) -> pa.Schema:
        """Return columns and types: run and settings, what became of it, then the figures, the leading ones first."""
        import pyarrow as pa

        fixed = {"run": pa.int64(), "status": pa.string(), "error": pa.string(), "config_hash": pa.string()}
        kinds = {key: {kind} for key, kind in CONTRACT.items()} | self._types
        varied = list(dict.fromkeys([*self.keys, "seed"]))
        rest = sorted((key for key in kinds if key not in fixed and key not in varied), key=order)
        names = ["run", *varied, "status", "error", "config_hash", *rest]
        return pa.schema([(name, fixed.get(name) or arrow_type(kinds.get(name, set()))) for name in names])

    def close(self) -> None:
        """Close the file; once is enough."""
        self._lines.close()


def _content(entry: Mapping[str, Any]) -> str:
    """Return the content of a line on a run, without what differs each time."""
    return json.dumps({key: value for key, value in entry.items() if key != "spent"}, sort_keys=True)


def _unreadable(path: Path, error: OSError) -> InputError:
    return input_error(f"{path}: {error.strerror or error}; expected the journal of a sweep")


def no_room(path: Path, error: OSError) -> InputError:
    """Return the error of a full disk, or of a path that cannot be written to."""
    reason = error.strerror or str(error)
    return input_error(
        f"{path}: {reason}; expected room for the results; make some, then go on with --resume (what was done is kept)"
    )
